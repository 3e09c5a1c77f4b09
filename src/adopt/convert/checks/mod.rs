//! What prevents a conversion.

pub mod blocker;
mod executors;
mod expressions;
pub mod new_ids;
pub mod orphans;
mod partitions;
pub mod rebound;
mod sequences;
mod shown;

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::sequences::of_record;
pub use crate::adopt::convert::checks::sequences::{of_creation, of_grants, of_sequences};
use crate::adopt::convert::generator::{Floor, NewDefault};
use crate::adopt::convert::record::ConversionRecord;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::foreign::{self, Foreign, Held};
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;

/// Returns what prevents the conversion, the first thing to do first.
pub fn blockers(table: &TargetTable) -> Vec<Blocker> {
    let mut found = Vec::new();
    of_table(table, &mut found);
    of_below(table, &mut found);
    of_column(table, &mut found);
    found.extend(of_sequences(table));
    found.extend(of_last_step(table));
    found.extend(orphans::blockers(table));
    let narrow = table.narrow();
    if !narrow.is_empty() {
        let (what, list) = (table.what(), narrow.join(", "));
        found.push(Blocker::state(
            format!("{what} is referred to by columns that cannot hold a bigint"),
            format!("They are {list}."),
            "Change their types first: mint.convert_plan() prints how, without an outage.",
        ));
    }
    found
}

/// Returns what prevents the last step of a script as well.
pub fn of_last_step(table: &TargetTable) -> Vec<Blocker> {
    let mut found = Vec::new();
    of_default(table, &mut found);
    found.extend(Blocker::of_casts(
        table.members().into_iter().map(|(of, _)| of),
        table.owner,
    ));
    found.extend(of_record(table));
    // No largest UUID is read.
    if !table.unindexed.is_empty() && table.column().base_type() != pg_sys::UUIDOID {
        let list = table.unindexed.join(", ");
        found.push(Blocker::state(
            format!("{} has no index that begins with it", table.what()),
            format!("It has none on {list}: the largest id could not be read under a lock."),
            "Make it the primary key, or use CREATE INDEX CONCURRENTLY, UNIQUE if no value occurs twice.",
        ));
    }
    found
}

/// Returns the blocker of transactions that are not at READ COMMITTED by default, in which only the last step would fail.
pub fn of_isolation() -> Option<Blocker> {
    let query = "SELECT current_setting('default_transaction_isolation')";
    let level: String = sql::ask_with::<DecodedText>(query, &[])?.0;
    let is_fine = ["read committed", "read uncommitted"].contains(&level.as_str());
    (!is_fine).then(|| {
        Blocker::state(
            format!("default_transaction_isolation is \"{level}\""),
            "The last step has to see what others have committed since it began.",
            "Use SET default_transaction_isolation TO 'read committed'.",
        )
    })
}

/// Returns what prevents a conversion to a generator.
pub fn of_generator(table: &TargetTable, generator: &NewDefault) -> Vec<Blocker> {
    let draws = draws_from_itself(table, generator);
    draws
        .into_iter()
        .chain(executors::lacking(table, generator))
        .chain(unordered(table, generator))
        .chain(moved(table, generator))
        .collect()
}

/// Returns the blockers of sequences that the statement with the new default names, and that others can replace.
fn moved(table: &TargetTable, generator: &NewDefault) -> Vec<Blocker> {
    let named = foreign::relations(&generator.relations().collect::<Vec<_>>());
    let found = foreign::among(&named, Held::ByName, table.owner.into());
    let what = |of: &Foreign| format!("sequence {}", sql::name_of(of.oid.into()));
    found
        .iter()
        .map(|of| Blocker::foreign(&what(of), *of))
        .collect()
}

/// Returns the blocker of a counter that does not always draw from the same sequence, unless the table is empty.
fn unordered(table: &TargetTable, generator: &NewDefault) -> Option<Blocker> {
    if generator.floor(table) != Floor::Unknown
        || generator.is_one_lane()
        || new_ids::largest(table).is_none()
    {
        return None;
    }
    let blocker = Blocker::state(
        "the new default does not always draw from the same sequence".to_owned(),
        "Whether its ids are above those of the table is not known.",
        "Name one sequence in the default, or use ALTER TABLE ... SET DEFAULT.",
    );
    Some(blocker.unsupported())
}

/// Returns the blocker of a record that is too long to be read again.
pub fn too_long(table: &TargetTable, record: Option<&ConversionRecord>) -> Option<Blocker> {
    record?.excess().map(|excess| {
        Blocker::state(
            format!("record of the conversion of {} is too long", table.what()),
            excess,
            "Use COMMENT ON SEQUENCE with a shorter text, or ALTER TABLE ... SET DEFAULT for each partition.",
        )
    })
}

/// Checks that a conversion is for the type of the column, before anything is parsed by it.
pub fn of_type(table: &TargetTable) -> Option<Blocker> {
    let column = table.column();
    if column.is_narrow() || [pg_sys::INT8OID, pg_sys::UUIDOID].contains(&column.base_type()) {
        return None;
    }
    let blocker = Blocker::state(
        format!("{} is of type {}", table.what(), column.type_name),
        "Columns of types bigint and uuid can be converted.",
        "Use ALTER TABLE ... SET DEFAULT.",
    );
    Some(blocker.unsupported())
}

fn of_column(table: &TargetTable, found: &mut Vec<Blocker>) {
    let column = table.column();
    let what = table.what();
    if !column.generated.is_empty() {
        let blocker = Blocker::state(
            format!("{what} is a generated column"),
            "",
            "Its value is that of its expression: convert the column that this refers to.",
        );
        found.push(blocker.unsupported());
        return;
    }
    found.extend(of_type(table));
    if column.is_narrow() {
        let type_name = &column.type_name;
        found.push(Blocker::state(
            format!("{what} is of type {type_name}, which cannot hold the ids"),
            "",
            "Use mint.convert_plan(), which prints a script that makes it a bigint without an outage.",
        ));
    }
}

/// Checks the default of before.
fn of_default(table: &TargetTable, found: &mut Vec<Blocker>) {
    let what = table.what();
    let Some(default) = &table.column().default else {
        return;
    };
    // Only the way back to a sequence does not set it again.
    let is_set_again = table.sequence().is_none();
    if is_set_again && let Err(of) = table.access().refuse_foreign(&format!("SELECT {default}")) {
        found.push(Blocker::foreign(&format!("default of {what}"), of));
    }
    let is_known = table
        .sequence()
        .is_some_and(|sequence| table.draws_from(sequence.rules.oid));
    if default.contains("nextval(") && !is_known {
        let set = format!("Use {} SET DEFAULT", table.alter_column());
        let message = format!("default of {what} does not name one sequence");
        found.push(match table.sequences.first() {
            Some(sequence) => Blocker::state(
                message,
                format!("It is {default}."),
                format!("{set} {} first.", sequence.rules.default()),
            ),
            None => Blocker::state(
                message,
                format!("It is {default}: each session looks up the text again, so the sequence is not known."),
                format!("{set} nextval('...'::regclass) first, with the schema of the sequence."),
            ),
        });
    }
}

/// Checks that a default does not draw from the sequence that the column draws from now.
fn draws_from_itself(table: &TargetTable, generator: &NewDefault) -> Option<Blocker> {
    let sequence = table.sequence()?;
    let name = &sequence.rules.name;
    generator.names(sequence.rules.oid).then(|| {
        Blocker::state(
            format!("the new default draws from sequence \"{name}\", as the old one does"),
            "A conversion ends the sequence of before.",
            format!(
                "Use {} SET DEFAULT {}.",
                table.alter_column(),
                generator.text
            ),
        )
    })
}

/// Checks the table itself.
fn of_table(table: &TargetTable, found: &mut Vec<Blocker>) {
    let name = &table.name;
    if let Some(parent) = &table.parent {
        let blocker = Blocker::state(
            format!("table \"{name}\" is a partition or a child of table {parent}"),
            "",
            "Convert the root: its default reaches all tables below.",
        );
        found.push(blocker.unsupported());
    }
    if table.persistence == "t" {
        let blocker = Blocker::state(
            format!("table \"{name}\" is temporary"),
            "It ends with its session.",
            "Use ALTER TABLE ... SET DEFAULT.",
        );
        found.push(blocker.unsupported());
    }
    found.extend(of_row_security(table));
    // The owner must be able to use the schema: all is done with the rights of the owner.
    if !table.access().can_be_named() {
        let (schema, owner) = (&table.schema, &table.owner_name);
        let (quoted_schema, quoted_owner) = (table.quoted_schema(), table.quoted_owner());
        let blocker = Blocker::state(
            format!("owner of table \"{name}\" cannot use schema \"{schema}\""),
            format!("The column is converted with the privileges of the owner, role \"{owner}\"."),
            format!("Use GRANT USAGE ON SCHEMA {quoted_schema} TO {quoted_owner}."),
        );
        found.push(blocker.privilege());
    }
}

/// Checks that the owner sees all rows.
pub fn of_row_security(table: &TargetTable) -> Option<Blocker> {
    let name = &table.name;
    table.force_row_security.then(|| {
        Blocker::state(
            format!("table \"{name}\" has row security that is forced on its owner"),
            "The owner might not see all of its rows.",
            "Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY for the time of the conversion.",
        )
    })
}

/// Checks partitions and children.
fn of_below(table: &TargetTable, found: &mut Vec<Blocker>) {
    let below = || table.below.iter();
    if let Some(below) = below().find(|below| below.kind == "f") {
        let blocker = Blocker::state(
            format!("partition \"{}\" is a foreign table", below.name),
            "Its ids are on another server, where no lock can be held.",
            "Detach it for the time of the conversion, and set its default on both servers.",
        );
        found.push(blocker.unsupported());
    }
    if let Some(below) = below().find(|below| below.owner != table.owner) {
        let (name, of, owner) = (&below.name, &table.name, table.quoted_owner());
        found.push(Blocker::state(
            format!("partition \"{name}\" has another owner than table \"{of}\""),
            "",
            format!("Use ALTER TABLE ... OWNER TO {owner}."),
        ));
    }
    let column = table.column();
    if let Some(below) =
        below().find(|below| below.default.is_some() && below.default != column.default)
    {
        let (name, column) = (sql::quoted_exactly(&below.name), table.quoted_column());
        found.push(Blocker::state(
            format!("partition \"{}\" has a default of its own", below.name),
            "",
            format!("Use ALTER TABLE {name} ALTER COLUMN {column} DROP DEFAULT, or give it that of its root."),
        ));
    }
    let inherits = |own: &String| own.is_empty() || *own == column.identity;
    if let Some(below) = below().find(|below| !below.identity.as_ref().is_none_or(inherits)) {
        found.push(Blocker::state(
            format!("partition \"{}\" has an identity of its own", below.name),
            "",
            "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY on it first.",
        ));
    }
}
