//! The support functions of functions of an id's time.

use crate::pg::datum::node::simplified;
use crate::time_predicates::function::TimeFunction;
use crate::time_predicates::{hook, inline};
use pgrx::{Internal, pg_sys};

/// Notes the oid of the function that the planner asks for, and from then on hears of tables. It changes nothing itself.
pub fn answer(
    request: Internal,
    call: pg_sys::FunctionCallInfo,
    function: &'static TimeFunction,
) -> Internal {
    simplified(request, |asked| {
        // SAFETY: a call has the function that it is of.
        unsafe { function.note((*asked.fcall).funcid, (*(*call).flinfo).fn_oid) };
        hook::install();
        None
    })
}

/// Answers with what a call of `snowflake_decode` is replaced by.
pub fn answer_decode(request: Internal) -> Internal {
    // SAFETY: a request of the planner's.
    simplified(request, |asked| unsafe { inline::answer(asked) })
}
