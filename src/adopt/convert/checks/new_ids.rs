//! What prevents a conversion in the rows that new ids meet: ids of before, checks, missing partitions, expressions.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::expressions;
use crate::adopt::convert::checks::partitions;
use crate::adopt::convert::checks::rebound::{self, Texts};
use crate::adopt::convert::checks::shown;
use crate::adopt::convert::generator::{Floor, NewDefault};
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::transaction;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;

/// Returns the largest id of the table, read by its indexes.
pub fn largest(table: &TargetTable) -> Option<i64> {
    let below = table.below.iter().map(|table| table.oid.into());
    let column = table.quoted_column();
    table.access().ask(&below.collect::<Vec<_>>(), |name| {
        format!("SELECT max({column})::int8 FROM {name}")
    })
}

/// Checks that new ids meet none of the table, and that it takes the smallest one: that it has a partition, and that nothing
/// refuses it.
pub fn meet(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let id = floor.saturating_add(1);
    meet_others(table, floor, id)
        .or_else(|| partitions::lacking(table, id))
        .or_else(|| fit(table, Floor::Above(floor)))
}

/// Checks that the checks and expressions of the table, of its domain and of all tables below take the smallest new id.
pub fn fit(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    mislead(table).or_else(|| expressions::fail(table, floor.saturating_add(1)))
}

/// Returns what could refuse new ids.
pub fn doubts(table: &TargetTable, floor: Floor) -> Vec<String> {
    let Floor::Above(floor) = floor else {
        return Vec::new();
    };
    expressions::doubts(table, floor.saturating_add(1))
}

/// Returns the doubt that the column refers to another, where the new ids can be missing.
pub fn borrowed(table: &TargetTable) -> Option<String> {
    let query = "SELECT f.confrelid::regclass::text FROM pg_constraint AS f
        WHERE f.contype = 'f' AND f.conrelid = $1::oid AND f.confrelid <> $1::oid AND $2::int2 = ANY (f.conkey)
            AND (to_jsonb(f) ->> 'conenforced')::bool IS NOT FALSE
        ORDER BY f.conname LIMIT 1";
    let own = pg_sys::Oid::from_u32(table.oid);
    let number = table.column().number;
    let other = sql::ask_with::<DecodedText>(query, &[own.into(), number.into()])?.0;
    let blocker = Blocker::state(
        format!("{} refers to table {other}", table.what()),
        "",
        "New ids need a row there.",
    );
    Some(blocker.doubt())
}

/// Returns what views and rules could not show, of the column and those that refer to it.
pub fn unshown(table: &TargetTable, floor: Floor) -> Vec<String> {
    let Floor::Above(floor) = floor else {
        return Vec::new();
    };
    shown::doubts(table, floor.saturating_add(1))
}

/// Checks that views can show the smallest new id.
pub fn show(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    shown::fail(table, floor.saturating_add(1))
}

/// Mints an id as the conversion does before it takes its locks, which is lost. Returns the error of that, or what the ids meet;
/// nothing where no id can be minted.
pub fn try_out(table: &TargetTable, generator: &NewDefault) -> Option<Blocker> {
    let query = "SELECT current_setting('transaction_read_only')";
    if sql::ask_with::<DecodedText>(query, &[])?.0 == "on" {
        return None;
    }
    match transaction::undone(|| generator.try_out(table)) {
        Ok(floor) => meet(table, floor),
        Err(error) => Some(Blocker::state(
            format!("the new default of {} raises an error", table.what()),
            format!("The error is: {}.", transaction::message(&error)),
            "The last step would raise it: use a default that the owner of the table can evaluate.",
        )),
    }
}

fn meet_others(table: &TargetTable, floor: i64, id: i64) -> Option<Blocker> {
    let largest = largest(table).filter(|&largest| largest > floor)?;
    Some(Blocker::state(
        format!("{} has ids that new ones could meet", table.what()),
        format!("The largest id is {largest}, and new ones can be as small as {id}."),
        format!(
            "If it is of the same layout, wait until its time has come, or use snowflake_start_above({largest}, ...) for a default of one shard. \
             If it is of another layout or epoch, use that one, or one whose ids are larger."
        ),
    ))
}

/// Checks that each check calls for the id what it calls for others: the server looks up its names again.
fn mislead(table: &TargetTable) -> Option<Blocker> {
    rebound::blockers(&table.members(), Texts::Checks)
        .into_iter()
        .next()
}
