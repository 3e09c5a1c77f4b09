//! The statements on single columns: shadows, triggers, indexes, and foreign keys beside the old ones.

use crate::adopt::convert::online::blocks;
use crate::adopt::convert::online::closure::{
    Closure, LinkedCheck, LinkedColumn, LinkedIndex, LinkedKey,
};
use crate::adopt::convert::online::meanings;
use crate::pg::catalog::sql;
use mint_core::adopt::rename::renamed;
use std::collections::BTreeMap;

/// Which way the script goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To bigint.
    There,
    /// To the type of before.
    Back,
}

impl Direction {
    /// Returns the name of the column that takes the place of a column in the swap.
    pub fn shadow(self, member: &LinkedColumn) -> String {
        match self {
            Self::There => member.new_name(),
            Self::Back => member.old_name(),
        }
    }

    /// Returns the name that the replaced column has after the swap.
    pub fn kept(self, member: &LinkedColumn) -> String {
        match self {
            Self::There => member.old_name(),
            Self::Back => member.new_name(),
        }
    }
}

/// The mode of nearly all that changes a table.
pub const EXCLUSIVE: &str = "ACCESS EXCLUSIVE";

/// Returns the least and the largest value of a type of before.
pub fn range(kind: &str) -> (i64, i64) {
    match kind {
        "smallint" => (i16::MIN.into(), i16::MAX.into()),
        _ => (i32::MIN.into(), i32::MAX.into()),
    }
}

/// Returns the statements that create the function of the trigger. After the swap ids might not fit: then the shadow is null.
pub fn function(member: &LinkedColumn, way: Direction) -> [String; 2] {
    let kind = member.old_type.as_deref().unwrap_or(&member.data_type);
    let range = (way == Direction::There).then(|| range(kind));
    let body = sql::literal(&blocks::copy(member, &way.kept(member), range));
    let (name, owner) = (member.function(), member.quoted_owner());
    [
        format!(
            "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS {body}"
        ),
        // Another role may have a function of that name, or run the script.
        format!("ALTER FUNCTION {name}() OWNER TO {owner}"),
    ]
}

/// Returns the statements that create the trigger, which fires last, and for replicated rows as well.
pub fn trigger(member: &LinkedColumn) -> [String; 2] {
    let (name, table) = (member.trigger(), member.quoted_table());
    [
        format!(
            "CREATE TRIGGER {name} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {}()",
            member.function()
        ),
        enable(member),
    ]
}

pub fn enable(member: &LinkedColumn) -> String {
    let (name, table) = (member.trigger(), member.quoted_table());
    format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
}

/// Adds the check that the shadow is as its column.
pub fn check(member: &LinkedColumn, way: Direction) -> String {
    let table = member.quoted_table();
    let add = format!(
        "ALTER TABLE {table} ADD CONSTRAINT {} CHECK ({}) NOT VALID",
        member.check_name(),
        blocks::equality(member, &way.shadow(member), "")
    );
    blocks::retried(&member.quoted_owner(), EXCLUSIVE, &[&table], &[add])
}

/// Returns the name of the index that takes the place of another.
pub fn successor(index: &LinkedIndex) -> String {
    format!("mint_{}", index.oid)
}

/// Returns a text of the server with the shadows of a table in place of its columns; none if it has other things of their
/// names, by how often it names each column.
pub fn on_shadows(
    closure: &Closure,
    relation: u32,
    text: &str,
    counts: &BTreeMap<i16, usize>,
    way: Direction,
) -> Option<String> {
    let mut text = text.to_owned();
    for member in closure
        .changed()
        .filter(|member| member.relation == relation)
    {
        let (next, count) = renamed(&text, &member.quoted_name(), &way.shadow(member));
        if counts.get(&member.number) != Some(&count) {
            return None;
        }
        text = next;
    }
    Some(text)
}

/// Returns what comes behind the table in the definition of an index.
pub fn index_text(index: &LinkedIndex) -> Option<String> {
    let mut text = index.definition.clone()?;
    if let Some(tablespace) = &index.tablespace {
        text.push_str(&format!(" TABLESPACE {}", sql::quoted_exactly(tablespace)));
    }
    if let Some(predicate) = &index.predicate {
        text.push_str(&format!(" WHERE {predicate}"));
    }
    Some(text)
}

/// Builds the successor of an index, on shadows; none if its text is not understood.
pub fn index(closure: &Closure, index: &LinkedIndex, way: Direction) -> Option<String> {
    let text = index_text(index)?;
    Some(format!(
        "CREATE {}INDEX CONCURRENTLY {} ON {} {}",
        if index.is_unique { "UNIQUE " } else { "" },
        successor(index),
        closure.table(index.relation),
        on_shadows(closure, index.relation, &text, &index.counts, way)?
    ))
}

/// Returns the name of the check that takes the place of another.
pub fn successor_check(check: &LinkedCheck) -> String {
    format!("mint_check_{}", check.oid)
}

/// Adds the successor of a check, on shadows; none if its text is not understood.
pub fn linked_check(closure: &Closure, check: &LinkedCheck, way: Direction) -> Option<String> {
    let table = closure.table(check.relation);
    let add = format!(
        "ALTER TABLE {table} ADD CONSTRAINT {} CHECK ({}){} NOT {}",
        successor_check(check),
        on_shadows(closure, check.relation, &check.text, &check.counts, way)?,
        if check.no_inherit { " NO INHERIT" } else { "" },
        if check.is_enforced {
            "VALID"
        } else {
            "ENFORCED"
        }
    );
    let name = |name: &str| sql::literal(&meanings::constraint(table, name));
    let (was, becomes) = (name(&check.name), name(&successor_check(check)));
    let pairs = format!("VALUES ({was}, {becomes})");
    let statements = blocks::keeping_meanings(&[table.to_owned()], &pairs, [add]);
    let owner = closure.quoted_owner();
    Some(blocks::retried(&owner, EXCLUSIVE, &[table], &statements))
}

/// Returns the name of the foreign key that takes the place of another.
pub fn successor_key(key: &LinkedKey) -> String {
    format!("mint_fk_{}", key.oid)
}

/// Adds the successor of a foreign key, on shadows.
pub fn foreign_key(closure: &Closure, key: &LinkedKey, way: Direction) -> String {
    let names = |relation: u32, numbers: &[i16]| {
        let name = |&number: &i16| match closure.find(relation, number) {
            Some(member) => way.shadow(member),
            None => sql::quoted_exactly(closure.column(relation, number)),
        };
        numbers.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let action = |letter: &str| match letter {
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        "r" => "RESTRICT",
        _ => "NO ACTION",
    };
    let only = if key.set_numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", names(key.relation, &key.set_numbers))
    };
    let (table, to) = (closure.table(key.relation), closure.table(key.to));
    let add = format!(
        "ALTER TABLE {table} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {to} ({}){} ON UPDATE {} ON DELETE {}{only}{} NOT {}",
        successor_key(key),
        names(key.relation, &key.numbers),
        names(key.to, &key.to_numbers),
        if key.match_type == "f" {
            " MATCH FULL"
        } else {
            ""
        },
        action(&key.update),
        action(&key.delete),
        timing(key.deferrable, key.deferred),
        if key.is_enforced { "VALID" } else { "ENFORCED" }
    );
    let (owner, tables) = (closure.quoted_owner(), key_tables(closure, key));
    blocks::retried(&owner, "SHARE ROW EXCLUSIVE", &tables, &[add])
}

/// Returns the tables of a foreign key in the order in which a DELETE that cascades takes its locks: ALTER TABLE takes them in the other order, and
/// would have to win against every such DELETE.
pub fn key_tables<'a>(closure: &'a Closure, key: &LinkedKey) -> Vec<&'a str> {
    let mut tables = vec![closure.table(key.to), closure.table(key.relation)];
    tables.dedup();
    tables
}

/// Returns when a constraint is checked.
pub fn timing(deferrable: bool, deferred: bool) -> &'static str {
    match (deferrable, deferred) {
        (false, _) => "",
        (true, false) => " DEFERRABLE",
        (true, true) => " DEFERRABLE INITIALLY DEFERRED",
    }
}
