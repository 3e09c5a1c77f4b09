//! Checks that new ids fail, and expressions that raise an error for them, as a cast to integer does: of indexes,
//! statistics, generated columns, policies and partition keys.
//!
//! An expression of the column alone is evaluated for an id, any other one is planned with it: the planner evaluates what is
//! constant then, even where a condition spares it that. An error that an id of before raises as well is not of the new ids.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::partitions::{self, is_never};
use crate::adopt::convert::checks::rebound::{self, Key};
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::transaction;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// An id of before.
pub const SMALL: i64 = 1;

/// An index, a check or another object of a table, whose expressions are evaluated for ids.
#[derive(Debug, Deserialize)]
struct Evaluated {
    relation: u32,
    /// What it is, and its name.
    what: String,
    key: Key,
    /// The statement that drops it; none of a partition key.
    remedy: Option<String>,
    /// The quoted names that the row has in the expressions.
    names: Vec<String>,
    /// That of a check, which must not be false, also of a generated column that is not null.
    text: Option<String>,
    expressions: Option<String>,
    predicate: Option<String>,
    /// Whether it is evaluated: the expressions are of the column alone, and have the same value each time.
    is_alone: bool,
    /// Whether it is of the whole row, or of a column that is generated of the id.
    is_indirect: bool,
    /// Whether a condition can spare the id what the planner evaluates for it.
    is_guarded: bool,
}

/// What an object says of a row.
enum Answer {
    Takes,
    Refuses,
    /// The message of an error.
    Raises(String),
    /// It has values of a type of another role, and is not asked.
    Unsure,
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

/// Returns what refuses an id, and whether it does so for certain. What could call for it what it calls for no other is not
/// evaluated, but for checks.
fn refusals(table: &TargetTable, id: i64) -> Vec<(bool, Blocker)> {
    let columns = table.members();
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
    let query = include_str!("../../../../sql/adopt/convert_new_ids.sql");
    let found: Option<Vec<Evaluated>> = sql::read_now(query, &[tables.into(), numbers.into()]);
    let found = found.unwrap_or_default();
    let others = rebound::objects(&columns);
    let [new, small] = [id, SMALL].map(|id| Rows::with(&columns, id));
    let refused = |one: &Evaluated| {
        let unsure = |is_unsure: bool| is_unsure.then(|| (false, Blocker::unsure(&one.what)));
        let is_check = one.key.0 == pg_sys::ConstraintRelationId.to_u32();
        if !is_check && others.contains(&one.key) {
            return unsure(true);
        }
        let (is_certain, detail) = match (one.takes(table, &new), &one.text) {
            (Answer::Refuses, Some(text)) => {
                (true, format!("It is {text}, and an id like {id} fails it."))
            }
            (Answer::Takes | Answer::Refuses, _) => return unsure(one.is_indirect),
            (Answer::Unsure, _) => return unsure(true),
            (Answer::Raises(error), _) => {
                if let Answer::Raises(_) = one.takes(table, &small) {
                    return unsure(one.is_indirect || new.lacks(one.relation));
                }
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
    /// Evaluates or plans the expressions for a row. What functions write is undone.
    fn takes(&self, table: &TargetTable, rows: &Rows) -> Answer {
        let Some(row) = rows.query(self.relation) else {
            return Answer::Takes;
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
            let planned = access.plan(&format!("SELECT {value} FROM {from}"));
            planned.map(|_| None)
        });
        let takes = match answer {
            Err(error) => return Answer::Raises(transaction::message(&error)),
            Ok(Err(_)) => return Answer::Unsure,
            Ok(Ok(takes)) => takes,
        };
        if takes.unwrap_or_else(|| self.text.is_none() || !is_never(table, &value, &from)) {
            Answer::Takes
        } else {
            Answer::Refuses
        }
    }
}
