//! Goes through the conditions of a query, and puts bounds in place of them or beside them.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::list;
use crate::time_predicates::bounding::Planning;
use crate::time_predicates::estimate;
use crate::time_predicates::predicate::Candidate;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

impl Planning {
    /// Visits a part of the join tree, and returns whether the table is in it.
    ///
    /// A bound is true wherever its condition is, so it is right in every kind of join. But it is useful only where the
    /// planner tests it on rows of the table alone.
    ///
    /// # Safety
    /// The planner has called its hook for the table.
    pub unsafe fn visit(self, tree: *mut pg_sys::Node) -> bool {
        // SAFETY: the tag says what a node is. Conditions are lists by now.
        unsafe {
            match tree.as_ref().map(|node| node.type_) {
                Some(NodeTag::T_RangeTblRef) => {
                    let own = (*self.table).relid;
                    (*tree.cast::<pg_sys::RangeTblRef>()).rtindex as pg_sys::Index == own
                }
                Some(NodeTag::T_FromExpr) => {
                    let from = &mut *tree.cast::<pg_sys::FromExpr>();
                    let is_in =
                        nodes(from.fromlist).fold(false, |is_in, part| is_in | self.visit(part));
                    if is_in {
                        from.quals = self.extend(from.quals.cast()).cast();
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
                        join.quals = self.extend(join.quals.cast()).cast();
                    }
                    left || right
                }
                _ => false,
            }
        }
    }

    /// Returns conditions with their bounds before them, or instead of them.
    unsafe fn extend(self, conditions: *mut pg_sys::List) -> *mut pg_sys::List {
        // SAFETY: a list of conditions of the planner's, in whose memory this runs.
        unsafe {
            let (mut ends, mut bounds, mut rest) = (Vec::new(), Vec::new(), Vec::new());
            for condition in nodes(conditions) {
                let found = Candidate::of(condition, (*self.table).relid);
                let derived = found.and_then(|found| Some((found.call, self.bounds(&found)?)));
                let Some((call, derived)) = derived else {
                    rest.push(condition);
                    continue;
                };
                ends.extend(derived.ends);
                bounds.extend(derived.bounds);
                if !derived.is_equivalent {
                    estimate::note(call);
                    rest.push(condition);
                }
            }
            ends.retain(|end| !bounds.iter().any(|bound| end.follows_from(bound)));
            let ends = ends.iter().map(|end| estimate::uncounted(end.comparison));
            // The first bound makes the planner ask for statistics, so conditions with a note are estimated after it.
            let extended = bounds.iter().map(|bound| bound.comparison).chain(ends);
            let extended = extended.fold(std::ptr::null_mut(), |extended, one| {
                pg_sys::list_append_unique(extended, one.cast())
            });
            pg_sys::list_concat(extended, list(rest))
        }
    }
}
