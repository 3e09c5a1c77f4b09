//! The times for which a condition is true.

use crate::pg::datum::node::{call, coalesce, copy, list, timestamptz};
use crate::time_predicates::function::Bound;
use crate::time_predicates::predicate::{Candidate, DATETIME_OPERATORS};
use pgrx::pg_sys;

/// Strategies of a B-tree.
const LESS: u32 = pg_sys::BTLessStrategyNumber;
const LESS_EQUAL: u32 = pg_sys::BTLessEqualStrategyNumber;
const EQUAL: u32 = pg_sys::BTEqualStrategyNumber;
const GREATER_EQUAL: u32 = pg_sys::BTGreaterEqualStrategyNumber;
const GREATER: u32 = pg_sys::BTGreaterStrategyNumber;

/// The times for which a condition is true: between two values, either of which can be missing.
pub struct Span {
    pub lower: Option<(Bound, *mut pg_sys::Node)>,
    pub upper: Option<(Bound, *mut pg_sys::Node)>,
    /// The type of the value that the time is compared with.
    pub of: pg_sys::Oid,
    /// True if the condition holds for all of them, and the planner infers no other from it, as from an equality.
    pub says_all: bool,
}

impl Span {
    /// Returns the times of a condition on a value, a range, or on the first column of a row.
    ///
    /// # Safety
    /// The nodes are the planner's, in whose memory this runs.
    pub unsafe fn of(found: &Candidate) -> Option<Self> {
        // SAFETY: as the caller says.
        let (strategy, of) = unsafe { strategy(found)? };
        let with = found.with;
        let (lower, upper) = match (strategy, found.is_row) {
            (LESS, false) => (None, Some((Bound::Before, with))),
            (EQUAL, false) => (
                Some((Bound::AtOrAfter, with)),
                Some((Bound::AtOrBefore, with)),
            ),
            (GREATER, false) => (Some((Bound::After, with)), None),
            // Among equal times the other columns of a row decide.
            (LESS | LESS_EQUAL, _) => (None, Some((Bound::AtOrBefore, with))),
            (GREATER | GREATER_EQUAL, _) => (Some((Bound::AtOrAfter, with)), None),
            // A range that is empty or has no end says less than the condition there.
            (0, false) if of == pg_sys::TSTZRANGEOID => {
                // SAFETY: as the caller says. Both functions return the type of the elements, or NULL.
                let end = |of, infinity| unsafe {
                    let of = pg_sys::Oid::from_u32(of);
                    let end = call(of, pg_sys::TIMESTAMPTZOID, list([copy(with)]));
                    coalesce(end, timestamptz(infinity))
                };
                let lower = end(pg_sys::F_LOWER_ANYRANGE, pg_sys::TimestampTz::MIN);
                let upper = end(pg_sys::F_UPPER_ANYRANGE, pg_sys::TimestampTz::MAX);
                (
                    Some((Bound::AtOrAfter, lower)),
                    Some((Bound::AtOrBefore, upper)),
                )
            }
            _ => return None,
        };
        Some(Self {
            lower,
            upper,
            of,
            says_all: strategy != 0 && strategy != EQUAL && !found.is_row,
        })
    }
}

/// Returns which comparison of a time a condition is, as seen from the time, and the type that the time is compared
/// with; 0 for a range that contains it.
unsafe fn strategy(found: &Candidate) -> Option<(u32, pg_sys::Oid)> {
    // SAFETY: lookups in the catalogs, inside a transaction; types are written by the call.
    unsafe {
        let contains = if found.commuted {
            pg_sys::OID_RANGE_CONTAINS_ELEM_OP
        } else {
            pg_sys::OID_RANGE_ELEM_CONTAINED_OP
        };
        if found.operator.to_u32() == contains {
            return Some((0, pg_sys::exprType(found.with)));
        }
        let strategy = pg_sys::get_op_opfamily_strategy(found.operator, DATETIME_OPERATORS);
        let (mut left, mut right) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::op_input_types(found.operator, &raw mut left, &raw mut right);
        let (time, with) = if found.commuted {
            (right, left)
        } else {
            (left, right)
        };
        let strategy = match (strategy.unsigned_abs(), found.commuted) {
            (0, _) => return None,
            (LESS, true) => GREATER,
            (LESS_EQUAL, true) => GREATER_EQUAL,
            (GREATER_EQUAL, true) => LESS_EQUAL,
            (GREATER, true) => LESS,
            (strategy, _) => strategy,
        };
        (time == pg_sys::TIMESTAMPTZOID).then_some((strategy, with))
    }
}
