//! Lists of the server's.

use pgrx::pg_sys;

/// Returns the cells of a list; none of the empty list, which is null.
///
/// # Safety
/// It is null or a list, which outlives the result.
unsafe fn cells<'a>(list: *const pg_sys::List) -> &'a [pg_sys::ListCell] {
    // SAFETY: as the caller says; a list has as many cells as it says.
    unsafe {
        list.as_ref().map_or(&[], |list| {
            std::slice::from_raw_parts(list.elements, list.length.unsigned_abs() as usize)
        })
    }
}

/// Returns the nodes of a list, or the other pointers in a list of pointers.
///
/// # Safety
/// It is null or a list of pointers, which outlives the result.
pub unsafe fn nodes(list: *const pg_sys::List) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: as the caller says.
    let cells = unsafe { cells(list) }.iter();
    // SAFETY: as the caller says.
    cells.map(|cell| unsafe { cell.ptr_value }.cast())
}

/// Returns the oids of a list.
///
/// # Safety
/// It is null or a list of oids, which outlives the result.
pub unsafe fn oids<'a>(list: *const pg_sys::List) -> impl Iterator<Item = pg_sys::Oid> + 'a {
    // SAFETY: as the caller says.
    let cells = unsafe { cells(list) }.iter();
    // SAFETY: as the caller says.
    cells.map(|cell| unsafe { cell.oid_value })
}
