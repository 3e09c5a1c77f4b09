//! Makes the bound that follows from one condition on a time, if it is right and of use.

use crate::pg::catalog::function;
use crate::pg::catalog::function::Executable;
use crate::pg::catalog::scan::dependents;
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{
    as_node, call, compare, constant, copy, int8, list, timestamptz, written,
};
use crate::time_predicates::function::{Bound, Bounds};
use crate::time_predicates::predicate::{self, Candidate};
use crate::time_predicates::proof;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

const LESS_EQUAL: u32 = pg_sys::BTLessEqualStrategyNumber;
const GREATER_EQUAL: u32 = pg_sys::BTGreaterEqualStrategyNumber;

/// MIN_TIMESTAMP, and the one before END_TIMESTAMP: see datatype/timestamp.h.
const FIRST_TIMESTAMP: pg_sys::TimestampTz = -211_813_488_000_000_000;
const LAST_TIMESTAMP: pg_sys::TimestampTz = 9_223_371_331_200_000_000 - 1;

/// The table that is being planned.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Planning {
    pub root: *mut pg_sys::PlannerInfo,
    pub table: *mut pg_sys::RelOptInfo,
    pub entry: *mut pg_sys::RangeTblEntry,
}

/// A bound of an id.
pub struct Bounding {
    pub comparison: *mut pg_sys::Node,
    pub column: pg_sys::AttrNumber,
    /// The side on which it bounds the id: from below or from above.
    side: u32,
    /// No id beyond this one is within it, if that is known and it is tested as soon as any condition.
    within: Option<i64>,
}

impl Bounding {
    /// Returns whether this one says nothing that another one of the same call does not say.
    pub fn follows_from(&self, other: &Self) -> bool {
        let (Some(end), Some(bound)) = (self.within, other.within) else {
            return false;
        };
        (self.column, self.side) == (other.column, other.side)
            && if self.side == LESS_EQUAL {
                bound <= end
            } else {
                bound >= end
            }
    }
}

/// The bounds that follow from a condition.
pub struct Derived {
    pub bound: Bounding,
    /// The ends of all times, where the function refuses ids beyond them. So it is never called with such an id, and no plan
    /// fails that did not before.
    pub ends: Vec<Bounding>,
    /// True if the condition also follows from the bounds, so that it does not need to be tested.
    pub is_equivalent: bool,
}

/// The operators of dates and timestamps: see pg_opfamily.dat.
const DATETIME_OPERATORS: pg_sys::Oid = pg_sys::Oid::from_u32(434);

/// Returns the bound that a comparison of a time is, and on which side of the id.
fn bound(found: &Candidate) -> Option<(Bound, u32)> {
    const LESS: u32 = pg_sys::BTLessStrategyNumber;
    const GREATER: u32 = pg_sys::BTGreaterStrategyNumber;
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let strategy = unsafe { pg_sys::get_op_opfamily_strategy(found.operator, DATETIME_OPERATORS) };
    match (strategy.unsigned_abs(), found.commuted) {
        (LESS, false) | (GREATER, true) => Some((Bound::Before, LESS_EQUAL)),
        (LESS_EQUAL, false) | (GREATER_EQUAL, true) => Some((Bound::AtOrBefore, LESS_EQUAL)),
        (GREATER_EQUAL, false) | (LESS_EQUAL, true) => Some((Bound::AtOrAfter, GREATER_EQUAL)),
        (GREATER, false) | (LESS, true) => Some((Bound::After, GREATER_EQUAL)),
        _ => None,
    }
}

impl Planning {
    /// Returns the bound that follows from a comparison, if that is right and of use.
    ///
    /// # Safety
    /// Of the planner's nodes, in whose memory this runs.
    pub unsafe fn derived(self, found: &Candidate) -> Option<Derived> {
        // SAFETY: as the caller says.
        unsafe {
            let bounds = Bounds::of(found.function)?;
            let is_fixed = !pg_sys::contain_var_clause(found.with)
                && !pg_sys::contain_subplans(found.with)
                && !pg_sys::contain_volatile_functions(found.with);
            let settings: Option<Vec<&[u8]>> = found.others().map(|node| constant(node)).collect();
            if !is_fixed || !(found.function.is_ordered)(&settings?) {
                return None;
            }
            let (bound, side) = bound(found)?;
            let conversion = bounds.conversion(pg_sys::exprType(found.with))?;
            if found.function.is_of_version_7
                && !proof::says_version_7(self.entry, found.column, bounds.versions)
            {
                return None;
            }
            let is_equivalent =
                found.function.is_exact && self.may_call(bounds.time) && !self.needs(bounds.time);
            // Where it costs less, what stays is tested before its own bound.
            let is_soon = is_equivalent || conversion.is_none();
            let bounding = |side, value, within| {
                Some(Bounding {
                    comparison: compare(self.operator(found, side)?, copy(found.id), value),
                    column: found.column,
                    side,
                    within,
                })
            };
            let (mut ends, mut within) = (Vec::new(), None);
            if found.function.is_partial {
                for strategy in [GREATER_EQUAL, LESS_EQUAL] {
                    let (last, furthest) = self.ends(found, bounds, strategy)?;
                    if strategy == side {
                        within = int8(furthest).filter(|_| is_soon);
                    }
                    if int8(last) != Some(i64::MAX) {
                        ends.push(bounding(strategy, last, int8(last))?);
                    }
                }
            }
            let called = bounds.functions[bound as usize];
            let value = self.call(found, called, found.with, conversion)?;
            let bound = bounding(side, value, int8(value).or(within))?;
            if is_equivalent {
                // A plan without the function stays only as long as the function can be called.
                pg_sys::record_plan_function_dependency(self.root, bounds.time);
            }
            Some(Derived {
                bound,
                ends,
                is_equivalent,
            })
        }
    }

    /// Returns the last id in a direction that has a time, and the last that is within any bound: some layouts have ids
    /// of times after the last timestamp.
    unsafe fn ends(
        self,
        found: &Candidate,
        bounds: Bounds,
        strategy: u32,
    ) -> Option<(*mut pg_sys::Node, *mut pg_sys::Node)> {
        let (end, last, infinity) = if strategy == LESS_EQUAL {
            (Bound::AtOrBefore, LAST_TIMESTAMP, pg_sys::TimestampTz::MAX)
        } else {
            (Bound::AtOrAfter, FIRST_TIMESTAMP, pg_sys::TimestampTz::MIN)
        };
        // SAFETY: nodes and memory of the planner's.
        let of =
            |at| unsafe { self.call(found, bounds.functions[end as usize], timestamptz(at), None) };
        Some((of(last)?, of(infinity)?))
    }

    /// Returns whether PostgreSQL forgets the default partition if there is a bound: releases of 15 and 16, where a part of
    /// another condition is that a column is not null.
    ///
    /// # Safety
    /// Of the planner's structures.
    pub unsafe fn forgets(self) -> bool {
        // SAFETY: structures of the planner's. The conditions of a policy are lists by now.
        unsafe {
            let has_part = |condition: *mut pg_sys::Node| {
                as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr).is_some()
                    && written(condition.cast(), ":nulltesttype 1")
            };
            cfg!(any(feature = "pg15", feature = "pg16"))
                && !(*self.table).part_scheme.is_null()
                && (predicate::any((*(*self.root).parse).jointree.cast(), &mut &has_part)
                    || nodes((*self.entry).securityQuals)
                        .any(|policy| nodes(policy.cast()).any(has_part)))
        }
    }

    /// Returns whether a condition on a function can be useful to the planner itself, which finds such an expression in
    /// indexes, their predicates, keys of partitions and constraints of children. For a table with children, no table
    /// at all can have one: a hypertable has thousands of children, and the planner opens only those that it reads.
    unsafe fn needs(self, function: pg_sys::Oid) -> bool {
        // SAFETY: structures of the planner's.
        unsafe {
            let calls = format!(":funcid {} ", function.to_u32());
            nodes((*self.table).indexlist).any(|index| {
                let index = &*index.cast::<pg_sys::IndexOptInfo>();
                written(index.indexprs.cast(), &calls) || written(index.indpred.cast(), &calls)
            }) || ((*self.entry).inh && dependents::are_expressions(function))
        }
    }

    /// Returns the operator that compares ids, if it can be used.
    unsafe fn operator(self, found: &Candidate, strategy: u32) -> Option<pg_sys::Oid> {
        // SAFETY: lookups in the catalogs, inside a transaction.
        unsafe {
            let id = pg_sys::exprType(found.id);
            let order = pg_sys::lookup_type_cache(id, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let operator = pg_sys::get_opfamily_member((*order).btree_opf, id, id, strategy as i16);
            // Under row security, only operators that cannot leak search an index.
            let is_free = (*self.entry).securityQuals.is_null()
                || pg_sys::get_func_leakproof(pg_sys::get_opcode(operator));
            (operator != pg_sys::InvalidOid && is_free).then_some(operator)
        }
    }

    /// Returns the call of a bound, or its value if that is constant; none if the user may not call it, or the
    /// conversion of its time.
    unsafe fn call(
        self,
        found: &Candidate,
        bound: pg_sys::Oid,
        at: *mut pg_sys::Node,
        conversion: Option<pg_sys::Oid>,
    ) -> Option<*mut pg_sys::Node> {
        if !self.may_call(bound) || !conversion.is_none_or(|called| self.may_call(called)) {
            return None;
        }
        // SAFETY: nodes and memory of the planner's.
        unsafe {
            let at = match conversion {
                Some(called) => call(called, pg_sys::TIMESTAMPTZOID, list([copy(at)])),
                None => copy(at),
            };
            let others = found.others().map(|node| copy(node));
            let arguments = list([at].into_iter().chain(others));
            let value = call(bound, pg_sys::exprType(found.id), arguments);
            Some(pg_sys::eval_const_expressions(self.root, value))
        }
    }

    /// Returns whether the user may call a function. If not all roles may, another role makes a plan of its own.
    fn may_call(self, called: pg_sys::Oid) -> bool {
        let executable = function::executable(called);
        if executable == Executable::ByUser {
            // SAFETY: the planner's own structure.
            unsafe { (*(*self.root).glob).dependsOnRole = true };
        }
        executable != Executable::No
    }
}
