//! How many rows a condition and the bounds derived from it have.
//!
//! The planner would multiply the shares of both, and it has no statistics of the condition, so that its guess would
//! be a third of the bounds' share, or less. But it has statistics of the id. So the bounds alone count: the share of
//! the condition is set to 1, as the planner itself sets that of a condition from which it has derived another one (see
//! orclauses.c).
//!
//! The share belongs into a structure that is made after the hook has derived, of each child of a table once more. So
//! the condition itself has a note, where the position in the query's text was, which every copy keeps. When the
//! planner asks for statistics of the bounds' column, conditions with a note get the share.

use crate::pg::backend::local::Local;
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::as_node;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use std::ffi::c_int;

/// A position that no text has. As any negative number, it is an unknown position for the server.
const COUNTED: c_int = -0x6d69_6e74;

/// A condition of this session had a note. Plans can be made within one another, so it is not known in which.
static NOTED: Local<bool> = Local::new(false);
static PREVIOUS: Local<pg_sys::get_relation_stats_hook_type> = Local::new(None);

/// Hooks into the planner's requests for statistics. Called once.
pub fn install() {
    // SAFETY: a backend is one thread, and the function is of the type that the server calls.
    unsafe {
        PREVIOUS.set(pg_sys::get_relation_stats_hook);
        pg_sys::get_relation_stats_hook = Some(on_statistics);
    }
}

/// Notes that bounds which stand before a condition have its share of the rows.
///
/// # Safety
/// Made by the planner.
pub unsafe fn note(condition: *mut pg_sys::Node) {
    // SAFETY: as the caller says; the tag says what the node is.
    unsafe {
        if let Some(condition) = as_node::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr) {
            (*condition).location = COUNTED;
            NOTED.set(true);
        }
    }
}

/// Answers the planner. Errors of another library's hook jump over this function, as over the server's own. So it is not guarded, owns
/// nothing that needs to be dropped, and cannot panic.
unsafe extern "C-unwind" fn on_statistics(
    root: *mut pg_sys::PlannerInfo,
    entry: *mut pg_sys::RangeTblEntry,
    column: pg_sys::AttrNumber,
    statistics: *mut pg_sys::VariableStatData,
) -> bool {
    // SAFETY: the planner passes its own structures; the arguments are passed on unchanged.
    unsafe {
        if NOTED.get()
            && let Some(table) = table_of(root, entry)
        {
            mark(&*table);
        }
        PREVIOUS
            .get()
            .is_some_and(|previous| previous(root, entry, column, statistics))
    }
}

/// Returns the table of an entry: not all callers of the hook say it. Tables are mostly asked for in their order.
///
/// # Safety
/// Made by the planner.
unsafe fn table_of(
    root: *mut pg_sys::PlannerInfo,
    entry: *mut pg_sys::RangeTblEntry,
) -> Option<*mut pg_sys::RelOptInfo> {
    static LAST: Local<usize> = Local::new(0);
    // SAFETY: both arrays have as many elements, of which the first is not used.
    unsafe {
        let count = (*root).simple_rel_array_size.unsigned_abs() as usize;
        let last = if LAST.get() < count { LAST.get() } else { 0 };
        let place = (last..count)
            .chain(0..last)
            .find(|&place| *(*root).simple_rte_array.add(place) == entry)?;
        LAST.set(place);
        let table = *(*root).simple_rel_array.add(place);
        (!table.is_null()).then_some(table)
    }
}

/// # Safety
/// Made by the planner.
#[inline]
unsafe fn mark(table: &pg_sys::RelOptInfo) {
    // SAFETY: the list is of RestrictInfos, whose clauses are nodes.
    unsafe {
        for condition in nodes(table.baserestrictinfo) {
            let condition = &mut *condition.cast::<pg_sys::RestrictInfo>();
            let clause = as_node::<pg_sys::OpExpr>(condition.clause.cast(), NodeTag::T_OpExpr);
            if clause.is_some_and(|clause| (*clause).location == COUNTED) {
                // As a share that is known already. Before 19, more than 1 would say redundant as well.
                condition.norm_selec = 1.0;
                condition.outer_selec = 1.0;
            }
        }
    }
}
