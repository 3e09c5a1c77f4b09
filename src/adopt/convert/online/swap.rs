//! The swap: one transaction in which shadows and columns change places, with all that hangs on them.

use crate::adopt::convert::online::blocks;
use crate::adopt::convert::online::closure::{Closure, LinkedColumn, LinkedIndex};
use crate::adopt::convert::online::columns::{
    self, Direction, successor, successor_check, successor_key, timing,
};
use crate::adopt::convert::online::meanings;
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::steps;
use crate::adopt::convert::table::{TargetTable, UsedSequence, quoted};
use crate::pg::catalog::sql;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A column and what is read of it as a column that draws from a sequence.
pub type SwappedColumn<'a> = (&'a LinkedColumn, TargetTable);

/// The names of texts, but for those of successors.
const ALL_TEXTS: &str = "SELECT one.name, one.name FROM pg_catalog.jsonb_object_keys(meant) AS one (name) WHERE one.name OPERATOR(pg_catalog.!~) '^casts of |[\"]mint_(filled_|check_[0-9]|[0-9])'::pg_catalog.text";

/// Returns the swap, which is tried again until it has all its locks at once, and asks for the plan again under them.
pub fn swap(closure: &Closure, parts: &[SwappedColumn<'_>], way: Direction, plan: &str) -> String {
    let again = || closure.recreated.iter();
    let mut lines = dropped(closure);
    for (member, table) in parts {
        replace(member, table, way, &mut lines);
    }
    for index in &closure.indexes {
        adopt_index(closure, index, &mut lines);
    }
    for key in &closure.keys {
        let table = closure.table(key.relation);
        adopt_constraint(
            table,
            &successor_key(key),
            &key.name,
            key.comment.as_deref(),
            &mut lines,
        );
    }
    for check in &closure.checks {
        let (table, from) = (closure.table(check.relation), successor_check(check));
        adopt_constraint(
            table,
            &from,
            &check.name,
            check.comment.as_deref(),
            &mut lines,
        );
    }
    lines.extend(again().rev().flat_map(|one| one.create.clone()));
    lines.push(blocks::refuse_kept(&kept(parts, way)));
    let compiled = Rows::of(&closure.places()).compiled.into_iter();
    lines.extend(compiled.filter_map(|one| one.again));
    let unready = blocks::refuse_unready(plan, &mark(&lines));
    lines = blocks::keeping_meanings(&meanings::relations(closure), ALL_TEXTS, lines);
    lines.insert(0, unready);
    let owner = closure.quoted_owner();
    let first: Vec<&str> = again().filter_map(|one| one.lock.as_deref()).collect();
    let last = parts.iter().filter_map(|(_, table)| lock_identity(table));
    let tables = tables(closure);
    blocks::retried_between(
        &first,
        &owner,
        columns::EXCLUSIVE,
        &tables,
        &last.collect::<Vec<_>>(),
        &lines,
    )
}

/// Returns the statements that drop what hangs on the columns.
fn dropped(closure: &Closure) -> Vec<String> {
    let drop = |table, name: &str| {
        let name = sql::quoted_exactly(name);
        format!(
            "ALTER TABLE {} DROP CONSTRAINT {name}",
            closure.table(table)
        )
    };
    let again = closure.recreated.iter().map(|one| one.drop.clone());
    let checks = closure.checks.iter();
    let checks = checks.map(|check| drop(check.relation, &check.name));
    let keys = closure.keys.iter().map(|key| drop(key.relation, &key.name));
    let indexes = closure.indexes.iter();
    let indexes = indexes.map(|index| drop_index(closure, index));
    again.chain(checks).chain(keys).chain(indexes).collect()
}

/// Returns the columns that are put aside, with their tables.
fn kept(parts: &[SwappedColumn<'_>], way: Direction) -> Vec<(String, String)> {
    let prefix = match way {
        Direction::There => "mint_old_",
        Direction::Back => "mint_new_",
    };
    let names = parts
        .iter()
        .map(|(member, _)| (member.quoted_table(), format!("{prefix}{}", member.name)));
    names.collect()
}

/// Returns the sequence of an identity column, which is dropped and created again.
fn identity(table: &TargetTable) -> Option<&UsedSequence> {
    let mut sequences = table.sequences.iter();
    sequences.find(|sequence| sequence.is_identity)
}

/// Returns a statement that locks the sequence of an identity and changes nothing. Before its last value is read, all who have
/// drawn from it end: a transaction that has can draw from it again until then.
fn lock_identity(table: &TargetTable) -> Option<String> {
    let name = identity(table)?.rules.quoted();
    let owner = table.quoted_owner();
    Some(format!("ALTER SEQUENCE {name} OWNER TO {owner}"))
}

/// Returns a word that is another one as soon as one of the statements is: what these are made of has changed since the plan.
fn mark(lines: &[String]) -> String {
    let mut hasher = DefaultHasher::new();
    lines.hash(&mut hasher);
    format!("mint_swap_{:016x}", hasher.finish())
}

/// Returns all tables that the swap locks, the column's own first.
pub fn tables(closure: &Closure) -> Vec<&str> {
    let own = closure.columns.iter().map(|member| member.relation);
    let others = closure.keys.iter().flat_map(|key| [key.to, key.relation]);
    let mut found = Vec::new();
    for relation in own.chain(others) {
        let name = closure.table(relation);
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Gives an object the comment of the one whose place it takes.
fn comment(object: &str, text: Option<&str>, lines: &mut Vec<String>) {
    if let Some(text) = text {
        lines.push(format!("COMMENT ON {object} IS {}", sql::literal(text)));
    }
}

/// Gives the successor of a constraint its name and its comment.
fn adopt_constraint(
    table: &str,
    from: &str,
    name: &str,
    text: Option<&str>,
    lines: &mut Vec<String>,
) {
    let name = sql::quoted_exactly(name);
    lines.push(format!(
        "ALTER TABLE {table} RENAME CONSTRAINT {from} TO {name}"
    ));
    comment(&format!("CONSTRAINT {name} ON {table}"), text, lines);
}

fn drop_index(closure: &Closure, index: &LinkedIndex) -> String {
    match &index.constraint {
        Some(constraint) => {
            let name = sql::quoted_exactly(&constraint.name);
            format!(
                "ALTER TABLE {} DROP CONSTRAINT {name}",
                closure.table(index.relation)
            )
        }
        None => format!("DROP INDEX {}", index.quoted()),
    }
}

/// Gives the successor of an index its name and its duties.
fn adopt_index(closure: &Closure, index: &LinkedIndex, lines: &mut Vec<String>) {
    let table = closure.table(index.relation);
    let from = successor(index);
    let name = sql::quoted_exactly(&index.name);
    if let Some(constraint) = &index.constraint {
        let own = sql::quoted_exactly(&constraint.name);
        let kind = if constraint.is_primary {
            "PRIMARY KEY"
        } else {
            "UNIQUE"
        };
        let timing = timing(constraint.deferrable, constraint.deferred);
        lines.push(format!(
            "ALTER TABLE {table} ADD CONSTRAINT {own} {kind} USING INDEX {from}{timing}"
        ));
        let object = format!("CONSTRAINT {own} ON {table}");
        comment(&object, constraint.comment.as_deref(), lines);
    } else {
        let from = quoted(&index.schema, &from);
        lines.push(format!("ALTER INDEX {from} RENAME TO {name}"));
    }
    let object = format!("INDEX {}", index.quoted());
    comment(&object, index.comment.as_deref(), lines);
    lines.extend(index.after.iter().cloned());
    if index.is_replica_identity {
        lines.push(format!(
            "ALTER TABLE {table} REPLICA IDENTITY USING INDEX {name}"
        ));
    }
    if index.is_clustered {
        lines.push(format!("ALTER TABLE {table} CLUSTER ON {name}"));
    }
}

/// Puts the shadow in the place of a column.
fn replace(member: &LinkedColumn, of: &TargetTable, way: Direction, lines: &mut Vec<String>) {
    let table = member.quoted_table();
    let alter = format!("ALTER TABLE {table}");
    let (column, shadow, kept) = (member.quoted_name(), way.shadow(member), way.kept(member));
    let identity = identity(of);
    lines.push(format!(
        "DROP TRIGGER IF EXISTS {} ON {table}",
        member.trigger()
    ));
    if let Some(sequence) = identity {
        let name = sequence.rules.quoted();
        lines.push(format!("SELECT {} FROM {name}", blocks::STATE));
        lines.push(format!("{alter} ALTER COLUMN {column} DROP IDENTITY"));
    }
    if member.default.is_some() {
        lines.push(format!("{alter} ALTER COLUMN {column} DROP DEFAULT"));
    }
    if member.not_null {
        lines.push(format!("{alter} ALTER COLUMN {column} DROP NOT NULL"));
        // The valid check spares the scan.
        if let Some(constraint) = &member.not_null_constraint {
            let name = sql::quoted_exactly(&constraint.name);
            let only = constraint.only();
            lines.push(format!(
                "{alter} ADD CONSTRAINT {name} NOT NULL {shadow}{only}"
            ));
            let object = format!("CONSTRAINT {name} ON {table}");
            comment(&object, constraint.comment.as_deref(), lines);
        } else {
            lines.push(format!("{alter} ALTER COLUMN {shadow} SET NOT NULL"));
        }
    }
    lines.push(format!("{alter} DROP CONSTRAINT {}", member.check_name()));
    lines.push(format!("{alter} RENAME COLUMN {column} TO {kept}"));
    lines.push(format!("{alter} RENAME COLUMN {shadow} TO {column}"));
    if let Some(default) = &member.default {
        lines.push(format!(
            "{alter} ALTER COLUMN {column} SET DEFAULT {default}"
        ));
    }
    for sequence in of.sequences.iter().filter(|sequence| sequence.is_owned) {
        let name = sequence.rules.quoted();
        lines.push(format!("ALTER SEQUENCE {name} OWNED BY {table}.{column}"));
    }
    if let Some(sequence) = identity {
        restore_identity(member, of, sequence, lines);
    }
    if let Some(options) = &member.options {
        lines.push(format!("{alter} ALTER COLUMN {column} SET ({options})"));
    }
    if let Some(statistics) = member.statistics {
        lines.push(format!(
            "{alter} ALTER COLUMN {column} SET STATISTICS {statistics}"
        ));
    }
    if member.comment.is_some() {
        let object = format!("COLUMN {table}.{column}");
        comment(&object, member.comment.as_deref(), lines);
        lines.push(format!("COMMENT ON COLUMN {table}.{kept} IS NULL"));
    }
    lines.extend(columns::function(member, way));
    lines.extend(columns::trigger(member));
}

fn restore_identity(
    member: &LinkedColumn,
    of: &TargetTable,
    sequence: &UsedSequence,
    lines: &mut Vec<String>,
) {
    let rules = &sequence.rules;
    let name = rules.quoted();
    lines.push(steps::add_identity(
        &member.quoted_table(),
        &member.quoted_name(),
        member.identity == "a",
        rules,
        rules.cycle,
    ));
    let literal = sql::literal(&name);
    lines.push(format!(
        "PERFORM pg_catalog.setval({literal}::pg_catalog.regclass, last, called)"
    ));
    lines.extend(
        steps::grants(of, rules)
            .into_iter()
            .map(|step| step.command),
    );
    let object = format!("SEQUENCE {name}");
    comment(&object, rules.comment.as_deref(), lines);
}
