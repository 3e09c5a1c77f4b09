//! The support functions of functions of an id's time.

use crate::time_predicates::function::TimeFunction;
use crate::time_predicates::{hook, inline};
use pgrx::{Internal, is_a, pg_sys};

/// Notes the oid of the function that the planner asks for, and from then on hears of tables. It changes nothing itself.
pub fn answer(
    request: Internal,
    call: pg_sys::FunctionCallInfo,
    function: &'static TimeFunction,
) -> Internal {
    simplify(request, |asked| {
        // SAFETY: a call has the function that it is of.
        unsafe { function.note((*asked.fcall).funcid, (*(*call).flinfo).fn_oid) };
        hook::install();
        None
    })
}

/// Answers with what a call of `snowflake_decode` is replaced by.
pub fn answer_decode(request: Internal) -> Internal {
    // SAFETY: a request of the planner's.
    simplify(request, |asked| unsafe { inline::answer(asked) })
}

/// Answers a request to simplify a call. A support function without an answer returns a null pointer, which is not NULL.
fn simplify(
    mut request: Internal,
    answer: impl FnOnce(&pg_sys::SupportRequestSimplify) -> Option<*mut pg_sys::Node>,
) -> Internal {
    let mut answered = None;
    // SAFETY: the argument of a support function is a node, whose tag says what it is.
    unsafe {
        if let Some(node) = request.get_mut::<pg_sys::Node>() {
            let node: *mut pg_sys::Node = node;
            if is_a(node, pg_sys::NodeTag::T_SupportRequestSimplify) {
                answered = answer(&*node.cast());
            }
        }
    }
    Internal::from(Some(pg_sys::Datum::from(
        answered.unwrap_or(std::ptr::null_mut()),
    )))
}
