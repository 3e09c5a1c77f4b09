//! Defaults of columns, read from their trees in the catalogs. Nothing of a user's is parsed, planned or run.

use crate::pg::charset;
use crate::pg::datum::list::nodes;
use crate::pg::error::relay_errors;
use pgrx::{is_a, pg_sys};

/// An argument of a call.
#[derive(Debug)]
pub struct Argument {
    /// Its value as text, if it is a constant that is not null.
    pub constant: Option<String>,
}

/// Reads a default by its tree in the catalogs: what `known` says of the function that it calls, and the arguments. None if
/// it is anything else than one call of a known function, with nothing around it but casts of its result.
pub fn stored_call<T>(
    tree: &str,
    known: impl FnOnce(pg_sys::Oid) -> Option<T>,
) -> Option<(T, Vec<Argument>)> {
    let tree = charset::c_string(tree);
    // SAFETY: a tree that the server has written. Nothing of it is run but the output functions of the types of constants,
    // which take a superuser to create.
    relay_errors(|| unsafe {
        let mut node: *mut pg_sys::Node = pg_sys::stringToNode(tree.as_ptr()).cast();
        while let Some(inner) = below_cast(node) {
            node = inner;
        }
        let call = function_call(node)?;
        Some((known(call.funcid)?, arguments(call)))
    })
}

/// # Safety
/// A tree of the planner, or null.
unsafe fn function_call<'a>(node: *mut pg_sys::Node) -> Option<&'a pg_sys::FuncExpr> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        let is_call = !node.is_null() && is_a(node, pg_sys::NodeTag::T_FuncExpr);
        is_call.then(|| &*node.cast::<pg_sys::FuncExpr>())
    }
}

/// Returns the arguments of a call in their order, whatever that of their names is.
///
/// # Safety
/// A call in a tree of the planner.
unsafe fn arguments(call: &pg_sys::FuncExpr) -> Vec<Argument> {
    // SAFETY: as the caller says; no argument is null, and a node has the type that its tag says.
    unsafe {
        let placed = |(place, node): (usize, *mut pg_sys::Node)| {
            if is_a(node, pg_sys::NodeTag::T_NamedArgExpr) {
                let named = &*node.cast::<pg_sys::NamedArgExpr>();
                (named.argnumber as usize, argument(named.arg.cast()))
            } else {
                (place, argument(node))
            }
        };
        let all = nodes(call.args).enumerate();
        let mut all: Vec<(usize, Argument)> = all.map(placed).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, argument)| argument).collect()
    }
}

/// Returns what is below a conversion that changes no bytes; none if the node is something else.
///
/// # Safety
/// A tree of the planner, or null.
unsafe fn below_relabel(node: *mut pg_sys::Node) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        if node.is_null() {
            None
        } else if is_a(node, pg_sys::NodeTag::T_RelabelType) {
            Some((*node.cast::<pg_sys::RelabelType>()).arg.cast())
        } else if is_a(node, pg_sys::NodeTag::T_CoerceToDomain) {
            Some((*node.cast::<pg_sys::CoerceToDomain>()).arg.cast())
        } else {
            None
        }
    }
}

/// Does as [`below_relabel`], for any cast.
///
/// # Safety
/// A tree of the planner, or null.
unsafe fn below_cast(node: *mut pg_sys::Node) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; a node has the type that its tag says.
    unsafe {
        if let Some(call) = function_call(node) {
            let is_cast = [
                pg_sys::CoercionForm::COERCE_EXPLICIT_CAST,
                pg_sys::CoercionForm::COERCE_IMPLICIT_CAST,
            ]
            .contains(&call.funcformat);
            return nodes(call.args).next().filter(|_| is_cast);
        }
        if !node.is_null() && is_a(node, pg_sys::NodeTag::T_CoerceViaIO) {
            return Some((*node.cast::<pg_sys::CoerceViaIO>()).arg.cast());
        }
        below_relabel(node)
    }
}

/// # Safety
/// A tree of the planner, not null.
unsafe fn argument(node: *mut pg_sys::Node) -> Argument {
    // SAFETY: as the caller says; a constant that is not null is printed by the output function of its type.
    unsafe {
        let is_constant = is_a(node, pg_sys::NodeTag::T_Const);
        let value = is_constant.then(|| &*node.cast::<pg_sys::Const>());
        Argument {
            constant: value.filter(|value| !value.constisnull).map(|value| {
                let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
                pg_sys::getTypeOutputInfo(value.consttype, &raw mut output, &raw mut is_varlena);
                charset::decode_c(pg_sys::OidOutputFunctionCall(output, value.constvalue))
            }),
        }
    }
}
