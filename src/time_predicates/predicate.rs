//! Comparisons of an id's time in the conditions of a query. They are recognized by reading alone: nothing here calls
//! the server, so it costs next to nothing for queries without one.

use crate::pg::datum::list::{nodes, oids};
use crate::pg::datum::node::{as_node, binary, column};
use crate::time_predicates::function::TimeFunction;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// The operators of dates and timestamps: see pg_opfamily.dat.
pub const DATETIME_OPERATORS: pg_sys::Oid = pg_sys::Oid::from_u32(434);

/// What a time is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A value, or a range that it is in.
    Value,
    /// An array, of which one element must be equal.
    Any,
    /// The first column of a row; the others count only among equal times.
    Row,
}

/// What can be a comparison of the time of a table's id with something else.
#[derive(Clone)]
pub struct Candidate {
    pub function: &'static TimeFunction,
    pub form: Form,
    pub operator: pg_sys::Oid,
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

/// Returns the form of a comparison, its operator, and its two sides.
unsafe fn comparison(
    condition: *mut pg_sys::Node,
) -> Option<(Form, pg_sys::Oid, [*mut pg_sys::Node; 2])> {
    // SAFETY: a node, whose tag says what it is.
    unsafe {
        match condition.as_ref()?.type_ {
            NodeTag::T_OpExpr => {
                let (comparison, sides) = binary(condition)?;
                Some((Form::Value, comparison.opno, sides))
            }
            NodeTag::T_ScalarArrayOpExpr => {
                let any = &*condition.cast::<pg_sys::ScalarArrayOpExpr>();
                let mut sides = nodes(any.args);
                any.useOr
                    .then_some((Form::Any, any.opno, [sides.next()?, sides.next()?]))
            }
            NodeTag::T_RowCompareExpr => {
                let rows = &*condition.cast::<pg_sys::RowCompareExpr>();
                let sides = [nodes(rows.largs).next()?, nodes(rows.rargs).next()?];
                (oids(rows.opfamilies).next()? == DATETIME_OPERATORS).then_some((
                    Form::Row,
                    oids(rows.opnos).next()?,
                    sides,
                ))
            }
            _ => None,
        }
    }
}

/// Returns a function of the time of an id, the arguments of its call, and the column of the id.
///
/// # Safety
/// It is null or a node, which outlives `'a`.
pub unsafe fn call<'a>(
    node: *mut pg_sys::Node,
) -> Option<(&'static TimeFunction, *mut pg_sys::List, &'a pg_sys::Var)> {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        let call: *mut pg_sys::FuncExpr = as_node(node, NodeTag::T_FuncExpr)?;
        let function = TimeFunction::of((*call).funcid)?;
        let id = column(nodes((*call).args).next()?)?;
        Some((function, (*call).args, id))
    }
}

/// Returns such a call for the id of a table.
///
/// # Safety
/// It is null or a node.
pub unsafe fn call_of(
    node: *mut pg_sys::Node,
    table: pg_sys::Index,
) -> Option<(&'static TimeFunction, *mut pg_sys::List, pg_sys::AttrNumber)> {
    // SAFETY: as the caller says.
    let (function, arguments, id) = unsafe { call(node)? };
    let is_it = id.varno as pg_sys::Index == table && id.varlevelsup == 0 && id.varattno > 0;
    is_it.then_some((function, arguments, id.varattno))
}

/// Reads a condition.
///
/// # Safety
/// A node of the planner's.
pub unsafe fn candidate(condition: *mut pg_sys::Node, table: pg_sys::Index) -> Option<Candidate> {
    // SAFETY: as the caller says.
    unsafe {
        let (form, operator, [left, right]) = comparison(condition)?;
        let sides = [(left, right, false), (right, left, true)];
        sides.into_iter().find_map(|(side, with, commuted)| {
            let (function, arguments, column) = call_of(side, table)?;
            let mut arguments = nodes(arguments);
            Some(Candidate {
                function,
                form,
                operator,
                id: arguments.next()?,
                column,
                others: arguments.collect(),
                with,
                commuted,
            })
        })
    }
}

/// Returns whether a condition is a candidate, or a part of it that is not negated is.
///
/// # Safety
/// A node of the planner's.
pub unsafe fn has_candidate(condition: *mut pg_sys::Node, table: pg_sys::Index) -> bool {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        match as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) {
            Some(several) => {
                (*several).boolop != pg_sys::BoolExprType::NOT_EXPR
                    && nodes((*several).args).any(|part| has_candidate(part, table))
            }
            None => comparison(condition).is_some_and(|(_, _, [left, right])| {
                call_of(left, table).is_some() || call_of(right, table).is_some()
            }),
        }
    }
}

/// Returns the candidates in a condition and in parts of it.
///
/// # Safety
/// A node of the planner's.
pub unsafe fn candidates(condition: *mut pg_sys::Node, table: pg_sys::Index) -> Vec<Candidate> {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        match as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) {
            Some(several) if (*several).boolop != pg_sys::BoolExprType::NOT_EXPR => {
                nodes((*several).args)
                    .flat_map(|part| candidates(part, table))
                    .collect()
            }
            Some(_) => Vec::new(),
            None => candidate(condition, table).into_iter().collect(),
        }
    }
}

/// Where conditions say that a column is not null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotNull {
    Nowhere,
    /// One of those that must all be true.
    Alone,
    /// A part of a condition.
    Within,
}

/// Returns where conditions say that a column of a table is not null.
///
/// # Safety
/// A join tree, conditions of the planner's, or null.
pub unsafe fn not_null(
    tree: *mut pg_sys::Node,
    table: pg_sys::Index,
    number: pg_sys::AttrNumber,
) -> NotNull {
    // SAFETY: as the caller says; the tag says what a node is.
    unsafe {
        let of = |part: *mut pg_sys::Node| not_null(part, table, number);
        let most = |list: *mut pg_sys::List| nodes(list).map(of).max();
        let found = match tree.as_ref().map(|node| node.type_) {
            Some(NodeTag::T_NullTest) => {
                let test = &*tree.cast::<pg_sys::NullTest>();
                let is_it = |column: &pg_sys::Var| {
                    column.varno as pg_sys::Index == table && column.varattno == number
                };
                (test.nulltesttype == pg_sys::NullTestType::IS_NOT_NULL
                    && column(test.arg.cast()).is_some_and(is_it))
                .then_some(NotNull::Alone)
            }
            Some(NodeTag::T_BoolExpr) => most((*tree.cast::<pg_sys::BoolExpr>()).args)
                .filter(|&found| found != NotNull::Nowhere)
                .map(|_| NotNull::Within),
            Some(NodeTag::T_List) => most(tree.cast()),
            Some(NodeTag::T_FromExpr) => {
                let from = &*tree.cast::<pg_sys::FromExpr>();
                most(from.fromlist).max(Some(of(from.quals)))
            }
            Some(NodeTag::T_JoinExpr) => {
                let join = &*tree.cast::<pg_sys::JoinExpr>();
                [join.larg, join.rarg, join.quals].map(of).into_iter().max()
            }
            _ => None,
        };
        found.unwrap_or(NotNull::Nowhere)
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
            nodes(list.cast()).any(|condition| has_candidate(condition, table))
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
