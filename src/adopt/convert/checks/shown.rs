//! Views, rules and triggers that raise an error for new ids, as a cast to integer does.
//!
//! The planner evaluates what is constant in a view whose tables have one row with the id. An error that an id of before raises
//! as well is not of the new ids. Views of other roles, and those that read the server's catalogs, are not planned; what a
//! subquery groups or sorts is not constant.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::expressions::SMALL;
use crate::adopt::convert::checks::rebound;
use crate::adopt::convert::recreated::{Recreated, Relation};
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::adopt::convert::views::{self, Query};
use crate::pg::backend::transaction;
use crate::pg::catalog::relation;
use mint_core::adopt::rename::renamed;
use pgrx::pg_sys;
use std::collections::HashMap;

/// The catalog of views.
const CLASS: u32 = pg_sys::RelationRelationId.to_u32();

/// A query that has more parts than this, each as often as it is read, takes the planner too long.
const MOST_PARTS: usize = 200;

/// What can keep a view from evaluating an expression that is constant.
const GUARDS: [&str; 11] = [
    "WHERE", "JOIN", "CASE", "COALESCE", "FILTER", "AND", "OR", "HAVING", "LIMIT", "EXISTS",
    "EXCEPT",
];

/// Checks that no view of the table's owner raises an error for an id, whatever rows there are: of the column, or of those that
/// refer to it.
pub fn fail(table: &TargetTable, id: i64) -> Option<Blocker> {
    let mut found = failing(table, id).into_iter();
    found.find_map(|(is_certain, blocker)| is_certain.then_some(blocker))
}

/// Returns what could raise an error for an id: views with a condition, rules and triggers with a cast.
pub fn doubts(table: &TargetTable, id: i64) -> Vec<String> {
    let views = failing(table, id);
    let views = views.iter().filter(|(is_certain, _)| !is_certain);
    let views = views.map(|(_, blocker)| blocker.doubt());
    let casts = table.narrowing.iter().map(|what| {
        let of = &table.name;
        let message =
            format!("{what} of table \"{of}\" casts ids to a type that cannot hold new ones");
        let hint = "Drop it, or create it again with a bigint.";
        Blocker::state(message, "", hint).doubt()
    });
    views.chain(casts).collect()
}

/// Returns the views that raise an error, and whether they do so for certain.
fn failing(table: &TargetTable, id: i64) -> Vec<(bool, Blocker)> {
    let mut columns = table.columns();
    columns.retain(|&(of, _)| relation::owner(of) == Some(table.owner.into()));
    let mut views = Recreated::of(&columns);
    let others = rebound::objects(&columns);
    // What others have written is not for the owner to run.
    views.retain(|one| one.owner == Some(table.owner));
    let (unsure, views): (Vec<_>, Vec<_>) = views.into_iter().partition(|one| {
        one.relation
            .is_some_and(|view| others.contains(&(CLASS, view)))
    });
    let mut all: Vec<_> = unsure
        .iter()
        .map(|one| (false, Blocker::unsure(&one.name)))
        .collect();
    let mut tables: Vec<_> = views.iter().flat_map(|one| one.reads.clone()).collect();
    tables.sort();
    tables.dedup();
    let mut with = columns.clone();
    let oids = tables.iter().map(|(oid, ..)| pg_sys::Oid::from_u32(*oid));
    with.extend(
        oids.filter(|oid| columns.iter().all(|(own, _)| own != oid))
            .map(|oid| (oid, 0)),
    );
    let [new, small] = [id, SMALL].map(|id| Rows::with(&with, id));
    let errors = |rows| errors(table, &tables, &views, rows);
    let small: HashMap<String, bool> = errors(&small)
        .into_iter()
        .map(|(name, _, error)| (name, error.is_none()))
        .collect();
    let lacks = |name: &str| {
        let view = views.iter().find(|one| one.name == name);
        let mut reads = view.into_iter().flat_map(|view| &view.reads);
        reads.any(|&(relation, ..)| new.lacks(relation))
    };
    let fails = |(name, is_guarded, error): (String, bool, Option<String>)| {
        let error = error?;
        if small.get(&name) != Some(&true) {
            let is_unsure = error.is_empty() || lacks(&name);
            return is_unsure.then(|| (false, Blocker::unsure(&name)));
        }
        let unless = if is_guarded {
            " unless a condition spares them"
        } else {
            ""
        };
        let blocker = Blocker::state(
            format!("{name} cannot show new ids{unless}"),
            format!("An id like {id} raises an error: {error}."),
            "Drop it, and create it again with types that can hold the ids.",
        );
        Some((!is_guarded, blocker))
    };
    all.extend(errors(&new).into_iter().filter_map(fails));
    all
}

/// Plans views. Returns the name of each, whether it is guarded, and its error: empty for values of a type of another role.
fn errors(
    table: &TargetTable,
    tables: &[Relation],
    views: &[Recreated],
    rows: &Rows,
) -> Vec<(String, bool, Option<String>)> {
    let mut found = Vec::new();
    views::queries(tables.iter().cloned(), views, rows, |query| {
        if query.parts > MOST_PARTS {
            return false;
        }
        let planned = transaction::undone(|| table.access().plan(&all_inner(&query.text)));
        let error = match planned {
            Ok(Ok(_)) => None,
            Ok(Err(_)) => Some(String::new()),
            Err(error) => Some(transaction::message(&error)),
        };
        let is_fine = error.is_none();
        found.push((query.name.clone(), is_guarded(query), error));
        is_fine
    });
    found
}

/// Returns whether a query has a condition, reads more than one table or calls a function that can have one.
fn is_guarded(query: &Query) -> bool {
    /// The query and its table.
    const LEAST: usize = 2;
    let mut words = query.text.split(|of: char| !of.is_ascii_uppercase());
    let is_name = |of: char| of.is_alphanumeric() || "_$\"".contains(of);
    let mut calls = query.text.match_indices('(').filter(|&(at, _)| {
        let before = query.text[..at].trim_end_matches(is_name);
        before.len() < at && before.ends_with('.')
    });
    query.parts > LEAST || words.any(|word| GUARDS.contains(&word)) || calls.next().is_some()
}

/// Returns a query with inner joins in place of outer ones, whose columns the planner does not take for constants.
fn all_inner(query: &str) -> String {
    let kinds = ["LEFT", "RIGHT", "FULL"].into_iter();
    kinds.fold(query.to_owned(), |text, kind| {
        renamed(&text, kind, "INNER").0
    })
}
