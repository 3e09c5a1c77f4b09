//! Reading the planner's trees.

use pgrx::pg_sys;
use std::slice;

/// Returns the nodes of a list; none for the empty list, which is null.
///
/// # Safety
/// It is null or a list of nodes, which outlives the iterator.
pub unsafe fn nodes(list: *const pg_sys::List) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: a list has as many elements as it says, all of one kind.
    let cells: &[pg_sys::ListCell] = unsafe {
        match list.as_ref() {
            Some(list) => slice::from_raw_parts(list.elements, list.length.unsigned_abs() as usize),
            None => &[],
        }
    };
    // SAFETY: the elements are nodes, as the caller says.
    cells.iter().map(|cell| unsafe { cell.ptr_value }.cast())
}

/// Returns a node as the struct that its tag stands for; none if it has another tag or is null.
///
/// # Safety
/// It is null or a node, and the tag is that of `T`.
pub unsafe fn as_node<T>(node: *mut pg_sys::Node, tag: pg_sys::NodeTag) -> Option<*mut T> {
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
        let operator: *mut pg_sys::OpExpr = as_node(node, pg_sys::NodeTag::T_OpExpr)?;
        let mut arguments = nodes((*operator).args);
        let both = [arguments.next()?, arguments.next()?];
        Some((&mut *operator, both))
    }
}

/// Returns what a column is, under casts that change nothing but the type's name.
///
/// # Safety
/// It is null or a node, which outlives `'a`.
pub unsafe fn column<'a>(mut node: *mut pg_sys::Node) -> Option<&'a pg_sys::Var> {
    // SAFETY: as the caller says; the tags say what the nodes are.
    unsafe {
        while let Some(cast) = as_node::<pg_sys::RelabelType>(node, pg_sys::NodeTag::T_RelabelType)
        {
            node = (*cast).arg.cast();
        }
        let column: *mut pg_sys::Var = as_node(node, pg_sys::NodeTag::T_Var)?;
        Some(&*column)
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
