//! Errors, warnings and the log: SQLSTATE, message, detail and hint, in the encoding of the database.

use crate::pg::charset::{UTF8, carried, decode, encoding, escape};
use crate::pg::ports::{errdetail_internal, errhint, errmsg_internal};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, PgTryBuilder, function_name, pg_sys};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::AssertUnwindSafe;
use std::ptr;

/// An error that ends the statement, once it is raised. `\errverbose` shows the place that called [`report`].
#[must_use]
pub struct Report(ErrorReport);

/// Begins an error.
#[cold]
#[track_caller]
pub fn report(code: Code, message: impl Into<String>) -> Report {
    Report(ErrorReport::new(
        code,
        carried(message.into()),
        function_name!(),
    ))
}

impl Report {
    /// Adds facts, in full sentences.
    pub fn detail(self, text: impl Into<String>) -> Self {
        Self(self.0.set_detail(carried(text.into())))
    }

    /// Adds what to do about it, in full sentences.
    pub fn hint(self, text: impl Into<String>) -> Self {
        Self(self.0.set_hint(carried(text.into())))
    }

    /// Adds facts, if there are any.
    pub fn detail_if(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.detail(text),
            None => self,
        }
    }

    /// Adds what to do about it, if anything can be done.
    pub fn hint_if(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.hint(text),
            None => self,
        }
    }

    /// Ends the statement.
    pub fn raise(self) -> ! {
        self.0.report(PgLogLevel::ERROR);
        unreachable!("an error report does not return")
    }
}

/// An argument that may not be null, in a function that is not strict.
#[inline]
#[track_caller]
pub fn required<T>(value: Option<T>, name: &str) -> T {
    match value {
        Some(value) => value,
        None => report(
            Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("{name} must not be null"),
        )
        .raise(),
    }
}

/// Warns, and goes on.
pub fn warn(message: &'static str, detail: String, hint: &'static str) {
    ErrorReport::new(Code::ERRCODE_WARNING, message, function_name!())
        .set_detail(carried(detail))
        .set_hint(hint)
        .report(PgLogLevel::WARNING);
}

/// Writes to the server's log.
pub fn log(message: String) {
    ErrorReport::new(Code::ERRCODE_WARNING, carried(message), function_name!())
        .report(PgLogLevel::LOG);
}

/// A message as the full sentence that a detail is.
pub fn sentence(message: &str) -> Option<String> {
    let mut letters = message.chars();
    letters
        .next()
        .map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// An error of the code below, told in PostgreSQL's terms: SQLSTATE, detail and hint.
pub trait ToReport {
    /// Begins the report.
    #[track_caller]
    fn to_report(&self) -> Report;
}

impl ToReport for pgrx::spi::Error {
    fn to_report(&self) -> Report {
        report(Code::ERRCODE_INTERNAL_ERROR, self.to_string())
    }
}

/// The value of a result; an error ends the statement.
pub trait OrReport<T> {
    /// Returns the value, or not at all.
    #[track_caller]
    fn or_report(self) -> T;
}

impl<T, E: ToReport> OrReport<T> for Result<T, E> {
    #[inline]
    fn or_report(self) -> T {
        match self {
            Ok(value) => value,
            Err(error) => error.to_report().raise(),
        }
    }
}

/// The text of a value is refused.
#[cold]
#[track_caller]
pub fn bad_syntax(name: &str, text: &[u8]) -> Report {
    report(
        Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        syntax_message(name, text),
    )
}

/// What PostgreSQL's own types say of such a text.
pub fn syntax_message(name: &str, text: &[u8]) -> String {
    format!("invalid input syntax for type {name}: \"{}\"", decode(text))
}

/// The bytes of a value that has exactly so many.
#[track_caller]
pub fn exact_bytes<const N: usize>(bytes: &[u8], name: &str) -> [u8; N] {
    match bytes.try_into() {
        Ok(bytes) => bytes,
        Err(_) => report(
            Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
            format!("invalid input length for type {name}"),
        )
        .detail(format!("Expected {N} bytes, got {}.", bytes.len()))
        .raise(),
    }
}

/// Refuses the text of a value, unless the caller of the input function takes the error back as a value: for
/// `pg_input_is_valid` and `COPY ... ON_ERROR`, from 16 on. Then the function returns, and whatever it returns is not
/// looked at.
#[cold]
pub fn bad_syntax_or_value(call: pg_sys::FunctionCallInfo, name: &str, text: &[u8]) {
    if !saved(call, &syntax_message(name, text)) {
        bad_syntax(name, text).raise();
    }
}

#[cfg(feature = "pg15")]
fn saved(_: pg_sys::FunctionCallInfo, _: &str) -> bool {
    false
}

#[cfg(not(feature = "pg15"))]
fn saved(call: pg_sys::FunctionCallInfo, message: &str) -> bool {
    use crate::pg::ports::{errcode, errmsg};
    const CODE: c_int = Code::ERRCODE_INVALID_TEXT_REPRESENTATION as c_int;
    // SAFETY: a call's context is null or a node.
    let context = unsafe { (*call).context };
    // SAFETY: as above.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        return false;
    }
    let message = crate::pg::charset::c_string(message);
    // SAFETY: the server's own protocol for such a context, which raises nothing but its lack of
    // memory; the message is copied.
    unsafe {
        if pg_sys::errsave_start(context, std::ptr::null()) {
            let text = message.as_ptr();
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                errcode(CODE);
                errmsg(c"%s".as_ptr(), text)
            });
            let file = concat!(file!(), "\0").as_ptr().cast();
            pg_sys::errsave_finish(
                context,
                file,
                line!() as c_int,
                c"bad_syntax_or_value".as_ptr(),
            );
        }
    }
    true
}

/// Runs what may raise an error of the server's own. pgrx takes such an error for UTF-8, and marks what is not as lost;
/// so it is spelled out before pgrx sees it, and put back after.
pub fn relay<T>(work: impl FnOnce() -> T) -> T {
    if encoding() == UTF8 {
        return work();
    }
    // SAFETY: as the server's own code does around what it wants to add to errors; taken off below, whether there was
    // an error or none.
    let before = unsafe { pg_sys::error_context_stack };
    let mut speller = pg_sys::ErrorContextCallback {
        previous: before,
        callback: Some(spell_out),
        arg: ptr::null_mut(),
    };
    // SAFETY: as above.
    unsafe { pg_sys::error_context_stack = &raw mut speller };
    let result = PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_others(|error| {
            // SAFETY: as above.
            unsafe { pg_sys::error_context_stack = before };
            rethrow(error)
        })
        .execute();
    // SAFETY: as above.
    unsafe { pg_sys::error_context_stack = before };
    result
}

fn rethrow<T>(error: pg_sys::panic::CaughtError) -> T {
    use pg_sys::panic::CaughtError;
    let CaughtError::PostgresError(raised) = &error else {
        error.rethrow()
    };
    let text = |text: Option<&str>| text.map(str::to_owned);
    report(raised.sql_error_code(), raised.message().to_owned())
        .detail_if(text(raised.detail()))
        .hint_if(text(raised.hint()))
        .raise()
}

fn spell(text: &[u8]) -> String {
    let sign = |&byte: &u8| {
        if byte.is_ascii() {
            char::from(byte)
        } else {
            escape(byte)
        }
    };
    text.iter().map(sign).collect()
}

/// Called by the server while it finishes an error: in its texts, each byte beyond ASCII becomes the code point that
/// stands for it. Nothing is looked up for that, as the server may hold any lock here.
unsafe extern "C-unwind" fn spell_out(_: *mut c_void) {
    // SAFETY: the server calls this for the error that it is about to raise, of which a copy is made in memory that
    // lasts until the transaction's end. The texts are replaced by the functions that set them; those copy.
    unsafe {
        let context = pg_sys::MemoryContextSwitchTo(pg_sys::CurTransactionContext);
        let error = &*pg_sys::CopyErrorData();
        pg_sys::MemoryContextSwitchTo(context);
        if error.elevel < pgrx::PgLogLevel::ERROR as c_int {
            return;
        }
        let spelled = |text: *mut c_char| {
            let text = (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes())?;
            (!text.is_ascii()).then(|| CString::new(spell(text)).unwrap_or_default())
        };
        let texts = [error.message, error.detail, error.hint].map(spelled);
        let [message, detail, hint] = &texts;
        if let Some(text) = message {
            errmsg_internal(c"%s".as_ptr(), text.as_ptr());
        }
        if let Some(text) = detail {
            errdetail_internal(c"%s".as_ptr(), text.as_ptr());
        }
        if let Some(text) = hint {
            errhint(c"%s".as_ptr(), text.as_ptr());
        }
    }
}
