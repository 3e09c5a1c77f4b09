//! Comparisons of an id's time in the conditions of a query. They are recognized by reading nodes alone, without calls
//! of the server, so it costs next to nothing for queries without one.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, binary, column};
use crate::time_predicates::function::TimeFunction;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// A possible comparison of the time of a table's id with another value.
pub struct Candidate {
    pub function: &'static TimeFunction,
    /// The call of the function, the id that it gets, and the number of its column.
    pub call: *mut pg_sys::FuncExpr,
    pub id: *mut pg_sys::Node,
    pub column: pg_sys::AttrNumber,
    pub operator: pg_sys::Oid,
    /// The value that the time is compared with.
    pub with: *mut pg_sys::Node,
    /// True if the time is the right side.
    pub commuted: bool,
}

impl Candidate {
    /// Reads a condition.
    ///
    /// # Safety
    /// A node of the planner.
    pub unsafe fn of(condition: *mut pg_sys::Node, table: pg_sys::Index) -> Option<Self> {
        // SAFETY: as the caller says; the tags say what the nodes are.
        unsafe {
            let (comparison, [left, right]) = binary(condition)?;
            let sides = [(left, right, false), (right, left, true)];
            sides.into_iter().find_map(|(side, with, commuted)| {
                let call: *mut pg_sys::FuncExpr = as_node(side, NodeTag::T_FuncExpr)?;
                let function = TimeFunction::of((*call).funcid)?;
                let id = nodes((*call).args).next()?;
                let of = column(id)?;
                let is_it = of.varno as pg_sys::Index == table && of.varlevelsup == 0;
                (is_it && of.varattno > 0).then_some(Self {
                    function,
                    call,
                    id,
                    column: of.varattno,
                    operator: comparison.opno,
                    with,
                    commuted,
                })
            })
        }
    }

    /// Returns the other arguments of the function.
    pub fn others(&self) -> impl Iterator<Item = *mut pg_sys::Node> {
        // SAFETY: a node of the planner's, as it was read.
        unsafe { nodes((*self.call).args).skip(1) }
    }
}

/// Returns whether a test holds for any condition of a query.
///
/// # Safety
/// A join tree of the planner's, after its conditions were made lists of conditions that must all be true.
pub unsafe fn any(
    tree: *mut pg_sys::Node,
    test: &mut impl FnMut(*mut pg_sys::Node) -> bool,
) -> bool {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        match tree.as_ref().map(|node| node.type_) {
            Some(NodeTag::T_FromExpr) => {
                let from = &*tree.cast::<pg_sys::FromExpr>();
                nodes(from.quals.cast()).any(&mut *test)
                    || nodes(from.fromlist).any(|part| any(part, test))
            }
            Some(NodeTag::T_JoinExpr) => {
                let join = &*tree.cast::<pg_sys::JoinExpr>();
                nodes(join.quals.cast()).any(&mut *test)
                    || any(join.larg, test)
                    || any(join.rarg, test)
            }
            _ => false,
        }
    }
}
