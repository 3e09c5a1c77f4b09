//! Expressions that raise an error for new ids, as a cast to integer does: of indexes, triggers, statistics, generated columns,
//! policies and partition keys, and of views.
//!
//! An expression of the column alone is evaluated for an id, any other one is planned with it: the planner evaluates what is
//! constant then. An error that an id of before raises as well is not of the new ids.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::rebound::{self, Texts};
use crate::adopt::convert::recreated::Recreated;
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::{Evaluated, TargetTable};
use crate::adopt::convert::views;
use crate::pg::backend::transaction;
use crate::pg::catalog::{relation, sql};
use mint_core::adopt::rename::renamed;
use pgrx::pg_sys;

/// An id of before.
const SMALL: i64 = 1;

/// Checks that no rule of the table casts the column to a type that cannot hold the ids, directly.
pub fn narrow(table: &TargetTable) -> Option<Blocker> {
    let rule = table.narrowing.first()?;
    Some(Blocker::state(
        format!(
            "rule \"{rule}\" of table \"{}\" casts new ids to a type that cannot hold them",
            table.name
        ),
        "",
        format!(
            "Use DROP RULE {} ON {}, or create it again with a bigint.",
            sql::quoted_exactly(rule),
            table.quoted()
        ),
    ))
}

/// Checks that nothing of the table raises an error for an id, unless its expressions could call for it what they call for no
/// other.
pub fn fail(table: &TargetTable, id: i64) -> Option<Blocker> {
    let column = (table.oid.into(), table.column().number);
    if table.evaluated.is_empty() || !rebound::blockers(&[column], Texts::All).is_empty() {
        return None;
    }
    let rows = |id| Rows::with(&[column], id).query(table.oid);
    let (new, small) = (rows(id)?, rows(SMALL)?);
    table.evaluated.iter().find_map(|one| {
        let run = |row: &str| evaluate(table, one, row);
        let error = run(&new).err()?;
        run(&small).ok()?;
        let remedy = one.remedy.as_ref();
        let remedy = remedy.map_or_else(String::new, |drop| format!("{drop}, or "));
        Some(Blocker::state(
            format!("{} refuses new ids", one.what),
            format!("An id like {id} raises an error: {error}."),
            format!("Use {remedy}a default whose ids it can have."),
        ))
    })
}

/// Evaluates or plans expressions for a row. Returns the message of an error.
fn evaluate(table: &TargetTable, one: &Evaluated, row: &str) -> Result<(), String> {
    let of_row = one.expressions.as_ref();
    let of_row = of_row.map_or_else(
        || "0".to_owned(),
        |all| format!("pg_catalog.num_nulls({all})"),
    );
    let condition = one.predicate.as_deref().unwrap_or("true");
    let from: Vec<String> = one
        .names
        .iter()
        .map(|name| format!("({row}) AS {name}"))
        .collect();
    let value = format!(
        "(CASE WHEN {condition} THEN {of_row} END) IS NULL FROM {}",
        from.join(", ")
    );
    let access = table.access();
    let answer = transaction::caught(|| {
        if one.is_alone {
            access.evaluate::<bool>(&value);
        } else {
            access.plan(&format!("SELECT {value}"));
        }
    });
    answer.map_err(|error| transaction::message(&error))
}

/// Checks that no view of the table's owner raises an error for an id: of the column, or of those that refer to it. Views that
/// read the server's catalogs are not planned, and what a subquery groups or sorts is not constant.
pub fn fail_view(table: &TargetTable, id: i64) -> Option<Blocker> {
    let mut columns = table.columns();
    columns.retain(|&(of, _)| relation::owner(of) == Some(table.owner.into()));
    let mut views = Recreated::of(&columns);
    // What others have written is not for the owner to run.
    views.retain(|one| one.owner == Some(table.owner));
    if views.is_empty() || !rebound::blockers(&columns, Texts::All).is_empty() {
        return None;
    }
    let mut tables: Vec<_> = views.iter().flat_map(|one| one.reads.clone()).collect();
    tables.sort();
    tables.dedup();
    let mut with = columns.clone();
    let others = tables
        .iter()
        .map(|(oid, ..)| pg_sys::Oid::from_u32(*oid))
        .filter(|oid| columns.iter().all(|(own, _)| own != oid));
    with.extend(others.map(|oid| (oid, 0)));
    let errors = |id| {
        let mut found = Vec::new();
        let rows = Rows::with(&with, id);
        views::queries(tables.iter().cloned(), &views, &rows, |query| {
            let planned = transaction::caught(|| table.access().plan(&all_inner(&query.text)));
            let error = planned.err().map(|error| transaction::message(&error));
            let is_fine = error.is_none();
            found.push((query.name.clone(), error));
            is_fine
        });
        found
    };
    let small = errors(SMALL);
    let fails = |(name, error): (String, Option<String>)| {
        let fine = small.iter().any(|known| *known == (name.clone(), None));
        error.filter(|_| fine).map(|error| (name, error))
    };
    let (name, error) = errors(id).into_iter().find_map(fails)?;
    Some(Blocker::state(
        format!("{name} cannot show new ids"),
        format!("An id like {id} raises an error: {error}."),
        "Drop it, and create it again with types that can hold the ids.",
    ))
}

/// Returns a query with inner joins in place of outer ones, whose columns the planner does not take for constants.
fn all_inner(query: &str) -> String {
    let kinds = ["LEFT", "RIGHT", "FULL"].into_iter();
    kinds.fold(query.to_owned(), |text, kind| {
        renamed(&text, kind, "INNER").0
    })
}
