//! Reading and making nodes of the planner's trees.

use crate::pg::datum::list::nodes;
use pgrx::pg_sys::NodeTag;
use pgrx::{Internal, is_a, pg_sys};
use std::ffi::CStr;
use std::{ptr, slice};

/// Returns a node as the struct that its tag stands for; none if it has another tag or is null.
///
/// # Safety
/// It is null or a node, and the tag is that of `T`.
pub unsafe fn as_node<T>(node: *mut pg_sys::Node, tag: NodeTag) -> Option<*mut T> {
    // SAFETY: as the caller says.
    let is_it = unsafe { node.as_ref() }.is_some_and(|node| node.type_ == tag);
    is_it.then_some(node.cast())
}

/// Returns the two arguments of an operator.
///
/// # Safety
/// It is null or a node, which outlives `'a`.
pub unsafe fn binary<'a>(
    node: *mut pg_sys::Node,
) -> Option<(&'a mut pg_sys::OpExpr, [*mut pg_sys::Node; 2])> {
    // SAFETY: as the caller says; the tag says that it is an operator.
    unsafe {
        let operator: *mut pg_sys::OpExpr = as_node(node, NodeTag::T_OpExpr)?;
        let mut arguments = nodes((*operator).args);
        let both = [arguments.next()?, arguments.next()?];
        Some((&mut *operator, both))
    }
}

/// Returns the node under casts that change nothing but the type's name.
///
/// # Safety
/// It is null or a node.
pub unsafe fn without_casts(mut node: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: as the caller says; the tags say what the nodes are.
    unsafe {
        while let Some(cast) = as_node::<pg_sys::RelabelType>(node, NodeTag::T_RelabelType) {
            node = (*cast).arg.cast();
        }
    }
    node
}

/// Returns the column that a node is, under such casts.
///
/// # Safety
/// It is null or a node, which outlives `'a`.
pub unsafe fn column<'a>(node: *mut pg_sys::Node) -> Option<&'a pg_sys::Var> {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        let column: *mut pg_sys::Var = as_node(without_casts(node), NodeTag::T_Var)?;
        Some(&*column)
    }
}

/// Returns whether the text of a node, as the server writes it, contains a part.
///
/// # Safety
/// It is null or a node.
pub unsafe fn written(node: *const pg_sys::Node, part: &str) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let text = pg_sys::nodeToString(node.cast());
        let bytes = CStr::from_ptr(text).to_bytes();
        let is_in = bytes
            .windows(part.len())
            .any(|window| window == part.as_bytes());
        pg_sys::pfree(text.cast());
        is_in
    }
}

/// Makes a list of nodes.
///
/// # Safety
/// They are nodes of the planner's memory, in which this runs.
pub unsafe fn list(of: impl IntoIterator<Item = *mut pg_sys::Node>) -> *mut pg_sys::List {
    let mut list = std::ptr::null_mut();
    for node in of {
        // SAFETY: as the caller says; null is the empty list.
        list = unsafe { pg_sys::lappend(list, node.cast()) };
    }
    list
}

/// Copies a node.
///
/// # Safety
/// It is a node, and this runs in the planner's memory.
pub unsafe fn copy(node: *const pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: as the caller says.
    unsafe { pg_sys::copyObjectImpl(node.cast()).cast() }
}

/// Returns the bytes of a constant of fixed length that is passed by reference, and is not NULL.
///
/// # Safety
/// It is null or a node, which outlives `'a`.
pub unsafe fn constant<'a>(node: *mut pg_sys::Node) -> Option<&'a [u8]> {
    // SAFETY: the tag says that it is a constant, which has as many bytes as it says.
    unsafe {
        let constant = &*as_node::<pg_sys::Const>(node, NodeTag::T_Const)?;
        let is_fixed = constant.constlen > 0 && !constant.constbyval && !constant.constisnull;
        let length = usize::try_from(constant.constlen).ok()?;
        is_fixed.then(|| slice::from_raw_parts(constant.constvalue.cast_mut_ptr(), length))
    }
}

/// Makes a constant.
///
/// # Safety
/// This runs in the planner's memory.
pub unsafe fn timestamptz(at: pg_sys::TimestampTz) -> *mut pg_sys::Node {
    // SAFETY: a timestamptz has 8 bytes, is passed by value and has no collation.
    unsafe {
        let (id, none) = (pg_sys::TIMESTAMPTZOID, pg_sys::InvalidOid);
        pg_sys::makeConst(id, -1, none, 8, at.into(), false, true).cast()
    }
}

/// Returns the number that a bigint constant is; none for NULL.
///
/// # Safety
/// It is null or a node.
pub unsafe fn int8(value: *mut pg_sys::Node) -> Option<i64> {
    // SAFETY: the tag says that it is a constant.
    let constant = unsafe { &*as_node::<pg_sys::Const>(value, NodeTag::T_Const)? };
    let is_number = constant.consttype == pg_sys::INT8OID && !constant.constisnull;
    is_number.then(|| constant.constvalue.value() as i64)
}

/// Makes the call of a function of values without a collation.
///
/// # Safety
/// They are nodes of the planner's memory, in which this runs.
pub unsafe fn call(
    function: pg_sys::Oid,
    result: pg_sys::Oid,
    arguments: *mut pg_sys::List,
) -> *mut pg_sys::Node {
    // SAFETY: as the caller says; ids and timestamps have no collation.
    unsafe {
        let none = pg_sys::InvalidOid;
        let form = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        pg_sys::makeFuncExpr(function, result, arguments, none, none, form).cast()
    }
}

/// Makes a comparison of values without a collation.
///
/// # Safety
/// They are nodes of the planner's memory, in which this runs.
pub unsafe fn compare(
    operator: pg_sys::Oid,
    left: *mut pg_sys::Node,
    right: *mut pg_sys::Node,
) -> *mut pg_sys::Node {
    // SAFETY: as the caller says; ids have no collation.
    unsafe {
        let none = pg_sys::InvalidOid;
        let comparison = pg_sys::make_opclause(
            operator,
            pg_sys::BOOLOID,
            false,
            left.cast(),
            right.cast(),
            none,
            none,
        );
        pg_sys::set_opfuncid(comparison.cast());
        comparison.cast()
    }
}

/// Answers the planner's request to simplify a call. A support function without an answer returns a null pointer, which is not
/// NULL.
pub fn simplified(
    mut request: Internal,
    answer: impl FnOnce(&pg_sys::SupportRequestSimplify) -> Option<*mut pg_sys::Node>,
) -> Internal {
    let mut answered = None;
    // SAFETY: the argument of a support function is a node, whose tag says what it is.
    unsafe {
        if let Some(node) = request.get_mut::<pg_sys::Node>() {
            let node: *mut pg_sys::Node = node;
            if is_a(node, NodeTag::T_SupportRequestSimplify) {
                answered = answer(&*node.cast());
            }
        }
    }
    let answered = answered.unwrap_or(ptr::null_mut());
    Internal::from(Some(pg_sys::Datum::from(answered)))
}
