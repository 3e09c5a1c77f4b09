//! The plan: every statement of a conversion in order, and what is to be known before.

use crate::adopt::convert::checks;
use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::new_ids;
use crate::adopt::convert::checks::orphans;
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::record::{self, ConversionRecord};
use crate::adopt::convert::revert;
use crate::adopt::convert::run;
use crate::adopt::convert::steps;
use crate::adopt::convert::table::TargetTable;
use crate::adopt::mentions::{Mentions, Statement};
use crate::pg::catalog::sql;

/// A row of the plan.
#[derive(Debug, Default)]
pub struct PlanRow {
    pub phase: &'static str,
    /// What it runs: of a blocker, its error. None in a row that only says something.
    pub command: Option<String>,
    pub object: Option<String>,
    pub lock: Option<String>,
    pub rewrites: bool,
    /// How much is read or written.
    pub bytes: i64,
    /// Microseconds.
    pub estimate: i64,
    pub note: Option<String>,
}

/// What a short statement takes, in microseconds, once it has its lock.
const SHORT: i64 = 1_000;

impl PlanRow {
    pub fn says(phase: &'static str, note: impl Into<String>) -> Self {
        Self {
            phase,
            note: Some(note.into()),
            ..Self::default()
        }
    }

    pub fn runs(phase: &'static str, command: String) -> Self {
        Self {
            phase,
            command: Some(command),
            estimate: SHORT,
            ..Self::default()
        }
    }

    pub fn locking(self, object: &str, lock: &str) -> Self {
        Self {
            object: Some(object.to_owned()),
            lock: (!lock.is_empty()).then(|| lock.to_owned()),
            ..self
        }
    }

    /// Says how much is read or written, and how many bytes of it a microsecond takes.
    pub fn taking(self, bytes: i64, rate: i64) -> Self {
        Self {
            bytes,
            estimate: bytes / rate,
            ..self
        }
    }

    pub fn noting(self, note: &str) -> Self {
        Self {
            note: Some(note.to_owned()),
            ..self
        }
    }
}

/// Plans the conversion of a column that can hold the ids.
pub fn convert(table: &TargetTable, generator: &NewDefault) -> Vec<PlanRow> {
    if run::is_converted(table, generator) {
        let lost = orphans::blockers(table);
        if !lost.is_empty() {
            return blocked(&lost);
        }
        let note = "The column is converted already: there is nothing to do.";
        return vec![PlanRow::says("check", note)];
    }
    let mut found = Vec::from_iter(checks::of_isolation());
    found.extend(checks::blockers(table));
    // What reads the tables comes last: they can have what another role has written.
    if found.is_empty() {
        found.extend(checks::of_generator(table, generator));
    }
    // No id of the table is at or above the smallest new one, if that is known without minting.
    if found.is_empty() {
        let floor = generator.floor(table);
        found.extend(new_ids::meet(table, floor).or_else(|| new_ids::show(table, floor)));
    }
    let record = found
        .is_empty()
        .then(|| ConversionRecord::of(table))
        .flatten();
    found.extend(checks::too_long(table, record.as_ref()));
    if !found.is_empty() {
        return blocked(&found);
    }
    let floor = generator.floor(table);
    let mut rows = checked(new_ids::doubts(table, floor));
    rows.extend(checked(new_ids::unshown(table, floor)));
    rows.extend(checked(new_ids::borrowed(table)));
    rows.extend(checked(notes(table)));
    rows.extend(statements(table, generator, record.as_ref()));
    rows
}

/// Returns rows that raise an error each.
pub fn blocked<'a>(found: impl IntoIterator<Item = &'a Blocker>) -> Vec<PlanRow> {
    let row = |blocker: &Blocker| PlanRow {
        command: Some(blocker.command()),
        ..PlanRow::says("check", blocker.note())
    };
    found.into_iter().map(row).collect()
}

/// Returns rows that only say something.
pub fn checked(notes: impl IntoIterator<Item = String>) -> Vec<PlanRow> {
    let notes = notes.into_iter();
    notes.map(|note| PlanRow::says("check", note)).collect()
}

/// Plans the way back of a column that is not an integer.
pub fn revert(table: &TargetTable) -> Vec<PlanRow> {
    let lost = orphans::blockers(table);
    if !lost.is_empty() {
        return blocked(&lost);
    }
    let Some(found) = record::find(table) else {
        let note = "The column has no record of a conversion: see mint.conversions.";
        return vec![PlanRow::says("check", note)];
    };
    if let Some(blocker) = revert::blocker(table, &found) {
        return blocked(&[blocker]);
    }
    let name = table.quoted();
    let [literal, column] = [&name, &table.column().name].map(|text| sql::literal(text));
    let call = format!("SELECT mint.convert_revert({literal}, {column})");
    vec![PlanRow::runs("swap", call).locking(&name, "ACCESS EXCLUSIVE")]
}

/// Returns the call that converts, and what it runs. Its statements are not for others to run: what they record has to be read
/// under its locks.
fn statements(
    table: &TargetTable,
    generator: &NewDefault,
    record: Option<&ConversionRecord>,
) -> Vec<PlanRow> {
    let name = table.quoted();
    let [literal, column, text] =
        [&name, &table.column().name, &generator.text].map(|text| sql::literal(text));
    let call = format!("SELECT mint.convert({literal}, {column}, {text})");
    let call = PlanRow::runs("swap", call)
        .locking(&name, "ACCESS EXCLUSIVE")
        .noting("Waits for a vacuum of the table, then for transactions that use it, while others wait behind it. It checks the ids under the lock, and tries again for a lock that it does not get.");
    let steps = steps::convert(table, &generator.text, record).into_iter();
    // The values of a sequence are read when it runs.
    let alters = |text: &str| text.starts_with("ALTER ") || text.starts_with("CREATE ");
    let steps = steps.filter(|step| alters(&step.command));
    let steps = steps.map(|step| {
        let note = format!("It runs: {}.", step.command);
        PlanRow::says("swap", note).locking(&step.object, step.lock)
    });
    std::iter::once(call).chain(steps).collect()
}

/// Returns what to know of a conversion that nothing prevents.
fn notes(table: &TargetTable) -> Vec<String> {
    let mut notes = Vec::new();
    let column = &table.column().name;
    if let Some(sequence) = table.sequence() {
        let name = &sequence.rules.name;
        notes.push(format!("Sequence \"{name}\" stays at its end: nextval() of it is an error, and currval() and lastval() return nothing new. Its comment is the record from which mint.convert_revert() puts back what was."));
    } else {
        notes.push("There is no sequence to keep a record in: mint.convert() returns the statement that reverts it.".to_owned());
    }
    notes.extend(mentions(&Mentions::find(
        table.relations(),
        table.sequence_oids(),
    )));
    if table.column().identity == "a" {
        notes.push(format!("GENERATED ALWAYS refused ids of an INSERT, and a default does not: REVOKE INSERT on the table and GRANT it on the other columns than \"{column}\", where that matters."));
    }
    if !table.below.is_empty() {
        notes.push(format!(
            "{} tables below get the default as well.",
            table.below.len()
        ));
    }
    if table.persistence == "u" {
        notes.push(
            "The table is unlogged: after a crash it is empty, and its sequence begins again."
                .to_owned(),
        );
    }
    if !table.publications.is_empty() {
        notes.push(format!("The table is published by {}: defaults are not replicated, so convert the subscribers as well, with another shard.", table.publications.join(", ")));
    }
    notes
}

/// Returns what to know of functions and of statements that a conversion does not change.
pub fn mentions(found: &Mentions) -> Vec<String> {
    let mut notes = Vec::new();
    if !found.unlinked.is_empty() {
        notes.push(format!(
            "warning: these columns are integers without a foreign key, and could contain the ids: {}.",
            found.unlinked.join(", ")
        ));
    }
    if !found.functions.is_empty() {
        notes.push(format!(
            "These functions mention the sequence, or the table and nextval(), currval(), lastval() or setval(): {}.",
            found.functions.join(", ")
        ));
    }
    if !found.narrow.is_empty() {
        notes.push(format!(
            "These functions mention the table or one that refers to it, and have arguments or results that are too narrow for the new ids: {}.",
            found.narrow.join(", ")
        ));
    }
    if !found.statements.is_empty() {
        let list: Vec<String> = found.statements.iter().map(Statement::text).collect();
        notes.push(format!(
            "Programs use sequences, as pg_stat_statements says without the names of these: {}.",
            list.join("; ")
        ));
    }
    notes
}
