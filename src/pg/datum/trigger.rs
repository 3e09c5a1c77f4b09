//! Calls of trigger functions.

use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, PgTrigger, pg_sys};

/// Returns the trigger that a call is of, or raises the error of a function that is called as no trigger.
#[track_caller]
pub fn of_call<'a>(call: pg_sys::FunctionCallInfo, function: &str) -> PgTrigger<'a> {
    // SAFETY: the call is the server's, as it came; all that it points to outlives the call of the function.
    match unsafe { PgTrigger::from_fcinfo(&*call) } {
        Ok(trigger) => trigger,
        Err(_) => report(
            Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            format!("function \"{function}\" was not called by trigger manager"),
        )
        .raise(),
    }
}
