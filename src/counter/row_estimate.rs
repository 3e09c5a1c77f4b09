//! The number of rows that a function returns, for the planner.

use crate::pg::datum::list::nodes;
use crate::pg::datum::text::Text;
use pgrx::{FromDatum, Internal, is_a, pg_sys};

/// The value of a constant argument.
#[derive(Debug, Clone, Copy)]
pub enum ConstantArgument<'a> {
    /// NULL.
    Null,
    /// A bigint.
    Number(i64),
    /// A text.
    Text(Text<'a>),
}

/// Answers a request of the planner for the number of rows, if all arguments are constants.
pub fn answer(
    mut request: Internal,
    rows: impl FnOnce(&[ConstantArgument<'_>]) -> Option<f64>,
) -> Internal {
    // A support function without an answer returns a null pointer, which is not NULL.
    let mut answer = pg_sys::Datum::from(0);
    // SAFETY: the argument of a support function is a node, whose tag says what it is.
    unsafe {
        if let Some(node) = request.get_mut::<pg_sys::Node>() {
            let node: *mut pg_sys::Node = node;
            if is_a(node, pg_sys::NodeTag::T_SupportRequestRows) {
                let request = &mut *node.cast::<pg_sys::SupportRequestRows>();
                if let Some(count) = arguments(request).and_then(|arguments| rows(&arguments)) {
                    request.rows = count;
                    answer = node.into();
                }
            }
        }
    }
    Internal::from(Some(answer))
}

/// Returns the arguments of the call; none if one of them is not a constant.
///
/// # Safety
/// The planner made the request.
unsafe fn arguments<'a>(request: &pg_sys::SupportRequestRows) -> Option<Vec<ConstantArgument<'a>>> {
    // SAFETY: the tag says that the call is a FuncExpr, whose arguments are a list of expressions.
    unsafe {
        if !is_a(request.node, pg_sys::NodeTag::T_FuncExpr) {
            return None;
        }
        nodes((*request.node.cast::<pg_sys::FuncExpr>()).args)
            .map(|given| constant(pg_sys::estimate_expression_value(request.root, given)))
            .collect()
    }
}

/// # Safety
/// `expression` is a node.
unsafe fn constant<'a>(expression: *mut pg_sys::Node) -> Option<ConstantArgument<'a>> {
    // SAFETY: the tag says that it is a constant, and the constant has the type of its value.
    unsafe {
        if !is_a(expression, pg_sys::NodeTag::T_Const) {
            return None;
        }
        let constant = &*expression.cast::<pg_sys::Const>();
        let value = constant.constvalue;
        match constant.consttype {
            _ if constant.constisnull => Some(ConstantArgument::Null),
            pg_sys::INT8OID => i64::from_datum(value, false).map(ConstantArgument::Number),
            pg_sys::TEXTOID => Text::from_datum(value, false).map(ConstantArgument::Text),
            _ => None,
        }
    }
}
