//! Comparisons of an id's time in the conditions of a query. They are recognized by reading alone: nothing here calls
//! the server, so it costs next to nothing for queries without one.

use crate::pg::datum::list::nodes;
use crate::time_predicates::function::TimeFunction;
use crate::time_predicates::node::{as_node, binary, column};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// What can be a comparison of the time of a table's id with something else.
pub struct Candidate {
    pub function: &'static TimeFunction,
    pub comparison: *mut pg_sys::OpExpr,
    /// The id, as the function gets it, and the number of its column.
    pub id: *mut pg_sys::Node,
    pub column: pg_sys::AttrNumber,
    /// The other arguments of the function.
    pub others: Vec<*mut pg_sys::Node>,
    /// What the time is compared with.
    pub with: *mut pg_sys::Node,
    /// Whether the time is the right side.
    pub commuted: bool,
}

/// Returns the call of a function of the time of a table's id.
unsafe fn call(
    node: *mut pg_sys::Node,
    table: pg_sys::Index,
) -> Option<(&'static TimeFunction, *mut pg_sys::List, pg_sys::AttrNumber)> {
    // SAFETY: a node, whose tag says what it is.
    unsafe {
        let call: *mut pg_sys::FuncExpr = as_node(node, NodeTag::T_FuncExpr)?;
        let function = TimeFunction::of((*call).funcid)?;
        let id = column(nodes((*call).args).next()?)?;
        let is_it = id.varno as pg_sys::Index == table && id.varlevelsup == 0 && id.varattno > 0;
        is_it.then_some((function, (*call).args, id.varattno))
    }
}

/// Reads a condition.
///
/// # Safety
/// A node of the planner's.
pub unsafe fn candidate(condition: *mut pg_sys::Node, table: pg_sys::Index) -> Option<Candidate> {
    // SAFETY: as the caller says.
    unsafe {
        let (comparison, [left, right]) = binary(condition)?;
        let sides = [(left, right, false), (right, left, true)];
        sides.into_iter().find_map(|(side, with, commuted)| {
            let (function, arguments, column) = call(side, table)?;
            let mut arguments = nodes(arguments);
            Some(Candidate {
                function,
                comparison,
                id: arguments.next()?,
                column,
                others: arguments.collect(),
                with,
                commuted,
            })
        })
    }
}

/// Returns whether there is a candidate among the conditions of a query.
///
/// # Safety
/// A join tree of the planner's, after its conditions were made lists of conditions that must all be true.
pub unsafe fn any(tree: *mut pg_sys::Node, table: pg_sys::Index) -> bool {
    // SAFETY: as the caller says; the tag says what a node is.
    unsafe {
        let conditions = |list: *mut pg_sys::Node| {
            nodes(list.cast()).any(|condition| {
                binary(condition).is_some_and(|(_, [left, right])| {
                    call(left, table).is_some() || call(right, table).is_some()
                })
            })
        };
        match tree.as_ref().map(|node| node.type_) {
            Some(NodeTag::T_FromExpr) => {
                let from = &*tree.cast::<pg_sys::FromExpr>();
                conditions(from.quals) || nodes(from.fromlist).any(|part| any(part, table))
            }
            Some(NodeTag::T_JoinExpr) => {
                let join = &*tree.cast::<pg_sys::JoinExpr>();
                conditions(join.quals) || any(join.larg, table) || any(join.rarg, table)
            }
            _ => false,
        }
    }
}
