//! What prevents a conversion in the sequences of a column.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::record;
use crate::adopt::convert::table::{SequenceRules, TargetTable, UsedSequence};
use crate::pg::catalog::sql;
use pgrx::pg_sys;

/// Returns what prevents the conversion in the sequences of a column.
pub fn of_sequences(table: &TargetTable) -> Vec<Blocker> {
    let mut found = Vec::new();
    for sequence in &table.sequences {
        of_sequence(table, sequence, &mut found);
    }
    found
}

fn of_sequence(table: &TargetTable, sequence: &UsedSequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    let quoted = sequence.rules.quoted();
    if !sequence.is_identity && !sequence.in_default {
        let what = table.what();
        found.push(Blocker::state(
            format!("{what} owns sequence \"{name}\" without drawing from it"),
            "",
            format!("Use ALTER SEQUENCE {quoted} OWNED BY NONE, or set a default of it."),
        ));
        return;
    }
    let mut others = sequence.others.clone();
    // Of an identity, they are said with what its sequence is created again for.
    if !sequence.is_identity {
        others.extend(sequence.callers.iter().cloned());
    }
    if !others.is_empty() {
        let list = others.join(", ");
        found.push(Blocker::state(
            format!("sequence \"{name}\" is shared"),
            format!("Others can draw from it: {list}."),
            "Give columns and domains another default first, and drop the rest: the sequence returns nothing after the conversion.",
        ));
    }
    if let Some(owner) = &sequence.owned_by
        && !sequence.is_owned
        && !sequence.is_identity
    {
        let own = format!("{}.{}", table.name, table.column().name);
        found.push(Blocker::state(
            format!("sequence \"{name}\" is owned by another column"),
            format!("It is owned by {owner}, and {own} draws from it."),
            format!("Use ALTER SEQUENCE {quoted} OWNED BY NONE first."),
        ));
    }
    if sequence.rules.owner != table.owner {
        let (of, owner) = (&table.name, table.quoted_owner());
        found.push(Blocker::state(
            format!("sequence \"{name}\" has another owner than table \"{of}\""),
            "The record of the conversion is trusted only from the owner of the table.",
            format!("Use ALTER SEQUENCE {quoted} OWNER TO {owner}."),
        ));
    }
    found.extend(of_privileges(table, sequence));
    if sequence.is_identity {
        of_identity(table, sequence, found);
    }
}

/// Checks that the owner can read and set the sequence, whose privileges an owner can revoke from itself.
fn of_privileges(table: &TargetTable, sequence: &UsedSequence) -> Option<Blocker> {
    let query = "SELECT has_sequence_privilege($1::oid, $2::oid, 'SELECT') AND has_sequence_privilege($1::oid, $2::oid, 'UPDATE')";
    let [owner, oid] = [table.owner, sequence.rules.oid].map(pg_sys::Oid::from);
    if sql::ask_with(query, &[owner.into(), oid.into()]) != Some(false) {
        return None;
    }
    let (quoted, owner) = (sequence.rules.quoted(), table.quoted_owner());
    let blocker = Blocker::state(
        format!("owner of sequence {quoted} lacks privileges on it"),
        "Its last value is read and set.",
        format!("Use GRANT SELECT, UPDATE ON SEQUENCE {quoted} TO {owner}."),
    );
    Some(blocker.privilege())
}

/// Checks the sequence of an identity column, which is dropped and created again.
fn of_identity(table: &TargetTable, sequence: &UsedSequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    if !sequence.dependents.is_empty() {
        let list = sequence.dependents.join(", ");
        found.push(Blocker::state(
            format!("other objects depend on sequence \"{name}\" of an identity column"),
            format!("The sequence is dropped and created again, which would drop these: {list}."),
            "Drop them, convert, and create them again: the new sequence has the same name.",
        ));
    }
    found.extend(of_creation(table));
    found.extend(of_grants(&sequence.rules));
}

/// Checks the privileges on a sequence that is dropped and created again: the way there and back.
pub fn of_grants(rules: &SequenceRules) -> Vec<Blocker> {
    let name = &rules.name;
    let mut found = Vec::new();
    let mut grants = rules.acl.iter().flatten();
    if grants.any(|grant| !grant.is_owners) {
        found.push(Blocker::state(
            format!("privileges on sequence \"{name}\" were granted by others than its owner"),
            "",
            "Revoke those, and have the owner grant them.",
        ));
    }
    if rules.has_column_grants {
        found.push(Blocker::state(
            format!("privileges on columns of sequence \"{name}\" were granted"),
            "The sequence of an identity column is dropped and created again, which would drop these.",
            "Revoke them, and grant them on the sequence.",
        ));
    }
    found
}

/// Checks that the owner can create the sequence of an identity column again.
pub fn of_creation(table: &TargetTable) -> Option<Blocker> {
    if table.can_create {
        return None;
    }
    let (of, schema) = (&table.name, &table.schema);
    let (quoted_schema, owner) = (table.quoted_schema(), table.quoted_owner());
    let blocker = Blocker::state(
        format!("owner of table \"{of}\" cannot create relations in schema \"{schema}\""),
        "The sequence of an identity column is created again.",
        format!(
            "Use GRANT CREATE ON SCHEMA {quoted_schema} TO {owner} for the time of the conversion."
        ),
    );
    Some(blocker.privilege())
}

/// Checks that there is no record of an earlier conversion, as after a table was dropped and created again.
pub fn of_record(table: &TargetTable) -> Option<Blocker> {
    table.sequence()?;
    let name = record::find(table)?.rules.quoted();
    Some(Blocker::state(
        format!("sequence {name} has a record of {}", table.what()),
        "It is of an earlier conversion, and the column draws from another sequence.",
        format!(
            "Use DROP SEQUENCE {name}, or COMMENT ON SEQUENCE {name} IS NULL, if that conversion is not to be reverted."
        ),
    ))
}
