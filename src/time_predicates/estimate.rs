//! The number of rows of a condition and of the bounds derived from it.
//!
//! The planner would multiply the shares of both, and it has no statistics of the condition, so that its guess would
//! be a third of the bounds' share, or less. But it has statistics of the id. So the bounds alone count: the share of
//! the condition is set to 1, as the planner itself sets that of a condition from which it has derived another one (see
//! orclauses.c).
//!
//! The end of all times of a layout does not count either. The planner takes a bound from below and one from above for
//! a range, and if it does not know one of them or has no statistics, for a range of 0.5 % of the rows in place of a
//! third. So an end is concealed: as `(id >= 0) IS TRUE`, it is not a side of a range.
//!
//! The share belongs into a structure that is made after the hook has run, and again for each child of a table. So the
//! call of the time and the concealed end have a note in place of the position in the query's text, which every copy
//! keeps. When the planner asks for statistics of the bounds' column, conditions with a note get the share.

use crate::pg::backend::local::Local;
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::as_node;
use crate::time_predicates::predicate::Candidate;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use std::ffi::c_int;

/// A position that no text has. The server takes any negative number for an unknown position.
const COUNTED: c_int = -0x6d69_6e74;

/// True if a condition of this session had a note. Plans can be made within one another, so the query is not known.
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

/// Notes that bounds which stand before the condition of a call have its share of the rows.
///
/// # Safety
/// The planner made the node.
pub unsafe fn note(time: *mut pg_sys::FuncExpr) {
    // SAFETY: as the caller says.
    unsafe { (*time).location = COUNTED };
    NOTED.set(true);
}

/// Returns an equivalent condition that has all rows and is not a side of a range.
///
/// # Safety
/// A node of the planner, in whose memory this runs.
pub unsafe fn uncounted(condition: *mut pg_sys::Node) -> *mut pg_sys::Node {
    NOTED.set(true);
    // SAFETY: as the caller says. Zeroes are valid for all fields.
    unsafe {
        let made = pg_sys::palloc0(size_of::<pg_sys::BooleanTest>()).cast::<pg_sys::BooleanTest>();
        (*made).xpr.type_ = NodeTag::T_BooleanTest;
        (*made).arg = condition.cast();
        (*made).booltesttype = pg_sys::BoolTestType::IS_TRUE;
        (*made).location = COUNTED;
        made.cast()
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
        if NOTED.get() {
            // Both arrays have as many elements, of which the first is not used.
            let count = (*root).simple_rel_array_size.unsigned_abs() as usize;
            let place = (1..count).find(|&place| *(*root).simple_rte_array.add(place) == entry);
            if let Some(table) =
                place.and_then(|place| (*(*root).simple_rel_array.add(place)).as_ref())
            {
                mark(table);
            }
        }
        PREVIOUS
            .get()
            .is_some_and(|previous| previous(root, entry, column, statistics))
    }
}

/// # Safety
/// The planner made the table.
unsafe fn mark(table: &pg_sys::RelOptInfo) {
    // SAFETY: the list is of RestrictInfos, whose clauses are nodes.
    unsafe {
        for condition in nodes(table.baserestrictinfo) {
            let condition = &mut *condition.cast::<pg_sys::RestrictInfo>();
            let clause = condition.clause.cast();
            let test = as_node::<pg_sys::BooleanTest>(clause, NodeTag::T_BooleanTest);
            let location = match test {
                Some(test) => Some((*test).location),
                None => Candidate::of(clause, table.relid).map(|found| (*found.call).location),
            };
            if location == Some(COUNTED) {
                // This marks the share as known. Before 19, more than 1 would mark the condition as redundant as well.
                condition.norm_selec = 1.0;
                condition.outer_selec = 1.0;
            }
        }
    }
}
