//! The planner's hooks.

use crate::pg::backend::local::Local;
use crate::time_predicates::derive::conditions;
use crate::time_predicates::{estimate, order, predicate};
use pgrx::{pg_guard, pg_sys};

#[cfg(not(feature = "pg19"))]
type OnTable = pg_sys::get_relation_info_hook_type;
#[cfg(feature = "pg19")]
type OnTable = pg_sys::build_simple_rel_hook_type;

static PREVIOUS: Local<OnTable> = Local::new(None);
static INSTALLED: Local<bool> = Local::new(false);

/// Installs the hooks, on the first call. They stay until the session ends, in front of those of other libraries that
/// were loaded before.
pub fn install() {
    if INSTALLED.replace(true) {
        return;
    }
    // SAFETY: a backend is one thread, and the functions are of the types that the server calls.
    unsafe {
        #[cfg(not(feature = "pg19"))]
        {
            PREVIOUS.set(pg_sys::get_relation_info_hook);
            pg_sys::get_relation_info_hook = Some(on_table);
        }
        #[cfg(feature = "pg19")]
        {
            PREVIOUS.set(pg_sys::build_simple_rel_hook);
            pg_sys::build_simple_rel_hook = Some(on_table);
        }
    }
    estimate::install();
}

/// Answers the planner. Errors of another library's hook jump over this function, as over the server's own. So it is not guarded, owns
/// nothing that needs to be dropped, and cannot panic.
#[cfg(not(feature = "pg19"))]
unsafe extern "C-unwind" fn on_table(
    root: *mut pg_sys::PlannerInfo,
    relation: pg_sys::Oid,
    has_children: bool,
    table: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        if let Some(previous) = PREVIOUS.get() {
            previous(root, relation, has_children, table);
        }
        consider(root, table, relation, has_children);
    }
}

/// Does the same as on older versions.
#[cfg(feature = "pg19")]
unsafe extern "C-unwind" fn on_table(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        if let Some(previous) = PREVIOUS.get() {
            previous(root, table, entry);
        }
        if (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION {
            consider(root, table, (*entry).relid, (*entry).inh);
        }
    }
}

/// Continues only where a condition can be one on the time of an id of the table, or an order that of such a time.
/// Children of a table inherit what was added to its conditions, but have indexes of their own.
///
/// # Safety
/// The planner has called its hook.
#[inline]
unsafe fn consider(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    relation: pg_sys::Oid,
    has_children: bool,
) {
    // SAFETY: as the caller says. Commands such as CLUSTER plan without conditions.
    unsafe {
        let conditions = (*(*root).parse).jointree;
        if (*table).reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL
            && !conditions.is_null()
            && predicate::any(conditions.cast(), (*table).relid)
        {
            derive_guarded(root, table, relation, has_children);
        }
        if order::keys(root).next().is_some() {
            offer_guarded(root, table, has_children);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn derive_guarded(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    relation: pg_sys::Oid,
    has_children: bool,
) {
    // SAFETY: the arguments are passed on unchanged.
    unsafe { conditions::derive(root, table, relation, has_children) }
}

#[pg_guard]
unsafe extern "C-unwind" fn offer_guarded(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    has_children: bool,
) {
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        order::ask_of_id(root, (*table).relid);
        if !has_children {
            order::offer(root, table);
        }
    }
}
