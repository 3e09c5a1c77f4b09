//! The planner's hook.

use crate::pg::backend::local::Local;
use crate::time_predicates::bounding::Planning;
use crate::time_predicates::predicate::{self, Candidate};
use crate::time_predicates::{estimate, setting};
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
        consider(root, table);
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
            consider(root, table);
        }
    }
}

/// Continues only if a condition can be one on the time of an id of the table. Children of a table inherit the added
/// conditions. A foreign table could compare ids otherwise.
///
/// # Safety
/// The planner has called its hook.
#[inline]
unsafe fn consider(root: *mut pg_sys::PlannerInfo, table: *mut pg_sys::RelOptInfo) {
    // SAFETY: as the caller says. Commands such as CLUSTER plan without conditions. The table has its entry.
    unsafe {
        let own = (*table).relid;
        let tree: *mut pg_sys::Node = (*(*root).parse).jointree.cast();
        if (*table).reloptkind != pg_sys::RelOptKind::RELOPT_BASEREL
            || !predicate::any(tree, &mut |condition| {
                Candidate::of(condition, own).is_some()
            })
        {
            return;
        }
        let entry = *(*root).simple_rte_array.add(own as usize);
        let is_foreign = (*entry).relkind == pg_sys::RELKIND_FOREIGN_TABLE as std::ffi::c_char;
        if setting::is_on() && !is_foreign {
            derive_guarded(Planning { root, table, entry }, tree);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn derive_guarded(planning: Planning, tree: *mut pg_sys::Node) {
    // SAFETY: the planner has called its hook.
    unsafe {
        if !planning.forgets() {
            planning.visit(tree, &planning.columns_left(tree));
        }
    }
}
