//! Checks of tables, partitions and sequences.

use crate::adopt::convert::blocker::Blocker;
use crate::adopt::convert::table::{Sequence, Table};
use crate::pg::catalog::sql;

/// What stands in the way in the table itself.
pub fn of_table(table: &Table, found: &mut Vec<Blocker>) {
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
    of_row_security(table, found);
    of_schema(table, found);
}

/// A schema that the owner may not use: all is done with the rights of the owner.
pub fn of_schema(table: &Table, found: &mut Vec<Blocker>) {
    if !table.access().can_be_named() {
        found.push(Blocker::privilege(
            format!(
                "owner of table \"{}\" cannot use schema \"{}\"",
                table.name, table.schema
            ),
            Some(format!(
                "The column is converted with the privileges of the owner, role \"{}\".",
                table.owner_name
            )),
            format!(
                "Use GRANT USAGE ON SCHEMA {} TO {}.",
                sql::quoted_exactly(&table.schema),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
}

/// Rows that the owner does not see.
pub fn of_row_security(table: &Table, found: &mut Vec<Blocker>) {
    if table.force_row_security {
        found.push(Blocker::state(
            format!(
                "table \"{}\" has row security that is forced on its owner",
                table.name
            ),
            Some("The owner might not see all of its rows.".to_owned()),
            "Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY for the time of the conversion.",
        ));
    }
}

/// What stands in the way in partitions and children.
pub fn of_below(table: &Table, found: &mut Vec<Blocker>) {
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

/// What stands in the way in the sequences of a column.
pub fn of_sequences(table: &Table) -> Vec<Blocker> {
    let mut found = Vec::new();
    for sequence in &table.sequences {
        of_sequence(table, sequence, &mut found);
    }
    found
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
    if sequence.is_identity {
        of_identity(table, sequence, found);
    }
}

/// The sequence of an identity column is dropped and created anew.
fn of_identity(table: &Table, sequence: &Sequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    if !sequence.dependents.is_empty() {
        let list = sequence.dependents.join(", ");
        found.push(Blocker::state(
            format!("other objects depend on sequence \"{name}\" of an identity column"),
            Some(format!(
                "The sequence is dropped and created again, which would drop these: {list}."
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
            Some("The sequence of an identity column is created again.".to_owned()),
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
