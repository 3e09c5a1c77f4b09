//! Goes through the conditions of a query, and puts bounds in place of them or beside them.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::list;
use crate::time_predicates::bounding::{Bounding, Planning};
use crate::time_predicates::estimate;
use crate::time_predicates::predicate::{self, Candidate};
use pgrx::pg_sys;
use pgrx::pg_sys::{AttrNumber, NodeTag};

/// A call of a function of the time of a column.
type Call = (AttrNumber, *mut pg_sys::FuncExpr);

impl Planning {
    /// Returns the columns that nothing is derived for: those whose time is compared by two calls, or by a policy. The planner
    /// takes bounds for ends of one range, but not conditions on different expressions, nor those of a policy, which stay.
    ///
    /// # Safety
    /// The planner has called its hook for the table.
    pub unsafe fn columns_left(self, tree: *mut pg_sys::Node) -> Vec<AttrNumber> {
        let mut calls = Vec::<Call>::new();
        // SAFETY: as the caller says. The conditions of a policy are lists by now.
        unsafe {
            let of = |condition| Candidate::of(condition, (*self.table).relid);
            let call = |condition| of(condition).map(|found| (found.column, found.call));
            predicate::any(tree, &mut |condition| {
                calls.extend(call(condition));
                false
            });
            let is_second = |(column, call): &Call| {
                let first = calls.iter().find(|(of, _)| of == column);
                first.is_some_and(|(_, first)| !pg_sys::equal(first.cast(), call.cast()))
            };
            let policies = nodes((*self.entry).securityQuals).flat_map(|all| nodes(all.cast()));
            let seconds = calls.iter().copied().filter(is_second);
            let found = seconds.chain(policies.filter_map(call));
            found.map(|(column, _)| column).collect()
        }
    }

    /// Visits a part of the join tree, and returns whether the table is in it. Nothing is derived for some columns.
    ///
    /// A bound is true wherever its condition is, so it is right in every kind of join. But it is useful only where the
    /// planner tests it on rows of the table alone.
    ///
    /// # Safety
    /// The planner has called its hook for the table.
    pub unsafe fn visit(self, tree: *mut pg_sys::Node, but: &[AttrNumber]) -> bool {
        // SAFETY: the tag says what a node is. Conditions are lists by now.
        unsafe {
            match tree.as_ref().map(|node| node.type_) {
                Some(NodeTag::T_RangeTblRef) => {
                    let own = (*self.table).relid;
                    (*tree.cast::<pg_sys::RangeTblRef>()).rtindex as pg_sys::Index == own
                }
                Some(NodeTag::T_FromExpr) => {
                    let from = &mut *tree.cast::<pg_sys::FromExpr>();
                    let is_in = nodes(from.fromlist)
                        .fold(false, |is_in, part| is_in | self.visit(part, but));
                    if is_in {
                        from.quals = self.extend(from.quals.cast(), but).cast();
                    }
                    is_in
                }
                Some(NodeTag::T_JoinExpr) => {
                    let join = &mut *tree.cast::<pg_sys::JoinExpr>();
                    let (left, right) = (self.visit(join.larg, but), self.visit(join.rarg, but));
                    let tests_alone = match join.jointype {
                        pg_sys::JoinType::JOIN_INNER | pg_sys::JoinType::JOIN_SEMI => left || right,
                        // Rows of the left side are kept whether or not a condition is true.
                        pg_sys::JoinType::JOIN_LEFT | pg_sys::JoinType::JOIN_ANTI => right,
                        _ => false,
                    };
                    if tests_alone {
                        join.quals = self.extend(join.quals.cast(), but).cast();
                    }
                    left || right
                }
                _ => false,
            }
        }
    }

    /// Returns conditions with their bounds before them, or instead of them.
    unsafe fn extend(self, conditions: *mut pg_sys::List, but: &[AttrNumber]) -> *mut pg_sys::List {
        // SAFETY: a list of conditions of the planner's, in whose memory this runs.
        unsafe {
            let (mut ends, mut bounds) = (Vec::<Bounding>::new(), Vec::<Bounding>::new());
            let mut rest = Vec::new();
            for condition in nodes(conditions) {
                let found = Candidate::of(condition, (*self.table).relid)
                    .filter(|found| !but.contains(&found.column));
                let derived = found.and_then(|found| Some((found.call, self.derived(&found)?)));
                let Some((call, derived)) = derived else {
                    rest.push(condition);
                    continue;
                };
                if !derived.is_equivalent {
                    estimate::note(&mut (*call).location);
                    rest.push(condition);
                }
                let bound = derived.bound.comparison.cast::<pg_sys::OpExpr>();
                estimate::note(&mut (*bound).location);
                if ends.iter().all(|end| end.column != derived.bound.column) {
                    ends.extend(derived.ends);
                }
                bounds.push(derived.bound);
            }
            ends.retain(|end| !bounds.iter().any(|bound| end.follows_from(bound)));
            let ends = ends.iter().map(|end| estimate::uncounted(end.comparison));
            // The first bound has the planner ask for statistics, so that what has a note is estimated after it.
            let bounds = bounds.iter().map(|bound| bound.comparison);
            pg_sys::list_concat(list(bounds.chain(ends)), list(rest))
        }
    }
}
