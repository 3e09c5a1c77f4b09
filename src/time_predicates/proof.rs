//! What a table's CHECK constraints say of an id.

use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, binary, column};
use crate::time_predicates::key::Table;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// Returns whether a CHECK constraint says that one of the functions of a column has a value: `uuid_version_of(id) = 7`. It
/// can be NULL as well.
///
/// # Safety
/// The planner has called its hook for the table.
pub unsafe fn says(
    table: Table,
    id: pg_sys::AttrNumber,
    functions: [pg_sys::Oid; 2],
    value: i32,
) -> bool {
    // SAFETY: the relation is locked, and read before it is closed.
    unsafe {
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let relation = pg_sys::table_open(table.relation, no_lock);
        let all = (*(*relation).rd_att).constr.as_ref();
        let says = all.is_some_and(|all| {
            (0..usize::from(all.num_check)).any(|place| {
                let check = &*all.check.add(place);
                holds(check, table) && {
                    let condition = pg_sys::stringToNode(check.ccbin).cast();
                    implies(condition, id, functions, value)
                }
            })
        });
        pg_sys::table_close(relation, no_lock);
        says
    }
}

/// The operators `=` of smallint and integer, in all pairs.
const EQUALITIES: [u32; 4] = [94, 532, 533, 96];

/// Returns whether a constraint is true of every row of a table, and of its children if these are read as well.
fn holds(check: &pg_sys::ConstrCheck, table: Table) -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
    let enforced = true;
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17")))]
    let enforced = check.ccenforced;
    enforced && check.ccvalid && !(check.ccnoinherit && table.has_children)
}

/// # Safety
/// A node.
unsafe fn implies(
    condition: *mut pg_sys::Node,
    id: pg_sys::AttrNumber,
    functions: [pg_sys::Oid; 2],
    value: i32,
) -> bool {
    // SAFETY: a node, whose tag says what it is.
    unsafe {
        if let Some(all) = as_node::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) {
            return (*all).boolop == pg_sys::BoolExprType::AND_EXPR
                && nodes((*all).args).any(|part| implies(part, id, functions, value));
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
        let is_value = |node| {
            as_node::<pg_sys::Const>(node, NodeTag::T_Const).is_some_and(|constant| {
                let datum = (*constant).constvalue;
                let constant_value = match (*constant).consttype {
                    pg_sys::INT2OID => i32::from(datum.value() as i16),
                    pg_sys::INT4OID => datum.value() as i32,
                    _ => return false,
                };
                !(*constant).constisnull && constant_value == value
            })
        };
        EQUALITIES.contains(&equality.opno.to_u32())
            && ((is_call(left) && is_value(right)) || (is_call(right) && is_value(left)))
    }
}
