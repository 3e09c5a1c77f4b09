//! Facts about ids from a table's CHECK constraints.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, binary, column};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// Returns whether a CHECK constraint proves that a column has only UUIDs of version 7, or NULL, by one of two
/// functions: `uuid_version_of(id) = 7`.
///
/// # Safety
/// The entry is that of a table for which the planner has called its hook.
pub unsafe fn says_version_7(
    entry: *const pg_sys::RangeTblEntry,
    id: pg_sys::AttrNumber,
    functions: [pg_sys::Oid; 2],
) -> bool {
    // SAFETY: the relation is locked, and read before it is closed.
    unsafe {
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let relation = pg_sys::table_open((*entry).relid, no_lock);
        let all = (*(*relation).rd_att).constr.as_ref();
        let says = all.is_some_and(|all| {
            (0..usize::from(all.num_check)).any(|place| {
                let check = &*all.check.add(place);
                holds(check, (*entry).inh) && {
                    let condition = pg_sys::stringToNode(check.ccbin).cast();
                    implies(condition, id, functions)
                }
            })
        });
        pg_sys::table_close(relation, no_lock);
        says
    }
}

/// The operators `=` of smallint and integer, in all pairs.
const EQUALITIES: [u32; 4] = [94, 532, 533, 96];

/// Returns whether a constraint holds for every row of a table, and of its children if these are read as well.
fn holds(check: &pg_sys::ConstrCheck, has_children: bool) -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    let enforced = true;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    let enforced = check.ccenforced;
    enforced && check.ccvalid && !(check.ccnoinherit && has_children)
}

/// # Safety
/// It is a node.
unsafe fn implies(
    condition: *mut pg_sys::Node,
    id: pg_sys::AttrNumber,
    functions: [pg_sys::Oid; 2],
) -> bool {
    // SAFETY: a node, whose tag says what it is.
    unsafe {
        if let Some(all) = as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) {
            return (*all).boolop == pg_sys::BoolExprType::AND_EXPR
                && nodes((*all).args).any(|part| implies(part, id, functions));
        }
        let Some((equality, [left, right])) = binary(condition) else {
            return false;
        };
        let is_call = |node| {
            as_node::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr).is_some_and(|call| {
                functions.contains(&(*call).funcid)
                    && nodes((*call).args)
                        .next()
                        .and_then(|id| column(id))
                        .is_some_and(|column| column.varattno == id)
            })
        };
        let is_seven = |node| {
            as_node::<pg_sys::Const>(node, NodeTag::T_Const).is_some_and(|constant| {
                [pg_sys::INT2OID, pg_sys::INT4OID].contains(&(*constant).consttype)
                    && !(*constant).constisnull
                    && (*constant).constvalue.value() == 7
            })
        };
        EQUALITIES.contains(&equality.opno.to_u32())
            && ((is_call(left) && is_seven(right)) || (is_call(right) && is_seven(left)))
    }
}
