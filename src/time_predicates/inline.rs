//! `FROM event, snowflake_decode(id)` as the functions of the columns, so that the planner sees `snowflake_time(id)`.
//!
//! The planner inlines set-returning functions in SQL that stand in FROM, but calls one in C for each row. So there a
//! call of a function in SQL with the same rows replaces the call. Elsewhere the function in C is faster, and stays.

use crate::pg::catalog::function::Executable;
use crate::pg::catalog::{extension, function};
use crate::pg::datum::list::nodes;
use crate::pg::datum::node::{as_node, column, copy};
use crate::time_predicates::setting;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;

/// Returns the call that replaces a call; none if it stays.
///
/// # Safety
/// A request of the planner.
pub unsafe fn answer(request: &pg_sys::SupportRequestSimplify) -> Option<*mut pg_sys::Node> {
    // SAFETY: as the caller says; the result is in the planner's memory.
    unsafe {
        let call = &*request.fcall;
        let root = request.root.as_mut().filter(|_| setting::is_on())?;
        let mut arguments = nodes(call.args);
        let id = arguments.next()?;
        // A column and constants can be evaluated more than once.
        let is_cheap = column(id).is_some()
            && arguments.all(|other| as_node::<pg_sys::Const>(other, NodeTag::T_Const).is_some());
        if !is_cheap || !nodes((*root.parse).rtable).any(|entry| is_call(entry, call.funcid, id)) {
            return None;
        }
        let types = function::arguments(call.funcid);
        let (own, internal) = (function::schema(call.funcid), extension::namespace()?);
        let inlined = function::find(internal, c"snowflake_decode_inlined", &types)?;
        let parts = function::find(internal, c"snowflake_shard_parts", &types)?;
        let mut called = vec![call.funcid, inlined, parts];
        for name in [c"snowflake_time", c"snowflake_shard", c"snowflake_sequence"] {
            called.push(function::find(own, name, &types)?);
        }
        for called in called {
            match function::executable(called) {
                Executable::ByAll => (),
                Executable::ByUser => (*root.glob).dependsOnRole = true,
                Executable::No => return None,
            }
        }
        // The function counts only with the same owner, who could replace the one in C as well.
        if function::owner(call.funcid) != function::owner(inlined) {
            return None;
        }
        // The plan stays only as long as the function itself can be called.
        pg_sys::record_plan_function_dependency(root, call.funcid);
        let made = copy((&raw const *call).cast()).cast::<pg_sys::FuncExpr>();
        (*made).funcid = inlined;
        Some(made.cast())
    }
}

/// Returns whether an entry of FROM is such a call alone, not inlined yet. Its defaults are not filled in there.
unsafe fn is_call(entry: *mut pg_sys::Node, of: pg_sys::Oid, id: *mut pg_sys::Node) -> bool {
    // SAFETY: nodes of the planner, whose tags tell their types.
    unsafe {
        let entry = &*entry.cast::<pg_sys::RangeTblEntry>();
        let mut functions = nodes(entry.functions);
        let (Some(only), None) = (functions.next(), functions.next()) else {
            return false;
        };
        let only = (*only.cast::<pg_sys::RangeTblFunction>()).funcexpr;
        entry.rtekind == pg_sys::RTEKind::RTE_FUNCTION
            && !entry.funcordinality
            && as_node::<pg_sys::FuncExpr>(only, NodeTag::T_FuncExpr).is_some_and(|only| {
                let is_same = |other: *mut pg_sys::Node| pg_sys::equal(other.cast(), id.cast());
                (*only).funcid == of && nodes((*only).args).next().is_some_and(is_same)
            })
    }
}
