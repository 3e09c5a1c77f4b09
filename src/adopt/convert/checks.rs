//! What stands in the way of a conversion, and what is to be known of it.

use crate::adopt::convert::generator::{Floor, Generator};
use crate::adopt::convert::table::{Sequence, Table};
use crate::pg::backend::guc;
use crate::pg::catalog::binding::{Bound, restrict_to};
use crate::pg::catalog::{privilege, sql};
use crate::pg::error::{Report, report};
use pgrx::PgSqlErrorCode as Code;

/// Why a column cannot be converted as it is, and what to do.
#[derive(Debug, Clone)]
pub struct Blocker {
    code: Code,
    message: String,
    detail: Option<String>,
    hint: String,
}

impl Blocker {
    /// An object that is not as a conversion needs it.
    pub fn state(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        Self::new(code, message, detail, hint)
    }

    /// What no conversion does.
    pub fn unsupported(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message, detail, hint)
    }

    fn new(code: Code, message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self {
            code,
            message,
            detail,
            hint,
        }
    }

    pub fn to_report(&self) -> Report {
        report(self.code, self.message.clone())
            .detail_if(self.detail.clone())
            .hint(self.hint.clone())
    }

    /// As a line of the plan.
    pub fn note(&self) -> String {
        let detail = self
            .detail
            .as_ref()
            .map_or_else(String::new, |detail| format!(" {detail}"));
        format!("blocker: {}.{detail} {}", self.message, self.hint)
    }
}

/// What stands in the way, the first thing to do first.
pub fn blockers(table: &Table) -> Vec<Blocker> {
    let mut found = Vec::new();
    of_tables(table, &mut found);
    of_column(table, &mut found);
    found.extend(of_sequences(table));
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

/// What stands in the way in the sequences of a column.
pub fn of_sequences(table: &Table) -> Vec<Blocker> {
    let mut found = Vec::new();
    for sequence in &table.sequences {
        of_sequence(table, sequence, &mut found);
    }
    found
}

fn of_tables(table: &Table, found: &mut Vec<Blocker>) {
    if let Some(parent) = &table.parent {
        found.push(Blocker::unsupported(
            format!(
                "table \"{}\" is a partition or a child of table {parent}",
                table.name
            ),
            None,
            "Convert the root: its default reaches all tables below.",
        ));
    }
    if table.persistence == "t" {
        found.push(Blocker::unsupported(
            format!("table \"{}\" is temporary", table.name),
            Some("It ends with its session.".to_owned()),
            "Use ALTER TABLE ... SET DEFAULT.",
        ));
    }
    if table.force_row_security {
        found.push(Blocker::state(
            format!(
                "table \"{}\" has row security that is forced on its owner",
                table.name
            ),
            Some("The largest id may be in a row that the owner cannot see.".to_owned()),
            "Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY for the time of the conversion.",
        ));
    }
    if let Some(below) = table.below.iter().find(|below| below.kind == "f") {
        found.push(Blocker::unsupported(
            format!("partition \"{}\" is a foreign table", below.name),
            Some("Its ids are on another server, where no lock can be held.".to_owned()),
            "Detach it for the time of the conversion, and set its default on both servers.",
        ));
    }
    if let Some(below) = table.below.iter().find(|below| below.owner != table.owner) {
        found.push(Blocker::state(
            format!(
                "partition \"{}\" has another owner than table \"{}\"",
                below.name, table.name
            ),
            None,
            format!(
                "Use ALTER TABLE ... OWNER TO {}.",
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    let default = table.column().default.as_ref();
    let odd = table.below.iter().find(|below| {
        below
            .default
            .as_ref()
            .is_some_and(|own| Some(own) != default)
    });
    if let Some(below) = odd {
        found.push(Blocker::state(
            format!("partition \"{}\" has a default of its own", below.name),
            None,
            format!(
                "Use ALTER TABLE {} ALTER COLUMN {} DROP DEFAULT, or give it that of its root.",
                sql::quoted_exactly(&below.name),
                table.quoted_column()
            ),
        ));
    }
    let inherits = |own: &String| own.is_empty() || *own == table.column().identity;
    let odd = table
        .below
        .iter()
        .find(|below| !below.identity.as_ref().is_none_or(inherits));
    if let Some(below) = odd {
        found.push(Blocker::state(
            format!("partition \"{}\" has an identity of its own", below.name),
            None,
            "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY on it first.",
        ));
    }
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
    match column.base_type.as_str() {
        "bigint" | "uuid" => {}
        "integer" | "smallint" => found.push(Blocker::state(
            format!("{} is of type {}, which cannot hold the ids", table.what(), column.type_name),
            None,
            "Use mint.convert_plan(), which prints a script that makes it a bigint without an outage.",
        )),
        _ => found.push(Blocker::unsupported(
            format!("{} is of type {}", table.what(), column.type_name),
            Some("Columns of types bigint and uuid can be converted.".to_owned()),
            "Use ALTER TABLE ... SET DEFAULT.",
        )),
    }
    let Some(default) = &column.default else {
        return;
    };
    let is_known = table
        .sequence()
        .is_some_and(|sequence| *default == sequence.rules.default());
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
                None => format!("It is {default}: each session looks the text up anew, so the sequence is not known."),
            }),
            hint,
        ));
    }
}

fn of_sequence(table: &Table, sequence: &Sequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    if !sequence.is_identity && !sequence.in_default {
        found.push(Blocker::state(
            format!(
                "{} owns sequence \"{name}\" without drawing from it",
                table.what()
            ),
            None,
            format!(
                "Use ALTER SEQUENCE {} OWNED BY NONE, or set a default of it.",
                sequence.rules.quoted()
            ),
        ));
        return;
    }
    if !sequence.others.is_empty() {
        let list = sequence.others.join(", ");
        found.push(Blocker::state(
            format!("sequence \"{name}\" is shared"),
            Some(format!("Other columns draw from it: {list}.")),
            "Give those another default first: the sequence returns nothing after the conversion.",
        ));
    }
    let own = format!("{}.{}", table.name, table.column().name);
    if let Some(owner) = sequence
        .owned_by
        .as_ref()
        .filter(|_| !sequence.is_owned && !sequence.is_identity)
    {
        found.push(Blocker::state(
            format!("sequence \"{name}\" is owned by another column"),
            Some(format!("It is owned by {owner}, and {own} draws from it.")),
            format!(
                "Use ALTER SEQUENCE {} OWNED BY NONE first.",
                sequence.rules.quoted()
            ),
        ));
    }
    if sequence.rules.owner != table.owner {
        found.push(Blocker::state(
            format!(
                "sequence \"{name}\" has another owner than table \"{}\"",
                table.name
            ),
            Some(
                "The record of the conversion is trusted only from the owner of the table."
                    .to_owned(),
            ),
            format!(
                "Use ALTER SEQUENCE {} OWNER TO {}.",
                sequence.rules.quoted(),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    if !sequence.is_identity {
        return;
    }
    if !sequence.dependents.is_empty() {
        let list = sequence.dependents.join(", ");
        found.push(Blocker::state(
            format!("other objects depend on sequence \"{name}\" of an identity column"),
            Some(format!(
                "The sequence is dropped and created anew, and would take these with it: {list}."
            )),
            "Drop them, convert, and create them again: the new sequence has the same name.",
        ));
    }
    if !table.can_create {
        found.push(Blocker::state(
            format!(
                "owner of table \"{}\" cannot create relations in schema \"{}\"",
                table.name, table.schema
            ),
            Some("The sequence of an identity column is created anew.".to_owned()),
            format!(
                "Use GRANT CREATE ON SCHEMA {} TO {} for the time of the conversion.",
                sql::quoted_exactly(&table.schema),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    if sequence
        .rules
        .acl
        .iter()
        .flatten()
        .any(|grant| !grant.is_owners)
    {
        found.push(Blocker::state(
            format!("privileges on sequence \"{name}\" were granted by others than its owner"),
            None,
            "Revoke those, and have the owner grant them.",
        ));
    }
}

/// Whether a default draws from the sequence that the column draws from now.
pub fn draws_from_itself(table: &Table, generator: &Generator) -> Option<Blocker> {
    let sequence = table.sequence()?;
    let literal = sql::literal(&sequence.rules.quoted());
    generator.text.contains(&literal).then(|| {
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
    let query = format!(
        "SELECT pg_catalog.max({}::pg_catalog.int8) FROM {}",
        table.quoted_column(),
        table.quoted()
    );
    let oids = table.oids();
    let bound = Bound {
        relations: &oids,
        ..Bound::default()
    };
    privilege::as_role(table.owner.into(), || {
        restrict_to(bound, || {
            guc::with(&[(c"row_security", 0)], || {
                sql::ask_with::<i64>(&query, &[])
            })
        })
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
            "The largest id is {largest}, and new ones may be as small as {}.",
            floor.saturating_add(1)
        )),
        format!(
            "If it is of the same layout, wait until its time has come, or use snowflake_start_above({largest}, ...) for a default of one shard. \
             If it is of another layout or epoch, use that one, or one whose ids are larger."
        ),
    ))
}

/// What is to be known of a conversion that nothing stands in the way of.
pub fn notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    let column = &table.column().name;
    if let Some(sequence) = table.sequence() {
        let name = &sequence.rules.name;
        notes.push(format!("Sequence \"{name}\" stays at its end: nextval() of it is an error, and currval() and lastval() return nothing new. Its comment is the record from which mint.convert_revert() puts back what was."));
        if !table.mentions.is_empty() {
            notes.push(format!(
                "These functions mention the sequence: {}.",
                table.mentions.join(", ")
            ));
        }
    } else {
        notes.push("There is no sequence to keep a record in: mint.convert() returns the statement that reverts it.".to_owned());
    }
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
