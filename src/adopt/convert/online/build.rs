//! The steps that build what takes the place of checks, indexes and foreign keys, beside these.

use crate::adopt::convert::online::blocks;
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::columns::{
    self, Direction, successor, successor_check, successor_key,
};
use crate::adopt::convert::plan::PlanRow;
use crate::pg::catalog::sql;

/// Bytes per microsecond that a step is estimated to take: reading, and building an index.
const READS: i64 = 200;
const BUILDS: i64 = 50;

/// Returns a step that locks an object against all.
pub fn exclusive(phase: &'static str, object: &str, command: String) -> PlanRow {
    PlanRow::runs(phase, command).locking(object, "ACCESS EXCLUSIVE")
}

/// The note of what drops such.
const LEFT: &str = "What a break or a restore has left.";

/// Returns the statement that drops a constraint.
pub fn drop_constraint(table: &str, name: &str) -> String {
    let name = sql::quoted_exactly(name);
    format!("ALTER TABLE {table} DROP CONSTRAINT {name}")
}

/// Drops what a break or a restore has left.
fn drop_stale(closure: &Closure, rows: &mut Vec<PlanRow>) {
    for stale in &closure.stale_constraints {
        let table = closure.table(stale.relation);
        let drop = [drop_constraint(table, &stale.name)];
        let owner = closure.quoted_owner();
        let drop = blocks::retried(&owner, columns::EXCLUSIVE, &[table], &drop);
        rows.push(exclusive("constraint", table, drop).noting(LEFT));
    }
    for stale in &closure.stale_indexes {
        let drop = format!("DROP INDEX CONCURRENTLY {}", stale.name);
        rows.push(
            PlanRow::runs("index", drop)
                .locking(closure.table(stale.relation), "SHARE UPDATE EXCLUSIVE")
                .noting(LEFT),
        );
    }
}

/// Builds what takes the place of checks, indexes and foreign keys.
pub fn build(closure: &Closure, way: Direction, rows: &mut Vec<PlanRow>) {
    for member in closure.changed() {
        let table = member.quoted_table();
        if member.filled.is_none() {
            let add = columns::check(member, way);
            rows.push(exclusive("constraint", &table, add));
        }
        if member.filled != Some(true) {
            rows.push(validate(
                closure,
                member.bytes,
                &table,
                &member.check_name(),
            ));
        }
    }
    drop_stale(closure, rows);
    let missing = |is_unique: bool| {
        let indexes = closure.indexes.iter();
        indexes.filter(move |index| index.is_unique == is_unique && index.built != Some(true))
    };
    // Unique ones are not those that INSERT ... ON CONFLICT looks at, so they exist for the shortest time.
    for index in missing(false).chain(missing(true)) {
        let bytes = bytes_of(closure, index.relation);
        let table = closure.table(index.relation);
        if index.built.is_some() {
            let schema = sql::quoted_exactly(&index.schema);
            let drop = format!("DROP INDEX CONCURRENTLY {schema}.{}", successor(index));
            rows.push(PlanRow::runs("index", drop).noting(LEFT));
        }
        let Some(build) = columns::index(closure, index, way) else {
            continue;
        };
        let has_texts = index.has_expression();
        if has_texts {
            rows.push(PlanRow::runs(
                "index",
                blocks::fix_settings(&closure.quoted_owner()),
            ));
        }
        let row = PlanRow::runs("index", build).locking(table, "SHARE UPDATE EXCLUSIVE");
        rows.push(row.taking(bytes, BUILDS));
        if has_texts {
            rows.push(PlanRow::runs("index", blocks::restore_settings()));
        }
    }
    linked_checks(closure, way, rows);
    for key in &closure.keys {
        let table = closure.table(key.relation);
        if key.built.is_none() {
            let add = columns::foreign_key(closure, key, way);
            rows.push(PlanRow::runs("constraint", add).locking(table, "SHARE ROW EXCLUSIVE"));
        }
        if key.validated && key.built != Some(true) {
            rows.push(validate(
                closure,
                bytes_of(closure, key.relation),
                table,
                &successor_key(key),
            ));
        }
    }
}

fn linked_checks(closure: &Closure, way: Direction, rows: &mut Vec<PlanRow>) {
    for check in &closure.checks {
        let table = closure.table(check.relation);
        let Some(add) = columns::linked_check(closure, check, way) else {
            continue;
        };
        if check.built.is_none() {
            rows.push(exclusive("constraint", table, add));
        }
        if check.validated && check.built != Some(true) {
            let bytes = bytes_of(closure, check.relation);
            rows.push(validate(closure, bytes, table, &successor_check(check)));
        }
    }
}

fn validate(closure: &Closure, bytes: i64, table: &str, name: &str) -> PlanRow {
    let validate = format!("ALTER TABLE {table} VALIDATE CONSTRAINT {name}");
    let command = blocks::as_owner(&closure.quoted_owner(), table, &validate);
    let row = PlanRow::runs("constraint", command).locking(table, "SHARE UPDATE EXCLUSIVE");
    row.taking(bytes, READS)
}

fn bytes_of(closure: &Closure, relation: u32) -> i64 {
    let own = closure
        .columns
        .iter()
        .find(|member| member.relation == relation);
    own.map_or(0, |member| member.bytes)
}
