//! The number of rows of a condition and the bound derived from it: that of the condition without a bound, or that by
//! the planner's statistics of the id.
//!
//! The planner would multiply the shares of both, and it has no statistics of the condition, so that its guess would
//! be a third of the bound's share. But it has statistics of the id. So the bound alone counts: the share of the
//! condition is set to 1, as the planner itself sets that of a condition from which it has derived another one (see
//! orclauses.c).
//!
//! The planner takes a comparison from below and one from above for the ends of a range if both are of the same
//! expression, and where it does not know the share of one, for a range of 0.5 % of the rows in place of a third of a third
//! (clauselist_selectivity). Conditions on the time are of another expression than those on the id. So where the shares are
//! not all known, bounds are those of an expression of their own: a cast of the id that changes nothing. The planner still
//! finds indexes, partitions and statistics of what is under such a cast. The end of all times of a layout is no end of a
//! range either: it is concealed, as `(id >= 0) IS TRUE`.
//!
//! The share belongs into a structure that is made after the hook has derived, of each child of a table once more, and only
//! then the planner can tell the shares. So the call of the time, the bound and the concealed end have a note, where the
//! position in the query's text was, which every copy keeps. Expressions with a note change when the planner first asks for
//! statistics of a column of the table. Before that, the planner has compared bounds with partial indexes and constraints.

use crate::pg::backend::local::Local;
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, binary, column};
use crate::time_predicates::predicate::Candidate;
use pgrx::pg_sys::CoercionForm::COERCE_IMPLICIT_CAST;
use pgrx::pg_sys::NodeTag;
use pgrx::{pg_guard, pg_sys};
use std::ffi::c_int;
use std::ptr;

/// A position that no text has. As any negative number, it is an unknown position for the server.
const NOTE: c_int = -0x6d69_6e74;

/// True if a condition of this session had a note. Plans can be made within one another, so the query is not known.
static NOTED: Local<bool> = Local::new(false);
/// The query and the table that were seen to last.
static SEEN: Local<(*mut pg_sys::PlannerInfo, *mut pg_sys::RangeTblEntry)> =
    Local::new((ptr::null_mut(), ptr::null_mut()));
static PREVIOUS: Local<pg_sys::get_relation_stats_hook_type> = Local::new(None);

/// Hooks into the planner's requests for statistics. Called once.
pub fn install() {
    // SAFETY: a backend is one thread, and the function is of the type that the server calls.
    unsafe {
        PREVIOUS.set(pg_sys::get_relation_stats_hook);
        pg_sys::get_relation_stats_hook = Some(on_statistics);
    }
}

/// Makes the position of a bound a note, or that of a call that has a bound before it.
pub fn note(location: &mut c_int) {
    *location = NOTE;
    NOTED.set(true);
    // A table at the same address, of a query that is gone, was another one.
    SEEN.set((ptr::null_mut(), ptr::null_mut()));
}

/// Returns an equivalent condition that has all rows and is not a side of a range.
///
/// # Safety
/// A node of the planner, in whose memory this runs.
pub unsafe fn uncounted(condition: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: as the caller says. Zeroes are valid for all fields.
    unsafe {
        let made = pg_sys::palloc0(size_of::<pg_sys::BooleanTest>()).cast::<pg_sys::BooleanTest>();
        (*made).xpr.type_ = NodeTag::T_BooleanTest;
        (*made).arg = condition.cast();
        (*made).booltesttype = pg_sys::BoolTestType::IS_TRUE;
        (*made).location = NOTE;
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
        // A table that is read by its children has no estimate of its own.
        if NOTED.get() && SEEN.get() != (root, entry) && !(*entry).inh {
            SEEN.set((root, entry));
            // Both arrays have as many elements, of which the first is not used.
            let count = (*root).simple_rel_array_size.unsigned_abs() as usize;
            let place = (1..count).find(|&place| *(*root).simple_rte_array.add(place) == entry);
            if let Some(table) =
                place.and_then(|place| (*(*root).simple_rel_array.add(place)).as_ref())
            {
                see_to(root, table);
            }
        }
        PREVIOUS
            .get()
            .is_some_and(|previous| previous(root, entry, column, statistics))
    }
}

/// Sees to what has a note among the conditions of a table.
#[pg_guard]
unsafe extern "C-unwind" fn see_to(root: *mut pg_sys::PlannerInfo, table: &pg_sys::RelOptInfo) {
    // SAFETY: the list is of RestrictInfos, whose clauses are nodes.
    unsafe {
        let (mut bounds, mut others) = (Vec::new(), Vec::new());
        for condition in nodes(table.baserestrictinfo) {
            let condition = condition.cast::<pg_sys::RestrictInfo>();
            let clause = (*condition).clause.cast();
            let test = as_node::<pg_sys::BooleanTest>(clause, NodeTag::T_BooleanTest);
            let location = match test {
                Some(test) => Some((*test).location),
                None => Candidate::of(clause, table.relid).map(|found| (*found.call).location),
            };
            if location == Some(NOTE) {
                uncount(&mut *condition);
            } else if let Some((comparison, [left, right])) = binary(clause) {
                let of = column(left).or_else(|| column(right)).map(|of| of.varattno);
                if comparison.location == NOTE {
                    comparison.location = -1;
                    bounds.push((of, condition));
                } else {
                    others.push((of, condition));
                }
            }
        }
        others.retain(|(of, _)| bounds.iter().any(|(column, _)| of == column));
        let is_unknown = |(_, condition): &(_, *mut pg_sys::RestrictInfo)| {
            let (join, none) = (pg_sys::JoinType::JOIN_INNER, ptr::null_mut());
            let share = pg_sys::clause_selectivity(root, condition.cast(), 0, join, none);
            share == pg_sys::DEFAULT_INEQ_SEL
        };
        if !others.is_empty() && bounds.iter().chain(&others).any(is_unknown) {
            for (_, condition) in bounds {
                separate((*condition).clause.cast());
            }
        }
    }
}

/// Gives a condition all rows. As one on a value of no table, it is no end of a range either.
///
/// # Safety
/// Made by the planner.
unsafe fn uncount(condition: &mut pg_sys::RestrictInfo) {
    // This is a share that is known already. Before 19, more than 1 would say redundant as well.
    condition.norm_selec = 1.0;
    condition.outer_selec = 1.0;
    // SAFETY: in the planner's memory. No table has the number 0.
    let none = unsafe { pg_sys::bms_make_singleton(0) };
    for side in [&mut condition.left_relids, &mut condition.right_relids] {
        if side.is_null() {
            *side = none;
        }
    }
}

/// Makes a bound one of another expression: of a cast to the same type, which a collation keeps from being simplified.
///
/// # Safety
/// A comparison of the planner's, in whose memory this runs.
unsafe fn separate(bound: *mut pg_sys::OpExpr) {
    // SAFETY: as the caller says; a bound has the id on its left, maybe under a cast, which is replaced.
    unsafe {
        let id = &mut (*(*(*bound).args).elements).ptr_value;
        let (of, modifier) = (pg_sys::exprType(id.cast()), pg_sys::exprTypmod(id.cast()));
        let (collation, form) = (pg_sys::C_COLLATION_OID, COERCE_IMPLICIT_CAST);
        *id = pg_sys::applyRelabelType(id.cast(), of, modifier, collation, form, -1, false).cast();
    }
}
