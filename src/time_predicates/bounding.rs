//! Makes the bounds that follow from one condition on a time, if they are right and useful.

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
use crate::time_predicates::span::Span;
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
    /// The column, and whether the bound is from below or from above.
    side: (pg_sys::AttrNumber, u32),
    /// An id beyond which none is within the bound, if it is known and the bound is tested as early as any condition.
    within: Option<i64>,
}

impl Bounding {
    /// Returns whether another bound implies this one. The other one can be of a layout with other ends.
    pub fn follows_from(&self, other: &Self) -> bool {
        let (Some(end), Some(bound)) = (self.within, other.within) else {
            return false;
        };
        self.side == other.side
            && if self.side.1 == LESS_EQUAL {
                bound <= end
            } else {
                bound >= end
            }
    }
}

/// The bounds that follow from a condition.
pub struct Derived {
    pub bounds: Vec<Bounding>,
    /// The ends of all times, if the function refuses ids beyond them. They keep the function from being called with
    /// such an id, so that no plan fails that did not fail before.
    pub ends: Vec<Bounding>,
    /// True if the condition also follows from the bounds, so that it does not need to be tested.
    pub is_equivalent: bool,
}

impl Planning {
    /// Returns the bounds that follow from a comparison, if they are right and useful.
    ///
    /// # Safety
    /// The nodes are the planner's, in whose memory this runs.
    pub unsafe fn bounds(self, found: &Candidate) -> Option<Derived> {
        // SAFETY: as the caller says.
        unsafe {
            let bounds = Bounds::of(found.function)?;
            let is_fixed = !pg_sys::contain_var_clause(found.with)
                && !pg_sys::contain_subplans(found.with)
                && !pg_sys::contain_volatile_functions(found.with);
            let settings: Option<Vec<&[u8]>> = found.others().map(|node| constant(node)).collect();
            if !is_fixed || !(found.function.is_ordered)(&settings?) || self.forgets() {
                return None;
            }
            let span = Span::of(found)?;
            let conversion = bounds.conversion(span.of)?;
            if found.function.is_of_version_7
                && !proof::says_version_7(self.entry, found.column, bounds.versions)
            {
                return None;
            }
            let is_equivalent = found.function.is_exact
                && span.says_all
                && self.may_call(bounds.time)
                && !self.needs(bounds.time);
            // A cheaper condition that stays is tested before its own bounds.
            let is_soon =
                is_equivalent || (conversion.is_none() && span.of != pg_sys::TSTZRANGEOID);
            let mut derived = Derived {
                bounds: Vec::new(),
                ends: Vec::new(),
                is_equivalent,
            };
            for (strategy, bound) in [(GREATER_EQUAL, span.lower), (LESS_EQUAL, span.upper)] {
                let operator = self.operator(found, strategy)?;
                let bounding = |value, within| Bounding {
                    comparison: compare(operator, copy(found.id), value),
                    side: (found.column, strategy),
                    within,
                };
                let mut within = None;
                if found.function.is_partial {
                    let (last, furthest) = self.ends(found, bounds, strategy)?;
                    within = int8(furthest).filter(|_| is_soon);
                    if int8(last) != Some(i64::MAX) {
                        derived.ends.push(bounding(last, int8(last)));
                    }
                }
                if let Some((bound, at)) = bound {
                    let called = bounds.functions[bound as usize];
                    let value = self.call(found, called, at, conversion)?;
                    derived.bounds.push(bounding(value, int8(value).or(within)));
                }
            }
            if is_equivalent {
                // A plan without the function stays only as long as the function can be called.
                pg_sys::record_plan_function_dependency(self.root, bounds.time);
            }
            Some(derived)
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

    /// Returns whether PostgreSQL forgets the default partition if there is a bound: releases of 15 and 16 do if a part
    /// of another condition is that a column is not null.
    unsafe fn forgets(self) -> bool {
        // SAFETY: structures of the planner's. The conditions of a policy are lists by now.
        unsafe {
            let has_part = |condition: *mut pg_sys::Node| {
                as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr).is_some()
                    && written(condition.cast(), ":nulltesttype 1")
            };
            cfg!(any(feature = "pg15", feature = "pg16"))
                && !(*self.table).part_scheme.is_null()
                && (predicate::any((*(*self.root).parse).jointree.cast(), &has_part)
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
