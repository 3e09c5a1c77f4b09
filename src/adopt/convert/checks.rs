//! What stands in the way of a conversion, and what is to be known of it.

use crate::adopt::convert::blocker::Blocker;
use crate::adopt::convert::check_objects;
use crate::adopt::convert::generator::{Floor, NewDefault};
use crate::adopt::convert::record::{self, Record};
use crate::adopt::convert::table::Table;
use crate::adopt::mentions::{Mentions, Statement};
use crate::pg::catalog::sql;

/// What stands in the way, the first thing to do first.
pub fn blockers(table: &Table) -> Vec<Blocker> {
    let mut found = Vec::new();
    check_objects::of_table(table, &mut found);
    check_objects::of_below(table, &mut found);
    of_column(table, &mut found);
    found.extend(check_objects::of_sequences(table));
    of_record(table, &mut found);
    if !table.narrow.is_empty() {
        let list = table.narrow.join(", ");
        found.push(Blocker::state(
            format!(
                "{} is referred to by columns that cannot hold a bigint",
                table.what()
            ),
            Some(format!("They are {list}.")),
            "Change their types first: mint.convert_plan() prints how, without an outage.",
        ));
    }
    if !table.unindexed.is_empty() {
        let list = table.unindexed.join(", ");
        found.push(Blocker::state(
            format!("{} has no index that begins with it", table.what()),
            Some(format!(
                "It has none on {list}: the largest id could not be read under a lock."
            )),
            "Make it the primary key, or use CREATE UNIQUE INDEX CONCURRENTLY.",
        ));
    }
    found
}

/// A record that another one would stand beside, as where a table was dropped and created again.
fn of_record(table: &Table, found: &mut Vec<Blocker>) {
    if table.sequence().is_none() {
        return;
    }
    if let Some(earlier) = record::find(table) {
        let name = earlier.rules.quoted();
        found.push(Blocker::state(
            format!("sequence {name} has a record of {}", table.what()),
            Some("It is of an earlier conversion, and the column draws from another sequence.".to_owned()),
            format!("Use DROP SEQUENCE {name}, or COMMENT ON SEQUENCE {name} IS NULL, if that conversion is not to be reverted."),
        ));
    }
}

/// A record that nobody could read again.
pub fn too_long(table: &Table, record: Option<&Record>) -> Option<Blocker> {
    record?.excess().map(|excess| {
        Blocker::state(
            format!("record of the conversion of {} is too long", table.what()),
            Some(excess),
            "Use COMMENT ON SEQUENCE with a shorter text, or ALTER TABLE ... SET DEFAULT for each partition.",
        )
    })
}

/// A type that no conversion is for, before anything is parsed by it.
pub fn of_type(table: &Table) -> Option<Blocker> {
    let known = ["bigint", "uuid", "integer", "smallint"];
    (!known.contains(&table.column().base_type.as_str())).then(|| {
        Blocker::unsupported(
            format!("{} is of type {}", table.what(), table.column().type_name),
            Some("Columns of types bigint and uuid can be converted.".to_owned()),
            "Use ALTER TABLE ... SET DEFAULT.",
        )
    })
}

fn of_column(table: &Table, found: &mut Vec<Blocker>) {
    let column = table.column();
    if !column.generated.is_empty() {
        found.push(Blocker::unsupported(
            format!("{} is a generated column", table.what()),
            None,
            "Its value is that of its expression: convert the column that this refers to.",
        ));
        return;
    }
    found.extend(of_type(table));
    if ["integer", "smallint"].contains(&column.base_type.as_str()) {
        found.push(Blocker::state(
            format!("{} is of type {}, which cannot hold the ids", table.what(), column.type_name),
            None,
            "Use mint.convert_plan(), which prints a script that makes it a bigint without an outage.",
        ));
    }
    let Some(default) = &column.default else {
        return;
    };
    let is_known = table
        .sequence()
        .is_some_and(|sequence| table.draws_from(sequence.rules.oid));
    if default.contains("nextval(") && !is_known {
        let hint = match table.sequences.first() {
            Some(sequence) => format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT {} first.",
                table.quoted(),
                table.quoted_column(),
                sequence.rules.default()
            ),
            None => format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT nextval('...'::regclass) first, with the schema of the sequence.",
                table.quoted(),
                table.quoted_column()
            ),
        };
        found.push(Blocker::state(
            format!("default of {} does not name one sequence", table.what()),
            Some(match table.sequences.first() {
                Some(_) => format!("It is {default}."),
                None => format!("It is {default}: each session looks up the text again, so the sequence is not known."),
            }),
            hint,
        ));
    }
}

/// Whether a default draws from the sequence that the column draws from now.
pub fn draws_from_itself(table: &Table, generator: &NewDefault) -> Option<Blocker> {
    let sequence = table.sequence()?;
    generator.names(sequence.rules.oid).then(|| {
        Blocker::state(
            format!(
                "the new default draws from sequence \"{}\", as the old one does",
                sequence.rules.name
            ),
            Some("A conversion ends the sequence of before.".to_owned()),
            format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT {}.",
                table.quoted(),
                table.quoted_column(),
                generator.text
            ),
        )
    })
}

/// The largest id of the table, read by its indexes.
pub fn largest(table: &Table) -> Option<i64> {
    let below = table.below.iter().map(|table| table.oid.into());
    let column = table.quoted_column();
    table.access().ask(&below.collect::<Vec<_>>(), |name| {
        format!("SELECT max({column}::int8) FROM {name}")
    })
}

/// Ids of the table that new ones would meet.
pub fn meets(table: &Table, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let largest = largest(table).filter(|&largest| largest > floor)?;
    Some(Blocker::state(
        format!("{} has ids that new ones could meet", table.what()),
        Some(format!(
            "The largest id is {largest}, and new ones can be as small as {}.",
            floor.saturating_add(1)
        )),
        format!(
            "If it is of the same layout, wait until its time has come, or use snowflake_start_above({largest}, ...) for a default of one shard. \
             If it is of another layout or epoch, use that one, or one whose ids are larger."
        ),
    ))
}

/// What the table does not take of the new ids: the smallest has no partition, or a check refuses it.
pub fn refuses(table: &Table, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let id = floor.saturating_add(1);
    lacks_partition(table, id).or_else(|| fails_check(table, id))
}

/// Whether an expression of the column is not false for an id.
fn holds(table: &Table, id: i64, expression: &str) -> bool {
    let value = format!(
        "({expression}) IS NOT FALSE FROM (SELECT '{id}'::int8 AS {}) AS one",
        table.quoted_column()
    );
    table.access().evaluate(&value) != Some(false)
}

fn fails_check(table: &Table, id: i64) -> Option<Blocker> {
    let mut checks = table.checks.iter();
    let check = checks.find(|check| !holds(table, id, &check.text))?;
    Some(Blocker::state(
        format!(
            "check constraint \"{}\" of table \"{}\" refuses new ids",
            check.name, table.name
        ),
        Some(format!(
            "It is {}, and an id like {id} fails it.",
            check.text
        )),
        format!(
            "Use ALTER TABLE {} DROP CONSTRAINT {}, or a default whose ids pass it.",
            table.quoted(),
            sql::quoted_exactly(&check.name)
        ),
    ))
}

fn lacks_partition(table: &Table, id: i64) -> Option<Blocker> {
    if table.partitions.is_empty() {
        return None;
    }
    // The only partition of all has none.
    let constraints = table
        .partitions
        .iter()
        .map(|text| text.as_deref().unwrap_or("true"));
    let any: Vec<String> = constraints.map(|text| format!("({text})")).collect();
    (!holds(table, id, &any.join(" OR "))).then(|| {
        Blocker::state(
            format!("table \"{}\" has no partition for new ids", table.name),
            Some(format!(
                "It is partitioned by the column, and an id like {id} has none."
            )),
            "Create partitions for the new ids first, or a DEFAULT partition.",
        )
    })
}

/// What is to be known of a conversion that nothing stands in the way of.
pub fn notes(table: &Table) -> Vec<String> {
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

/// What is to be known of functions and of statements that a conversion does not change.
pub fn mentions(found: &Mentions) -> Vec<String> {
    let mut notes = Vec::new();
    if !found.functions.is_empty() {
        notes.push(format!(
            "These functions mention the sequence, or the table and nextval(), currval(), lastval() or setval(): {}.",
            found.functions.join(", ")
        ));
    }
    if !found.narrow.is_empty() {
        notes.push(format!(
            "These functions mention the table or one that refers to it, and have arguments that are too narrow for the new ids: {}.",
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
