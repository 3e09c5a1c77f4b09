//! Goes through the conditions of a query, and puts bounds in place of them or beside them.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::list;
use crate::time_predicates::bounding::{Bounding, Planning};
use crate::time_predicates::estimate;
use crate::time_predicates::predicate::Candidate;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// A column, and the first call of a function of its time; null if none counts.
pub type Call = (pg_sys::AttrNumber, *mut pg_sys::FuncExpr);

impl Planning {
    /// Returns the columns that policies compare the time of. Conditions of the query on them stay as they are: with those of a
    /// policy, which stay, the planner takes them for ranges.
    ///
    /// # Safety
    /// The planner has called its hook for the table.
    pub unsafe fn of_policies(self) -> Vec<Call> {
        // SAFETY: as the caller says. The conditions of a policy are lists by now.
        unsafe {
            let policies = nodes((*self.entry).securityQuals);
            policies
                .flat_map(|policy| nodes(policy.cast()))
                .filter_map(|condition| Candidate::of(condition, (*self.table).relid))
                .map(|found| (found.column, std::ptr::null_mut()))
                .collect()
        }
    }

    /// Visits a part of the join tree, and returns whether the table is in it.
    ///
    /// A bound is true wherever its condition is, so it is right in every kind of join. But it is useful only where the
    /// planner tests it on rows of the table alone.
    ///
    /// # Safety
    /// The planner has called its hook for the table.
    pub unsafe fn visit(self, tree: *mut pg_sys::Node, calls: &mut Vec<Call>) -> bool {
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
                        .fold(false, |is_in, part| is_in | self.visit(part, calls));
                    if is_in {
                        from.quals = self.extend(from.quals.cast(), calls).cast();
                    }
                    is_in
                }
                Some(NodeTag::T_JoinExpr) => {
                    let join = &mut *tree.cast::<pg_sys::JoinExpr>();
                    let (left, right) =
                        (self.visit(join.larg, calls), self.visit(join.rarg, calls));
                    let tests_alone = match join.jointype {
                        pg_sys::JoinType::JOIN_INNER | pg_sys::JoinType::JOIN_SEMI => left || right,
                        // Rows of the left side are kept whether or not a condition is true.
                        pg_sys::JoinType::JOIN_LEFT | pg_sys::JoinType::JOIN_ANTI => right,
                        _ => false,
                    };
                    if tests_alone {
                        join.quals = self.extend(join.quals.cast(), calls).cast();
                    }
                    left || right
                }
                _ => false,
            }
        }
    }

    /// Returns conditions with their bounds before them, or instead of them. On a column, all are of its first call: the planner
    /// takes bounds for ends of one range, but not conditions on different expressions.
    unsafe fn extend(
        self,
        conditions: *mut pg_sys::List,
        calls: &mut Vec<Call>,
    ) -> *mut pg_sys::List {
        // SAFETY: a list of conditions of the planner's, in whose memory this runs.
        unsafe {
            let (mut ends, mut bounds) = (Vec::<Bounding>::new(), Vec::<Bounding>::new());
            let mut rest = Vec::new();
            for condition in nodes(conditions) {
                let found = Candidate::of(condition, (*self.table).relid)
                    .filter(|found| pg_sys::equal(first(found, calls).cast(), found.call.cast()));
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

/// Returns the first call on the column of another one.
fn first(found: &Candidate, calls: &mut Vec<Call>) -> *mut pg_sys::FuncExpr {
    if let Some((_, call)) = calls.iter().find(|(column, _)| *column == found.column) {
        return *call;
    }
    calls.push((found.column, found.call));
    found.call
}
