//! What prevents a conversion in the rows that new ids meet: ids of before, checks, missing partitions, expressions.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::expressions;
use crate::adopt::convert::checks::rebound::{self, Texts};
use crate::adopt::convert::generator::Floor;
use crate::adopt::convert::table::{TargetCheck, TargetTable};
use crate::pg::backend::transaction;
use crate::pg::catalog::sql;

/// Returns the largest id of the table, read by its indexes.
pub fn largest(table: &TargetTable) -> Option<i64> {
    let below = table.below.iter().map(|table| table.oid.into());
    let column = table.quoted_column();
    table.access().ask(&below.collect::<Vec<_>>(), |name| {
        format!("SELECT max({column})::int8 FROM {name}")
    })
}

/// Checks that new ids meet none of the table, and that it takes the smallest one: that it has a partition, and that no check
/// refuses it.
pub fn meet(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let id = floor.saturating_add(1);
    meet_others(table, floor, id)
        .or_else(|| mislead(table))
        .or_else(|| lack_partition(table, id))
        .or_else(|| fail_check(table, id))
        .or_else(|| expressions::narrow(table))
        .or_else(|| expressions::fail(table, id))
}

/// Checks that the checks of the column and of its domain take the smallest new id, and that expressions do.
pub fn fit(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let id = floor.saturating_add(1);
    mislead(table)
        .or_else(|| fail_check(table, id))
        .or_else(|| expressions::narrow(table))
        .or_else(|| expressions::fail(table, id))
}

/// Checks that views can show the smallest new id.
pub fn show(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    expressions::fail_view(table, floor.saturating_add(1))
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

/// Evaluates an expression of a column for an id. Returns the message of its error, if it raises one.
fn evaluate(
    table: &TargetTable,
    id: i64,
    column: &str,
    expression: &str,
) -> Result<Option<bool>, String> {
    let value = format!("{expression} FROM (SELECT '{id}'::int8 AS {column}) AS one");
    transaction::caught(|| table.access().evaluate(&value))
        .map_err(|error| transaction::message(&error))
}

/// Checks that each check calls for the id what it calls for others: the server looks up its names again.
fn mislead(table: &TargetTable) -> Option<Blocker> {
    let column = (table.oid.into(), table.column().number);
    rebound::blockers(&[column], Texts::Checks)
        .into_iter()
        .next()
}

fn fail_check(table: &TargetTable, id: i64) -> Option<Blocker> {
    let mut checks = table.checks.iter();
    let column = table.quoted_column();
    // The checks of a domain name it so.
    let name_in = |check: &TargetCheck| match check.domain {
        Some(_) => "value".to_owned(),
        None => column.clone(),
    };
    let (check, why) = checks.find_map(|check| {
        let condition = format!("({}) IS NOT FALSE", check.text);
        let why = match evaluate(table, id, &name_in(check), &condition) {
            Ok(Some(false)) => "fails it".to_owned(),
            Ok(_) => return None,
            Err(error) => format!("raises an error: {error}"),
        };
        Some((check, why))
    })?;
    let (name, text) = (&check.name, &check.text);
    let constraint = sql::quoted_exactly(name);
    let (of, alter) = match &check.domain {
        Some(domain) => (format!("domain {domain}"), format!("DOMAIN {domain}")),
        None => (
            format!("table \"{}\"", table.name),
            format!("TABLE {}", table.quoted()),
        ),
    };
    Some(Blocker::state(
        format!("check constraint \"{name}\" of {of} refuses new ids"),
        format!("It is {text}, and an id like {id} {why}."),
        format!("Use ALTER {alter} DROP CONSTRAINT {constraint}, or a default whose ids pass it."),
    ))
}

fn lack_partition(table: &TargetTable, id: i64) -> Option<Blocker> {
    if table.partitions.is_empty() {
        return None;
    }
    // The only partition of all has none.
    let constraints = table.partitions.iter();
    let any: Vec<String> = constraints
        .map(|text| format!("({})", text.as_deref().unwrap_or("true")))
        .collect();
    let condition = format!("({}) IS NOT FALSE", any.join(" OR "));
    let holds = evaluate(table, id, &table.quoted_column(), &condition);
    holds.map_or(true, |holds| holds == Some(false)).then(|| {
        Blocker::state(
            format!("table \"{}\" has no partition for new ids", table.name),
            format!("It is partitioned by the column, and an id like {id} has none."),
            "Create partitions for the new ids first, or a DEFAULT partition.",
        )
    })
}
