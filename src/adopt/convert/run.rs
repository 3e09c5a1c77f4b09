//! A conversion and its revert: under a lock that is given up and tried for again, with the rights of the table's owner.
//!
//! Each attempt is a subtransaction: locks first, then a new look at the catalogs, then the statements. So what is done fits
//! what is there, and an attempt that cannot have a lock leaves nothing.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::{self, new_ids};
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::record::ConversionRecord;
use crate::adopt::convert::steps;
use crate::adopt::convert::steps::ConvertStep;
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::recovery::Refusal;
use crate::pg::backend::{recovery, transaction};
use crate::pg::catalog::{access, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use pgrx::PgSqlErrorCode as Code;
use std::time::Duration;

/// How long an attempt waits for each lock, and how often it is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Milliseconds; 0 is without a limit.
    pub lock_timeout: i32,
    pub retries: i32,
}

/// Refuses to run where a conversion cannot work.
pub fn refuse_unless_possible() {
    recovery::refuse(&Refusal {
        message: "cannot convert a column during recovery",
        detail: "A standby has the tables of its primary.",
        hint: "Convert the column on the primary.",
    });
    if !transaction::sees_commits() {
        report(
            Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
            "cannot convert a column in a transaction that does not see what others have committed since it began",
        )
        .hint("Use isolation level READ COMMITTED.")
        .raise();
    }
}

/// Converts a column. Returns the statement that reverts it, or nothing if it is converted already.
pub fn convert(table: &TargetTable, generator: &NewDefault, patience: Patience) -> Option<String> {
    if is_converted(table, generator) {
        return None;
    }
    refuse(checks::of_generator(table, generator));
    let floor = generator.floor(table);
    refuse(new_ids::fit(table, floor).or_else(|| new_ids::show(table, floor)));
    let floor = generator.try_out(table);
    Some(retried(table, patience, |order| {
        let sequence = table.sequence().map(|sequence| sequence.rules.oid);
        take_locks(table, sequence, order, patience);
        let table = table.again();
        refuse_blocked(&table);
        refuse(checks::of_generator(&table, generator));
        refuse(new_ids::meet(&table, floor));
        let record = ConversionRecord::of(&table);
        refuse(checks::too_long(&table, record.as_ref()));
        let steps = steps::convert(&table, &generator.text, record.as_ref());
        execute(&table, &steps);
        let after = table.again();
        let is_set = after.column().default.as_ref() == Some(&generator.text);
        if !is_set || !after.calls(&generator.objects) || after.is_identity() {
            changed_meanwhile(&table);
        }
        way_back(&table, record.is_some())
    }))
}

/// Returns whether the column has that default already, and no sequence.
pub fn is_converted(table: &TargetTable, generator: &NewDefault) -> bool {
    table.column().default.as_ref() == Some(&generator.text) && table.sequences.is_empty()
}

/// Raises the error of the first blocker.
pub fn refuse_blocked(table: &TargetTable) {
    refuse(checks::blockers(table));
}

/// Raises the error of the first one.
pub fn refuse(blockers: impl IntoIterator<Item = Blocker>) {
    if let Some(blocker) = blockers.into_iter().next() {
        blocker.to_report().raise();
    }
}

/// Returns the statement that restores what was.
fn way_back(table: &TargetTable, has_record: bool) -> String {
    if has_record {
        let [name, column] = [&table.quoted(), &table.column().name].map(|text| sql::literal(text));
        return format!("SELECT mint.convert_revert({name}, {column})");
    }
    let alter = table.alter_column();
    match &table.column().default {
        Some(default) => format!("{alter} SET DEFAULT {default}"),
        None => format!("{alter} DROP DEFAULT"),
    }
}

/// Which lock an attempt takes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOrder {
    /// As statements do whose default draws from the sequence.
    TableFirst,
    /// As programs do that call nextval() themselves, and insert afterwards.
    SequenceFirst,
}

/// Locks the table, all below, and its sequence, after a vacuum of them has ended. No session gets a deadlock from it: one
/// that has one of them and waits for the other has waited for less than the time after which the server looks for
/// deadlocks. Where programs of both orders are always at work, it might not get the locks at all: one kind or the other
/// always holds what it waits for.
pub fn take_locks(
    table: &TargetTable,
    sequence: Option<u32>,
    order: LockOrder,
    patience: Patience,
) {
    const POLL: Duration = Duration::from_millis(200);
    const SHORT: i32 = 400;
    let access = table.access();
    access.lock_out_vacuum(patience.lock_timeout);
    let Some(sequence) = sequence.map(|sequence| access::owned(sequence.into())) else {
        access.lock_alone(patience.lock_timeout);
        return;
    };
    match order {
        LockOrder::TableFirst => {
            access.lock_alone(patience.lock_timeout);
            if !sequence.poll_sequence(POLL) {
                report(
                    Code::ERRCODE_LOCK_NOT_AVAILABLE,
                    "could not obtain lock on sequence",
                )
                .raise();
            }
        }
        LockOrder::SequenceFirst => {
            let limit = match patience.lock_timeout {
                0 => SHORT,
                given => given.min(SHORT),
            };
            sequence.lock_one(limit);
            access.lock_alone(limit);
        }
    }
}

/// Attempts something until it has its locks. The orders of locks take turns.
pub fn retried<T>(
    table: &TargetTable,
    patience: Patience,
    mut attempt: impl FnMut(LockOrder) -> T,
) -> T {
    const LONGEST_PAUSE: i32 = 10_000;
    let mut pause = patience.lock_timeout.clamp(50, 1_000);
    for turn in 0..=patience.retries {
        let order = if turn % 2 == 0 {
            LockOrder::TableFirst
        } else {
            LockOrder::SequenceFirst
        };
        if let Some(answer) = transaction::attempt(|| attempt(order)) {
            return answer;
        }
        if turn < patience.retries {
            let seconds = f64::from(pause) / 1_000.0;
            sql::ask_with::<DecodedText>("SELECT pg_sleep($1::float8)::text", &[seconds.into()]);
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }
    report(
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        format!("could not obtain the locks on table \"{}\"", table.name),
    )
    .detail(format!(
        "{} attempts waited for up to {} ms each. Nothing has changed.",
        patience.retries.saturating_add(1),
        patience.lock_timeout
    ))
    .hint("Wait for long transactions on the table to end: pg_stat_activity shows them by xact_start. If some programs call nextval() before they insert while others insert with the default, pause one kind.")
    .raise()
}

/// Runs statements with the rights of the table's owner.
pub fn execute(table: &TargetTable, steps: &[ConvertStep]) {
    let commands = steps.iter().map(|step| step.command.as_str());
    table.access().run(commands);
}

/// Raises the error of a name that means another table now.
pub fn changed_meanwhile(table: &TargetTable) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("{} was changed during its conversion", table.what()),
    )
    .hint("Retry the statement.")
    .raise()
}
