//! The order of the times of ids is that of the ids: `ORDER BY snowflake_time(id)` and `max(snowflake_time(id))` by an
//! index of the id.
//!
//! The planner knows that an index delivers the order of its own columns, and looks for nothing else. So an entry is
//! added to its list of the table's indexes, which is a copy of the index's own but for the order that it delivers. The
//! hook of the planner is the place for entries that are not in the catalogs.
//!
//! That order is right where a larger id never has an earlier time, and none has no time: where the time is the upper part
//! of ids that are not negative, and others are refused. Equal times are in the order of the ids, which the query allows.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, constant, list};
use crate::time_predicates::predicate::{DATETIME_OPERATORS, call, call_of};
use crate::time_predicates::setting;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use std::ptr;

/// Returns the expressions of a time that a query is ordered by.
///
/// # Safety
/// The planner has called its hook for a table.
#[inline]
pub unsafe fn keys(root: *mut pg_sys::PlannerInfo) -> impl Iterator<Item = *mut pg_sys::Node> {
    // SAFETY: as the caller says. Entries are found by reading alone: a guarded call of the server costs 1,500 instructions.
    unsafe {
        let query = &*(*root).parse;
        let columns = |key: &pg_sys::SortGroupClause| {
            let place = key.tleSortGroupRef;
            nodes(query.targetList)
                .map(|column| &*column.cast::<pg_sys::TargetEntry>())
                .find(|column| column.ressortgroupref == place)
        };
        nodes(query.sortClause)
            .filter_map(move |key| Some(columns(&*key.cast())?.expr.cast()))
            .filter(|&key| call(key).is_some())
    }
}

/// A time in whose order the ids of a column are.
struct TimeOfId {
    function: pg_sys::Oid,
    /// The id, as the function gets it.
    id: *mut pg_sys::Node,
    column: pg_sys::AttrNumber,
}

impl TimeOfId {
    /// Reads an expression on a table.
    ///
    /// # Safety
    /// A node of the planner's.
    unsafe fn of(key: *mut pg_sys::Node, table: pg_sys::Index) -> Option<Self> {
        // SAFETY: as the caller says.
        unsafe {
            let (function, arguments, column) = call_of(key, table)?;
            let mut arguments = nodes(arguments);
            let id = arguments.next()?;
            let others = arguments
                .map(|other| constant(other))
                .collect::<Option<Vec<&[u8]>>>()?;
            if !function.is_exact || !(function.is_ordered)(&others) {
                return None;
            }
            let function = function.oid()?;
            Some(Self {
                function,
                id,
                column,
            })
        }
    }
}

/// Makes the first condition of a query for `min()` or `max()`, that the time is not null, one that the id is not. The planner
/// puts it before those that were written, which can keep ids away that have no time.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn ask_of_id(root: *mut pg_sys::PlannerInfo, table: pg_sys::Index) {
    // SAFETY: as the caller says. The conditions are a list by now, of this query alone.
    unsafe {
        if !setting::is_on() {
            return;
        }
        let conditions: *mut pg_sys::List = (*(*(*root).parse).jointree).quals.cast();
        if let Some(first) = nodes(conditions).next()
            && let Some(asked) = asked_of_id(root, first, table)
        {
            (*(*conditions).elements).ptr_value = asked.cast();
        }
        // The parts of a UNION ALL get the condition from what that is in the query, for which there is no hook.
        let above = topmost(root, table);
        let union = (*(*root).simple_rel_array.add(above as usize)).as_ref();
        let conditions = union
            .filter(|union| union.rtekind == pg_sys::RTEKind::RTE_SUBQUERY)
            .map_or(ptr::null_mut(), |union| union.baserestrictinfo);
        for condition in nodes(conditions) {
            let condition = &mut *condition.cast::<pg_sys::RestrictInfo>();
            if let Some(asked) = asked_of_id(root, condition.clause.cast(), above) {
                condition.clause = asked;
            }
        }
    }
}

/// Returns the condition on the id that takes the place of one on the time by which a query is ordered; none of another one.
///
/// # Safety
/// A condition of the query.
unsafe fn asked_of_id(
    root: *mut pg_sys::PlannerInfo,
    condition: *mut pg_sys::Node,
    table: pg_sys::Index,
) -> Option<*mut pg_sys::Expr> {
    // SAFETY: as the caller says.
    unsafe {
        let test = as_node::<pg_sys::NullTest>(condition, NodeTag::T_NullTest)?;
        let time: *mut pg_sys::Node = (*test).arg.cast();
        let is_it = (*test).nulltesttype == pg_sys::NullTestType::IS_NOT_NULL
            && keys(root).any(|key| pg_sys::equal(key.cast(), time.cast()));
        let of = TimeOfId::of(time, table).filter(|_| is_it)?;
        (*test).arg = of.id.cast();
        Some(if cfg!(any(feature = "pg15", feature = "pg16")) {
            concealed(test.cast()).cast()
        } else {
            test.cast()
        })
    }
}

/// Returns what a table is a part of in the query: a partitioned table, the parent of children, or a UNION ALL; itself otherwise.
unsafe fn topmost(root: *mut pg_sys::PlannerInfo, table: pg_sys::Index) -> pg_sys::Index {
    // SAFETY: the array has an element for each table of the query, or is not there.
    unsafe {
        let children = (*root).append_rel_array;
        if children.is_null() || (*children.add(table as usize)).is_null() {
            return table;
        }
        topmost(root, (**children.add(table as usize)).parent_relid)
    }
}

/// Returns a condition which means the same, and of which releases of 15 and 16 do not see that it is one on a partition key: they
/// could forget the default partition (`conditions`).
///
/// # Safety
/// A node of the planner's, in whose memory this runs.
unsafe fn concealed(condition: *mut pg_sys::Expr) -> *mut pg_sys::BooleanTest {
    // SAFETY: as the caller says. Zeroes are valid for all fields.
    unsafe {
        let made = pg_sys::palloc0(size_of::<pg_sys::BooleanTest>()).cast::<pg_sys::BooleanTest>();
        (*made).xpr.type_ = NodeTag::T_BooleanTest;
        (*made).arg = condition;
        (*made).booltesttype = pg_sys::BoolTestType::IS_TRUE;
        made
    }
}

/// Adds what indexes of a table deliver of the order of a query.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn offer(root: *mut pg_sys::PlannerInfo, table: *mut pg_sys::RelOptInfo) {
    // SAFETY: as the caller says. The list is read to its end before it grows.
    unsafe {
        if !setting::is_on() {
            return;
        }
        for key in keys(root) {
            let key = of_child(root, key, (*table).relid);
            let Some(time) = TimeOfId::of(key, (*table).relid) else {
                continue;
            };
            // The usual order of ids, or that one reversed.
            let id = pg_sys::exprType(time.id);
            let usual = pg_sys::lookup_type_cache(id, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let leading: Vec<_> = nodes((*table).indexlist)
                .map(|index| &*index.cast::<pg_sys::IndexOptInfo>())
                .filter(|index| {
                    !index.sortopfamily.is_null()
                        && *index.sortopfamily == (*usual).btree_opf
                        && *index.indexkeys == i32::from(time.column)
                })
                .collect();
            for index in leading {
                (*table).indexlist =
                    pg_sys::lappend((*table).indexlist, by_time(index, key).cast());
                pg_sys::record_plan_function_dependency(root, time.function);
            }
        }
    }
}

/// Returns an expression on the columns of a parent as one on those of its child; of another table as it is.
unsafe fn of_child(
    root: *mut pg_sys::PlannerInfo,
    key: *mut pg_sys::Node,
    child: pg_sys::Index,
) -> *mut pg_sys::Node {
    // SAFETY: the array has an element for each table of the query, or is not there.
    unsafe {
        let children = (*root).append_rel_array;
        if children.is_null() || (*children.add(child as usize)).is_null() {
            return key;
        }
        let mut child = *children.add(child as usize);
        let above = of_child(root, key, (*child).parent_relid);
        pg_sys::adjust_appendrel_attrs(root, above, 1, &raw mut child)
    }
}

/// Returns an index as one that delivers the order of a time.
///
/// Conditions on its columns remain conditions on it. Nothing else must be taken from it: neither that its first column is
/// unique or can be read, nor what its first and last value are, which the planner reads of no hypothetical index.
unsafe fn by_time(
    index: &pg_sys::IndexOptInfo,
    time: *mut pg_sys::Node,
) -> *mut pg_sys::IndexOptInfo {
    // SAFETY: memory of the planner, as large as what is written there. The arrays have an element for each column of
    // the key.
    unsafe {
        let first = |of: *const pg_sys::Oid, value| {
            let size = index.nkeycolumns.unsigned_abs() as usize;
            let copy = pg_sys::palloc0(size * size_of::<pg_sys::Oid>()).cast::<pg_sys::Oid>();
            copy.copy_from_nonoverlapping(of, size);
            *copy = value;
            copy
        };
        let made = pg_sys::palloc0(size_of_val(index)).cast::<pg_sys::IndexOptInfo>();
        made.copy_from_nonoverlapping(index, 1);
        let column = pg_sys::makeTargetEntry(time.cast(), 1, ptr::null_mut(), false);
        (*made).indextlist = list([column.cast()]);
        (*made).sortopfamily = first(index.sortopfamily, DATETIME_OPERATORS);
        (*made).opcintype = first(index.opcintype, pg_sys::TIMESTAMPTZOID);
        (*made).canreturn = pg_sys::palloc0(index.ncolumns.unsigned_abs() as usize).cast();
        (*made).amhasgetbitmap = false;
        (*made).unique = false;
        (*made).immediate = false;
        (*made).hypothetical = true;
        made
    }
}
