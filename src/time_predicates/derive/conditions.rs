//! Goes through the conditions of a query, and puts bounds in their place, or beside them.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{any_of, as_node, elements};
use crate::time_predicates::derive::bounding::{Derived, Planning};
use crate::time_predicates::key::Table;
use crate::time_predicates::predicate::{
    Candidate, Form, NotNull, candidate, candidates, not_null,
};
use crate::time_predicates::{estimate, setting};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// More elements of an array are left alone: each is a scan of the index.
const MOST_ELEMENTS: usize = 100;

/// Derives bounds from the conditions of a query on the time of an id of the table.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn derive(
    root: *mut pg_sys::PlannerInfo,
    planned: *mut pg_sys::RelOptInfo,
    relation: pg_sys::Oid,
    has_children: bool,
) {
    if !setting::is_on() {
        return;
    }
    let table = Table {
        planned,
        relation,
        has_children,
    };
    // SAFETY: as the caller says.
    unsafe {
        Planning { root, table }.visit((*(*root).parse).jointree.cast());
    }
}

impl Planning {
    /// Visits a part of the join tree, and returns whether the table is in it.
    ///
    /// A bound is true wherever its condition is. So it is right in every kind of join. But it is of use only where the
    /// planner tests it on rows of the table alone.
    unsafe fn visit(self, tree: *mut pg_sys::Node) -> bool {
        // SAFETY: the tag says what a node is. Conditions are lists by now.
        unsafe {
            let own = (*self.table.planned).relid;
            match tree.as_ref().map(|node| node.type_) {
                Some(NodeTag::T_RangeTblRef) => {
                    (*tree.cast::<pg_sys::RangeTblRef>()).rtindex as pg_sys::Index == own
                }
                Some(NodeTag::T_FromExpr) => {
                    let from = &mut *tree.cast::<pg_sys::FromExpr>();
                    let mut is_in = false;
                    for part in nodes(from.fromlist) {
                        is_in |= self.visit(part);
                    }
                    if is_in {
                        from.quals = self.extend(from.quals.cast(), false).cast();
                    }
                    is_in
                }
                Some(NodeTag::T_JoinExpr) => {
                    let join = &mut *tree.cast::<pg_sys::JoinExpr>();
                    let (left, right) = (self.visit(join.larg), self.visit(join.rarg));
                    let tests_alone = match join.jointype {
                        pg_sys::JoinType::JOIN_INNER | pg_sys::JoinType::JOIN_SEMI => left || right,
                        // Rows of the left side are kept whether or not a condition is true.
                        pg_sys::JoinType::JOIN_LEFT | pg_sys::JoinType::JOIN_ANTI => right,
                        _ => false,
                    };
                    if tests_alone {
                        join.quals = self.extend(join.quals.cast(), false).cast();
                    }
                    left || right
                }
                _ => false,
            }
        }
    }

    /// Returns conditions with their bounds before them, or instead of them. Inner ones are a part of one condition.
    unsafe fn extend(self, conditions: *mut pg_sys::List, is_inner: bool) -> *mut pg_sys::List {
        // SAFETY: a list of conditions of the planner's, in whose memory this runs.
        unsafe {
            pg_sys::check_stack_depth();
            let found: Vec<(*mut pg_sys::Node, Derived)> = nodes(conditions)
                .map(|condition| {
                    let derived = self.derived(condition, is_inner);
                    (condition, derived.unwrap_or_default())
                })
                .collect();
            let all = || found.iter().flat_map(|(_, derived)| &derived.bounds);
            let mut extended = std::ptr::null_mut();
            for (condition, derived) in &found {
                for bound in &derived.bounds {
                    let comparison = bound.comparison.cast();
                    // A copy of the query, as for min() and max(), can have it.
                    if !all().any(|other| bound.follows_from(other))
                        && !pg_sys::list_member(conditions, comparison)
                        && !pg_sys::list_member(extended, comparison)
                    {
                        extended = pg_sys::lappend(extended, comparison);
                    }
                }
                if let Some(any) = derived.any {
                    extended = pg_sys::lappend(extended, any.cast());
                }
                if derived.is_equivalent {
                    continue;
                }
                if !derived.bounds.is_empty() {
                    estimate::note(*condition);
                }
                extended = pg_sys::lappend(extended, condition.cast());
            }
            extended
        }
    }

    /// Returns what follows from a condition.
    unsafe fn derived(self, condition: *mut pg_sys::Node, is_inner: bool) -> Option<Derived> {
        // SAFETY: a node of the planner's, whose tag says what it is.
        unsafe {
            let own = (*self.table.planned).relid;
            if let Some(parts) = as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) {
                let found = candidates(condition, own);
                if found.is_empty() {
                    return None;
                }
                if found
                    .iter()
                    .any(|found| self.forgets(found, NotNull::Alone))
                    || !nodes((*parts).args).all(|part| self.is_about_table(part))
                {
                    return None;
                }
                // One of them is true: in each, bounds have the place that they would have alone.
                let extended = nodes((*parts).args).map(|part| {
                    let all = self.extend(pg_sys::make_ands_implicit(part.cast()), true);
                    pg_sys::make_ands_explicit(all).cast()
                });
                let any = Some(any_of(extended));
                return Some(Derived {
                    bounds: Vec::new(),
                    any,
                    is_equivalent: true,
                });
            }
            let found = candidate(condition, own)?;
            if found.form != Form::Any {
                let forgets = self.forgets(&found, NotNull::Within);
                return (!forgets).then(|| self.bounds(&found, is_inner)).flatten();
            }
            if self.forgets(&found, NotNull::Alone) {
                return None;
            }
            let with =
                elements(found.with).filter(|all| (1..=MOST_ELEMENTS).contains(&all.len()))?;
            let each = with.into_iter().map(|with| {
                let form = Form::Value;
                self.bounds(
                    &Candidate {
                        with,
                        form,
                        ..found.clone()
                    },
                    true,
                )
            });
            let each: Vec<Derived> = each.collect::<Option<_>>()?;
            Some(Derived::any(each))
        }
    }

    /// Returns whether a part of an OR is about the table. Beside one that is not, bounds find no rows, and would only be
    /// evaluated where the part is there to prevent that: `since = '' OR snowflake_time(id) >= since::timestamptz`.
    unsafe fn is_about_table(self, part: *mut pg_sys::Node) -> bool {
        // SAFETY: a node of the planner's, in whose memory this runs.
        unsafe {
            let tables = pg_sys::pull_varnos(self.root, part);
            pg_sys::bms_is_member((*self.table.planned).relid as i32, tables)
        }
    }

    /// Returns whether PostgreSQL forgets the default partition if bounds follow from a condition: releases of 15 and 16, where
    /// the query says as much as `least` of that the id is not null. `id IS NOT NULL AND (id = 5 OR id = 7)` is enough for
    /// that, as min() and max() write it; so is a part of an OR, beside a bound.
    unsafe fn forgets(self, found: &Candidate, least: NotNull) -> bool {
        // SAFETY: structures of the planner's; the table has its entry.
        unsafe {
            let planned = &*self.table.planned;
            if !cfg!(any(feature = "pg15", feature = "pg16")) || planned.part_scheme.is_null() {
                return false;
            }
            let entry = *(*self.root).simple_rte_array.add(planned.relid as usize);
            [
                (*(*self.root).parse).jointree.cast(),
                (*entry).securityQuals.cast(),
            ]
            .into_iter()
            .any(|tree| not_null(tree, planned.relid, found.column) >= least)
        }
    }
}
