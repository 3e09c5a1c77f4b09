//! Errors of input functions that the caller wants as a value, not raised: for `pg_input_is_valid` and
//! `COPY ... ON_ERROR`. PostgreSQL has them from 16 on.

use super::errors;
use pgrx::pg_sys;

/// Refuses a text by [`errors::bad_syntax`], unless the caller of the input function takes it back as a
/// value. Then the function returns, and whatever it returns is not looked at.
#[cold]
pub fn bad_syntax(call: pg_sys::FunctionCallInfo, name: &str, text: &[u8]) {
    if !saved(call, &errors::syntax_message(name, text)) {
        errors::bad_syntax(name, text, None, None);
    }
}

#[cfg(feature = "pg15")]
fn saved(_: pg_sys::FunctionCallInfo, _: &str) -> bool {
    false
}

#[cfg(not(feature = "pg15"))]
fn saved(call: pg_sys::FunctionCallInfo, message: &str) -> bool {
    use super::charset;
    use pgrx::PgSqlErrorCode;
    use std::ffi::{c_char, c_int};
    // utils/elog.h, which pgrx does not bind.
    unsafe extern "C-unwind" {
        fn errcode(code: c_int) -> c_int;
        fn errmsg(format: *const c_char, ...) -> c_int;
    }
    const CODE: c_int = PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION as c_int;
    // SAFETY: a call's context is null or a node.
    let context = unsafe { (*call).context };
    // SAFETY: as above.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        return false;
    }
    let message = charset::c_string(message);
    // SAFETY: the server's own protocol for such a context, which raises nothing but its lack of
    // memory; the message is copied.
    unsafe {
        if pg_sys::errsave_start(context, std::ptr::null()) {
            let text = message.as_ptr();
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                errcode(CODE);
                errmsg(c"%s".as_ptr(), text)
            });
            let place = (c"soft.rs".as_ptr(), c"bad_syntax".as_ptr());
            pg_sys::errsave_finish(context, place.0, 0, place.1);
        }
    }
    true
}
