//! The support functions of functions of an id's time, and of those that are a range of ids.

use crate::pg::planner::function::{TimeFunction, note_type};
use crate::pg::planner::hook;
use crate::pg::planner::node::nodes;
use pgrx::{Internal, is_a, pg_sys};

/// Notes for which function the planner asks, if it is one of a time, and for which type of ids, and from then on hears
/// of tables. It changes nothing itself.
pub fn answer(
    mut request: Internal,
    call: pg_sys::FunctionCallInfo,
    function: Option<&'static TimeFunction>,
) -> Internal {
    // SAFETY: the argument of a support function is a node, whose tag says what it is; a call has the function that
    // it is of.
    unsafe {
        if let Some(node) = request.get_mut::<pg_sys::Node>() {
            let node: *mut pg_sys::Node = node;
            if is_a(node, pg_sys::NodeTag::T_SupportRequestSimplify) {
                let asked = (*node.cast::<pg_sys::SupportRequestSimplify>()).fcall;
                if let Some(function) = function {
                    function.note((*asked).funcid, (*(*call).flinfo).fn_oid);
                }
                if let Some(id) = nodes((*asked).args).next() {
                    note_type(pg_sys::exprType(id));
                }
                hook::install();
            }
        }
    }
    // A support function without an answer returns a null pointer, which is not NULL.
    Internal::from(Some(pg_sys::Datum::from(0)))
}
