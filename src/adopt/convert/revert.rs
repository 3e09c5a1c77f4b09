//! The way back: what the record and the sequence say is put back, and nothing that the record says is run.

use crate::adopt::convert::checks;
use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::record;
use crate::adopt::convert::record::{CounterKind, FoundRecord};
use crate::adopt::convert::run::{self, Patience};
use crate::adopt::convert::steps;
use crate::adopt::convert::table::{SequenceRules, TargetTable, UsedSequence};
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Reverts the conversion of a column. Returns whether it was converted.
pub fn revert(table: &TargetTable, patience: Patience) -> bool {
    let Some(first) = record::find(table) else {
        refuse_unless_drawing(table);
        return false;
    };
    if let Some(blocker) = blocker(table, &first) {
        blocker.to_report().raise();
    }
    run::retried(table, patience, |order| {
        run::take_locks(table, Some(first.rules.oid), order, patience);
        let table = table.again();
        let Some(FoundRecord { rules, record }) = record::find(&table) else {
            run::changed_meanwhile(&table)
        };
        refuse_unless_ended(&table, &rules);
        run::execute(&table, &steps::revert(&table, &rules, &record));
        let after = table.again();
        let is_back = match record.kind {
            CounterKind::Serial => after.draws_from(rules.oid),
            CounterKind::Always => after.column().identity == "a",
            CounterKind::ByDefault => after.column().identity == "d",
        };
        if !is_back {
            run::changed_meanwhile(&table);
        }
    });
    true
}

/// Returns what prevents the way back of an identity column.
pub fn blocker(table: &TargetTable, found: &FoundRecord) -> Option<Blocker> {
    if found.record.kind == CounterKind::Serial {
        return None;
    }
    let grants = || checks::of_grants(&found.rules).into_iter().next();
    checks::of_creation(table).or_else(grants)
}

/// Refuses a column without a record, unless it draws from a sequence: what it was before is not known.
fn refuse_unless_drawing(table: &TargetTable) {
    if table.sequence().is_none() {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("{} has no record of a conversion", table.what()),
        )
        .detail("A record is the comment of the sequence of before, which has the table's name and owner.")
        .hint("Where there was no sequence, mint.convert() has returned the statement that reverts it. All records are in mint.conversions.")
        .raise();
    }
}

/// Refuses a sequence that is not as the conversion left it: another session might have drawn from it since.
fn refuse_unless_ended(table: &TargetTable, rules: &SequenceRules) {
    // That of a generator is in the default as well.
    let draws =
        |sequence: &UsedSequence| !sequence.in_default || table.draws_from(sequence.rules.oid);
    let column = table.column();
    let is_other = table.sequences.iter().any(draws)
        || !(column.is_narrow() || column.base_type() == pg_sys::INT8OID);
    if is_other {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "{} cannot draw from sequence \"{}\" again",
                table.what(),
                rules.name
            ),
        )
        .detail("It draws from another sequence, or is of another type: another table can have taken the name.")
        .hint("Remove the comment of the sequence if its conversion is not to be reverted.")
        .raise();
    }
    let (last_value, _) = rules.state();
    if last_value != rules.end() || rules.cycle {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("sequence \"{}\" was set or altered since the conversion", rules.name),
        )
        .detail(format!("Its last value is {last_value}, and the conversion left it at {}, without CYCLE.", rules.end()))
        .hint("If none of the values that it returned since is in the table, set it to its end again with setval() and NO CYCLE, and retry.")
        .raise();
    }
}
