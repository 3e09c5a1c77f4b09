//! The support functions of functions of an id's time.

use crate::time_predicates::function::TimeFunction;
use crate::time_predicates::hook;
use pgrx::{Internal, is_a, pg_sys};

/// Notes the oid of the function that the planner asks for, and from then on hears of tables. It changes nothing itself.
pub fn answer(
    mut request: Internal,
    call: pg_sys::FunctionCallInfo,
    function: &'static TimeFunction,
) -> Internal {
    // SAFETY: the argument of a support function is a node, whose tag says what it is; a call has the function that
    // it is of.
    unsafe {
        if let Some(node) = request.get_mut::<pg_sys::Node>() {
            let node: *mut pg_sys::Node = node;
            if is_a(node, pg_sys::NodeTag::T_SupportRequestSimplify) {
                let asked = (*node.cast::<pg_sys::SupportRequestSimplify>()).fcall;
                function.note((*asked).funcid, (*(*call).flinfo).fn_oid);
                hook::install();
            }
        }
    }
    // A support function without an answer returns a null pointer, which is not NULL.
    Internal::from(Some(pg_sys::Datum::from(0)))
}
