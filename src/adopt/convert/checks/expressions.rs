//! Checks that new ids fail, and expressions that raise an error for them, as a cast to integer does: of indexes, triggers,
//! statistics, generated columns, policies and partition keys, and of views.
//!
//! An expression of the column alone is evaluated for an id, any other one is planned with it: the planner evaluates what is
//! constant then, even where a condition spares it that. An error that an id of before raises as well is not of the new ids.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::partitions::{self, is_never};
use crate::adopt::convert::checks::rebound::{self, Texts};
use crate::adopt::convert::recreated::Recreated;
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::adopt::convert::views;
use crate::pg::backend::transaction;
use crate::pg::catalog::{relation, sql};
use mint_core::adopt::rename::renamed;
use pgrx::pg_sys;
use serde::Deserialize;

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

/// An index, a check or another object of a table, whose expressions are evaluated for ids.
#[derive(Debug, Deserialize)]
struct Evaluated {
    relation: u32,
    /// What it is, and its name.
    what: String,
    /// The statement that drops it; none of a partition key.
    remedy: Option<String>,
    /// The quoted names that the row has in the expressions.
    names: Vec<String>,
    /// That of a check, which must not be false.
    text: Option<String>,
    expressions: Option<String>,
    predicate: Option<String>,
    /// Whether it is evaluated: the expressions are of the column alone, and have the same value each time.
    is_alone: bool,
    /// Whether a condition can spare the id what the planner evaluates for it.
    is_guarded: bool,
}

/// Checks that nothing of the table, of its domain and of the tables below refuses an id.
pub fn fail(table: &TargetTable, id: i64) -> Option<Blocker> {
    let mut found = refusals(table, id).into_iter();
    found.find_map(|(is_certain, blocker)| is_certain.then_some(blocker))
}

/// Returns what refuses an id unless other columns spare it.
pub fn doubts(table: &TargetTable, id: i64) -> Vec<String> {
    let found = refusals(table, id);
    let doubtful = found.iter().filter(|(is_certain, _)| !is_certain);
    doubtful.map(|(_, blocker)| blocker.doubt()).collect()
}

/// Returns what refuses an id, and whether it does so for certain. What could call for it what it calls for no other is left
/// out, but for checks.
fn refusals(table: &TargetTable, id: i64) -> Vec<(bool, Blocker)> {
    let columns = table.members();
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
    let query = include_str!("../../../../sql/adopt/convert_new_ids.sql");
    let found: Option<Vec<Evaluated>> = sql::read_now(query, &[tables.into(), numbers.into()]);
    let mut found = found.unwrap_or_default();
    if found.iter().any(|one| one.text.is_none())
        && !rebound::blockers(&columns, Texts::All).is_empty()
    {
        found.retain(|one| one.text.is_some());
    }
    let [new, small] = [id, SMALL].map(|id| Rows::with(&columns, id));
    let refused = |one: &Evaluated| {
        let (is_certain, detail) = match (one.takes(table, &new), &one.text) {
            (Ok(false), Some(text)) => {
                (true, format!("It is {text}, and an id like {id} fails it."))
            }
            (Ok(_), _) => return None,
            (Err(error), _) => {
                one.takes(table, &small).ok()?;
                let is_certain = one.is_alone || !one.is_guarded;
                let detail = format!("An id like {id} raises an error: {error}.");
                (is_certain, detail)
            }
        };
        if !partitions::reaches(table, one.relation, &new) {
            return None;
        }
        let unless = if is_certain {
            ""
        } else {
            " unless a condition spares them"
        };
        let remedy = one.remedy.as_ref();
        let remedy = remedy.map_or_else(String::new, |drop| format!("{drop}, or "));
        let blocker = Blocker::state(
            format!("{} refuses new ids{unless}", one.what),
            detail,
            format!("Use {remedy}a default whose ids it can have."),
        );
        Some((is_certain, blocker))
    };
    found.iter().filter_map(refused).collect()
}

impl Evaluated {
    /// Evaluates or plans the expressions for a row. Returns whether a check takes it, or the message of an error. What functions
    /// write is undone.
    fn takes(&self, table: &TargetTable, rows: &Rows) -> Result<bool, String> {
        let Some(row) = rows.query(self.relation) else {
            return Ok(true);
        };
        let all = self.expressions.as_deref().unwrap_or("0");
        let condition = self.predicate.as_deref().unwrap_or("true");
        let value = if self.text.is_some() {
            format!("({all}) IS NOT FALSE")
        } else {
            format!("num_nulls(CASE WHEN {condition} THEN num_nulls({all}) END) >= 0")
        };
        // The planner knows nothing of a subquery with OFFSET: conditions are evaluated before what they spare.
        let unknown = if self.is_alone { " OFFSET 0" } else { "" };
        let from: Vec<String> = self
            .names
            .iter()
            .map(|name| format!("({row}{unknown}) AS {name}"))
            .collect();
        let from = from.join(", ");
        let access = table.access();
        let answer = transaction::undone(|| {
            if self.is_alone {
                return access.evaluate::<bool>(&format!("{value} FROM {from}"));
            }
            access.plan(&format!("SELECT {value} FROM {from}"));
            None
        });
        let answer = answer.map_err(|error| transaction::message(&error))?;
        Ok(answer.unwrap_or_else(|| self.text.is_none() || !is_never(table, &value, &from)))
    }
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
            let planned = transaction::undone(|| table.access().plan(&all_inner(&query.text)));
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
