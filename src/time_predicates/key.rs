//! Whether a bound of a column helps to find its rows.

use crate::pg::catalog::scan::dependents;
use crate::pg::datum::list::{nodes, oids};
use crate::pg::datum::node::{column, mentions};
use pgrx::pg_sys;

/// A table that is being planned.
#[derive(Clone, Copy)]
pub struct Table {
    pub planned: *mut pg_sys::RelOptInfo,
    pub relation: pg_sys::Oid,
    /// It has partitions or other children, which are planned by themselves.
    pub has_children: bool,
}

/// Returns whether a column leads an index or the partition key in the order of an operator.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn leads(table: Table, id: pg_sys::AttrNumber, operator: pg_sys::Oid) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        leads_partitions(&*table.planned, id, operator)
            || nodes((*table.planned).indexlist)
                .any(|index| leads_index(&*index.cast::<pg_sys::IndexOptInfo>(), id, operator))
            || (table.has_children && leads_parent_index(table.relation, id, operator))
    }
}

/// # Safety
/// Made by the planner.
unsafe fn leads_partitions(
    table: &pg_sys::RelOptInfo,
    id: pg_sys::AttrNumber,
    operator: pg_sys::Oid,
) -> bool {
    // SAFETY: the two arrays have an element for each column of the key, of which there is at least one.
    unsafe {
        let Some(scheme) = table.part_scheme.as_ref() else {
            return false;
        };
        pg_sys::op_in_opfamily(operator, *scheme.partopfamily)
            && nodes(*table.partexprs)
                .any(|key| column(key).is_some_and(|column| column.varattno == id))
    }
}

/// # Safety
/// Made by the planner.
unsafe fn leads_index(
    index: &pg_sys::IndexOptInfo,
    id: pg_sys::AttrNumber,
    operator: pg_sys::Oid,
) -> bool {
    // A BRIN index is as good for its other columns.
    let count = if index.relam == pg_sys::BRIN_AM_OID {
        index.nkeycolumns
    } else {
        1
    };
    // SAFETY: the two arrays have an element for each column of the key, of which there is at least one.
    (0..count as usize).any(|place| unsafe {
        *index.indexkeys.add(place) == i32::from(id)
            && pg_sys::op_in_opfamily(operator, *index.opfamily.add(place))
    })
}

/// Returns whether a column leads an index of a table with children. The planner does not say which indexes that has; its
/// children usually have the same, but not all of them if it is not valid.
///
/// # Safety
/// The relation is locked.
unsafe fn leads_parent_index(
    relation: pg_sys::Oid,
    id: pg_sys::AttrNumber,
    operator: pg_sys::Oid,
) -> bool {
    // SAFETY: as the caller says. The arrays have an element for each column of the key, of which there is at least one.
    unsafe {
        any_index(relation, |index| {
            (*index.rd_index).indisvalid
                && *(*index.rd_index).indkey.values.as_ptr() == id
                && pg_sys::op_in_opfamily(operator, *index.rd_opfamily)
        })
    }
}

/// Returns whether a test holds for any index of a relation.
///
/// # Safety
/// The relation is locked.
#[cold]
unsafe fn any_index(
    relation: pg_sys::Oid,
    test: impl Fn(&mut pg_sys::RelationData) -> bool,
) -> bool {
    // SAFETY: the relation and its indexes are read before they are closed; locks stay, as the planner's own do.
    unsafe {
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let table = pg_sys::table_open(relation, no_lock);
        let found = oids(pg_sys::RelationGetIndexList(table)).any(|oid| {
            let index = pg_sys::index_open(oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            let holds = test(&mut *index);
            pg_sys::index_close(index, no_lock);
            holds
        });
        pg_sys::table_close(table, no_lock);
        found
    }
}

/// Returns whether a condition on a function can be of use to the planner itself, which finds such an expression in
/// indexes, their predicates, keys of partitions and constraints of children. Of the latter it is enough that no table has
/// one: a hypertable has thousands of children, of which the planner opens those that it reads.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn needs(table: Table, function: pg_sys::Oid) -> bool {
    // SAFETY: as the caller says. There are as many lists of expressions as columns of the key.
    unsafe {
        let planned = &*table.planned;
        let in_index = nodes(planned.indexlist).any(|index| {
            let index = &*index.cast::<pg_sys::IndexOptInfo>();
            mentions(index.indexprs, function) || mentions(index.indpred, function)
        });
        let in_key = planned.part_scheme.as_ref().is_some_and(|scheme| {
            (0..scheme.partnatts.unsigned_abs() as usize)
                .any(|place| mentions(*planned.partexprs.add(place), function))
        });
        in_index
            || in_key
            || (table.has_children
                && ((has_other_keys(table) && dependents::are_expressions(function))
                    || any_index(table.relation, |index| {
                        mentions(pg_sys::RelationGetIndexExpressions(index), function)
                            || mentions(pg_sys::RelationGetIndexPredicate(index), function)
                    })))
    }
}

/// Returns whether children are told apart by more than the table's own key: by constraints, or as partitions of
/// partitions.
///
/// # Safety
/// The relation is locked, and has children.
#[cold]
unsafe fn has_other_keys(table: Table) -> bool {
    // SAFETY: as the caller says. The array has an element for each partition.
    unsafe {
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let relation = pg_sys::table_open(table.relation, no_lock);
        let is_partitioned =
            (*(*relation).rd_rel).relkind == pg_sys::RELKIND_PARTITIONED_TABLE as std::ffi::c_char;
        let has = !is_partitioned || {
            let partitions = &*pg_sys::RelationGetPartitionDesc(relation, true);
            (0..partitions.nparts.unsigned_abs() as usize)
                .any(|place| !*partitions.is_leaf.add(place))
        };
        pg_sys::table_close(relation, no_lock);
        has
    }
}
