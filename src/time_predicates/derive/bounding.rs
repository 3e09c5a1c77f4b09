//! Makes the bounds that follow from one condition on a time, if they are right and of use.

use crate::pg::catalog::function;
use crate::pg::catalog::function::Executable;
use crate::pg::datum::node::{any_of, call, compare, constant, copy, int8, list, timestamptz};
use crate::time_predicates::function::{Bound, Bounds};
use crate::time_predicates::key::Table;
use crate::time_predicates::predicate::Candidate;
use crate::time_predicates::span::Span;
use crate::time_predicates::{key, proof};
use pgrx::pg_sys;

const LESS_EQUAL: u32 = pg_sys::BTLessEqualStrategyNumber;
const GREATER_EQUAL: u32 = pg_sys::BTGreaterEqualStrategyNumber;

/// MIN_TIMESTAMP, and the one before END_TIMESTAMP: see datatype/timestamp.h.
const FIRST_TIMESTAMP: pg_sys::TimestampTz = -211_813_488_000_000_000;
const LAST_TIMESTAMP: pg_sys::TimestampTz = 9_223_371_331_200_000_000 - 1;

/// What is being planned.
#[derive(Clone, Copy)]
pub(super) struct Planning {
    pub(super) root: *mut pg_sys::PlannerInfo,
    pub(super) table: Table,
}

/// A bound of an id.
pub(super) struct Bounding {
    pub(super) comparison: *mut pg_sys::Node,
    /// Of which column, and whether from below or from above.
    side: (pg_sys::AttrNumber, u32),
    /// It is that of all times of a layout.
    is_end: bool,
    /// Its value, if that is a constant number.
    at: Option<i64>,
}

impl Bounding {
    /// Returns whether this end says nothing that another bound does not say. That can be of a layout with other ends.
    pub(super) fn follows_from(&self, other: &Self) -> bool {
        let (Some(end), Some(bound)) = (self.at, other.at) else {
            return false;
        };
        let is_within = if self.side.1 == LESS_EQUAL {
            bound <= end
        } else {
            bound >= end
        };
        self.is_end && !other.is_end && self.side == other.side && is_within
    }

    fn is_same(&self, other: &Self) -> bool {
        // SAFETY: nodes of the planner's.
        unsafe { pg_sys::equal(self.comparison.cast(), other.comparison.cast()) }
    }
}

/// What follows from a condition.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) bounds: Vec<Bounding>,
    /// Several such bounds, of which some must be true.
    pub(super) any: Option<*mut pg_sys::Node>,
    /// The condition follows from the bounds as well, so that it does not need to be tested.
    pub(super) is_equivalent: bool,
}

impl Derived {
    /// Returns what follows if one of several conditions is true, of which each one has bounds.
    pub(super) unsafe fn any(mut each: Vec<Self>) -> Self {
        let is_equivalent = each.iter().all(|one| one.is_equivalent);
        let mut bounds = Vec::new();
        // What stays is tested before the others where it costs less, and not before the ends that all have.
        if !is_equivalent && let Some((first, others)) = each.split_first_mut() {
            let is_everywhere = |bound: &mut Bounding| {
                let has = |one: &Self| one.bounds.iter().any(|other| bound.is_same(other));
                others.iter().all(has)
            };
            bounds.extend(first.bounds.extract_if(.., is_everywhere));
            for one in others {
                one.bounds
                    .retain(|other| !bounds.iter().any(|bound| bound.is_same(other)));
            }
        }
        // With one without others, they say nothing.
        let says = each.iter().all(|one| !one.bounds.is_empty());
        // SAFETY: nodes of the planner's, in whose memory this runs.
        let any = says.then(|| unsafe {
            any_of(each.into_iter().map(|one| {
                let all = list(one.bounds.into_iter().map(|bound| bound.comparison));
                pg_sys::make_ands_explicit(all).cast()
            }))
        });
        Self {
            bounds,
            any,
            is_equivalent,
        }
    }
}

impl Planning {
    /// Returns the bounds that follow from a comparison, if that is right and of use.
    pub(super) unsafe fn bounds(self, found: &Candidate, is_inner: bool) -> Option<Derived> {
        // SAFETY: nodes of the planner's.
        unsafe {
            let bounds = Bounds::of(found.function)?;
            let is_fixed = !pg_sys::contain_var_clause(found.with)
                && !pg_sys::contain_subplans(found.with)
                && !pg_sys::contain_volatile_functions(found.with);
            let settings: Option<Vec<&[u8]>> =
                found.others.iter().map(|&node| constant(node)).collect();
            if !is_fixed || !(found.function.is_ordered)(&settings?) {
                return None;
            }
            let span = Span::of(found)?;
            let conversion = bounds.conversion(span.of)?;
            if let Some(condition) = &found.function.only_where
                && !proof::says(self.table, found.column, bounds.only_where, condition.value)
            {
                return None;
            }
            // Of an equality the planner infers others.
            let is_equivalent = found.function.is_exact
                && span.says_all
                && (is_inner || !span.is_equality)
                && self.may_call(bounds.time)
                && !key::needs(self.table, bounds.time);
            // Where it costs less, what stays is tested first, and within a condition also after a bound that is NULL: it
            // is not called for ids that have no time.
            let needs_ends = !is_equivalent
                && (is_inner || conversion.is_some() || span.of == pg_sys::TSTZRANGEOID);
            let side =
                |strategy, bound| self.side(found, bounds, strategy, bound, conversion, needs_ends);
            let (lower, upper) = (
                side(GREATER_EQUAL, span.lower)?,
                side(LESS_EQUAL, span.upper)?,
            );
            if is_equivalent {
                // A plan without the function stays only as long as it can be called.
                pg_sys::record_plan_function_dependency(self.root, bounds.time);
            }
            Some(Derived {
                bounds: lower.into_iter().chain(upper).collect(),
                any: None,
                is_equivalent,
            })
        }
    }

    /// Returns the bounds of one side; none if they must not be made.
    ///
    /// An end of all times is a bound as well, where the function refuses ids beyond it. So it is never called with such
    /// an id, and no plan fails that did not before. A bound that the condition gives does the same if no id beyond the
    /// end is within it and, where the condition stays, if it is tested before that and ends the test: if it costs no more,
    /// and is no part of a condition. There NULL, which a time without ids has for a bound, does not end it.
    unsafe fn side(
        self,
        found: &Candidate,
        bounds: Bounds,
        strategy: u32,
        bound: Option<(Bound, *mut pg_sys::Node)>,
        conversion: Option<pg_sys::Oid>,
        needs_ends: bool,
    ) -> Option<Vec<Bounding>> {
        // SAFETY: nodes of the planner's.
        unsafe {
            let operator = self.operator(found, strategy)?;
            let bounding = |value, is_end| Bounding {
                comparison: compare(operator, copy(found.id), value),
                side: (found.column, strategy),
                is_end,
                at: int8(value),
            };
            let mut side = Vec::new();
            if found.function.is_partial {
                let (end, last, infinity) = if strategy == LESS_EQUAL {
                    (Bound::AtOrBefore, LAST_TIMESTAMP, pg_sys::TimestampTz::MAX)
                } else {
                    (Bound::AtOrAfter, FIRST_TIMESTAMP, pg_sys::TimestampTz::MIN)
                };
                let end = bounds.function(end);
                let value = self.call(found, end, timestamptz(last))?;
                // Some layouts have ids of times after the last timestamp.
                let beyond = self.call(found, end, timestamptz(infinity))?;
                let is_passed = !pg_sys::equal(value.cast(), beyond.cast());
                if (bound.is_none() || needs_ends || is_passed) && int8(value) != Some(i64::MAX) {
                    side.push(bounding(value, !is_passed));
                }
            }
            if let Some((bound, at)) = bound {
                let at = self.converted(copy(at), conversion)?;
                let value = self.call(found, bounds.function(bound), at)?;
                side.push(bounding(value, false));
            }
            Some(side)
        }
    }

    /// Returns the operator that compares ids, if it is of use and can be used.
    unsafe fn operator(self, found: &Candidate, strategy: u32) -> Option<pg_sys::Oid> {
        // SAFETY: lookups in the catalogs, inside a transaction; the table has its entry.
        unsafe {
            let id = pg_sys::exprType(found.id);
            let order = pg_sys::lookup_type_cache(id, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let operator = pg_sys::get_opfamily_member((*order).btree_opf, id, id, strategy as i16);
            if operator == pg_sys::InvalidOid || !key::leads(self.table, found.column, operator) {
                return None;
            }
            // Under row security an index is searched only by what cannot leak.
            let entry = *(*self.root)
                .simple_rte_array
                .add((*self.table.planned).relid as usize);
            let is_free = (*entry).securityQuals.is_null()
                || pg_sys::get_func_leakproof(pg_sys::get_opcode(operator));
            is_free.then_some(operator)
        }
    }

    /// Returns a timestamptz of what a time is compared with; none if the user may not convert it.
    unsafe fn converted(
        self,
        at: *mut pg_sys::Node,
        conversion: Option<pg_sys::Oid>,
    ) -> Option<*mut pg_sys::Node> {
        let Some(conversion) = conversion else {
            return Some(at);
        };
        // SAFETY: a node of the planner's.
        self.may_call(conversion)
            .then(|| unsafe { call(conversion, pg_sys::TIMESTAMPTZOID, list([at])) })
    }

    /// Returns the call of a bound, or its value if that is constant; none if the user may not call it.
    unsafe fn call(
        self,
        found: &Candidate,
        bound: pg_sys::Oid,
        at: *mut pg_sys::Node,
    ) -> Option<*mut pg_sys::Node> {
        if !self.may_call(bound) {
            return None;
        }
        // SAFETY: nodes and memory of the planner's.
        unsafe {
            let others = found.others.iter().map(|&node| copy(node));
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
