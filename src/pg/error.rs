//! Errors, warnings and the log: SQLSTATE, message, detail and hint, in the encoding of the database.

use crate::pg::charset::{Encoded, LONGEST_MESSAGE, UTF8, encoding, escape, excerpt, is_escaped};
use crate::pg::ports::{errdetail_internal, errhint, errmsg_internal};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::backtrace::Backtrace;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::ptr;

/// The function that `\errverbose` shows: Rust knows the caller's file and line, and not its name.
const FUNCTION: &str = "pg_mint";

/// The function of the server that raises the errors of cancellation, timeouts and termination.
pub const INTERRUPTS: &str = "ProcessInterrupts";

/// Keeps backtraces out of the DETAIL of errors, where pgrx puts them if `RUST_BACKTRACE` is in the server's environment: they
/// show paths of source files to clients. Called first when the library is loaded.
///
/// The standard library reads the environment at the first capture, and then never again in this process. Each library has
/// its own copy of it, so those of other extensions still have their backtraces.
pub fn init() {
    const SWITCH: &str = "RUST_LIB_BACKTRACE";
    let before = env::var_os(SWITCH);
    if before.is_none() && env::var_os("RUST_BACKTRACE").is_none() {
        return;
    }
    // SAFETY: processes of the server have one thread, and the environment is as before afterwards.
    unsafe { env::set_var(SWITCH, "0") };
    let _ = Backtrace::capture();
    match before {
        // SAFETY: as above.
        Some(value) => unsafe { env::set_var(SWITCH, value) },
        // SAFETY: as above.
        None => unsafe { env::remove_var(SWITCH) },
    }
}

/// An error that ends the statement once it is raised. `\errverbose` shows the place that called [`report`].
#[must_use]
pub struct Report(ErrorReport);

/// Begins an error.
#[cold]
#[track_caller]
pub fn report(code: Code, message: impl Into<String>) -> Report {
    report_of(FUNCTION, code, message.into())
}

/// Begins an error that ends more than what has raised it, as those of the server's own interrupts do.
#[track_caller]
pub fn interrupt(code: Code, message: impl Into<String>) -> Report {
    report_of(INTERRUPTS, code, message.into())
}

#[track_caller]
fn report_of(function: &'static str, code: Code, message: String) -> Report {
    let message = Encoded::message(&message);
    // SAFETY: the report is pgrx's, and private to this file.
    let message = unsafe { message.for_pgrx() };
    Report(ErrorReport::new(code, message, function))
}

impl Report {
    /// Adds a DETAIL: facts, in full sentences.
    pub fn detail(self, text: impl Into<String>) -> Self {
        let text = Encoded::message(&text.into());
        // SAFETY: as in `report`.
        Self(self.0.set_detail(unsafe { text.for_pgrx() }))
    }

    /// Adds a HINT: what to do about it, in full sentences.
    pub fn hint(self, text: impl Into<String>) -> Self {
        let text = Encoded::message(&text.into());
        // SAFETY: as in `report`.
        Self(self.0.set_hint(unsafe { text.for_pgrx() }))
    }

    /// Adds a DETAIL, if there is one.
    pub fn detail_if(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.detail(text),
            None => self,
        }
    }

    /// Adds a HINT, if there is one.
    pub fn hint_if(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.hint(text),
            None => self,
        }
    }

    /// Sends the report at a level below an error. That fails where the encoding of the client does not have its letters, which
    /// pgrx does not expect.
    fn send(self, level: PgLogLevel) {
        // SAFETY: an error of the server leaves the texts of the report behind, and nothing else.
        unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| self.0.report(level)) };
    }

    /// Raises the error, which ends the statement.
    pub fn raise(self) -> ! {
        self.0.report(PgLogLevel::ERROR);
        unreachable!("an error report does not return")
    }
}

/// Ends this process with an error, as the server does when it stops.
#[track_caller]
pub fn end_process(message: &str) -> ! {
    let end = report(Code::ERRCODE_ADMIN_SHUTDOWN, message);
    end.0.report(PgLogLevel::FATAL);
    unreachable!("the process has ended")
}

/// Returns an argument that must not be null, in a function that is not strict.
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

/// Sends a warning to the client.
#[track_caller]
pub fn warn(message: impl Into<String>, detail: String, hint: Option<&'static str>) {
    let warning = report(Code::ERRCODE_WARNING, message).detail(detail);
    let warning = warning.hint_if(hint.map(str::to_owned));
    warning.send(PgLogLevel::WARNING);
}

/// Writes to the server's log.
#[track_caller]
pub fn log(message: String) {
    let line = report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message);
    line.send(PgLogLevel::LOG);
}

/// Writes to the server's log, with a detail and a hint.
#[track_caller]
pub fn log_with(message: &'static str, detail: impl Into<String>, hint: &'static str) {
    let line = report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message).detail(detail);
    line.hint(hint).send(PgLogLevel::LOG);
}

/// Raises the error of what cannot happen. `what` is missing or is not as expected.
#[cold]
#[track_caller]
pub fn impossible(what: &str) -> ! {
    report(Code::ERRCODE_INTERNAL_ERROR, format!("unexpected {what}")).raise()
}

/// Turns a message into the full sentence that a detail is.
pub fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// An error of core or pgrx, with what PostgreSQL adds to its message.
pub trait ToReport: Display {
    /// Returns the SQLSTATE.
    fn code(&self) -> Code;

    /// Adds detail and hint.
    fn explain(&self, report: Report) -> Report {
        report
    }

    /// Begins the report, at the caller's place.
    #[track_caller]
    fn to_report(&self) -> Report {
        self.explain(report(self.code(), self.to_string()))
    }
}

impl ToReport for pgrx::spi::Error {
    fn code(&self) -> Code {
        Code::ERRCODE_INTERNAL_ERROR
    }
}

/// A result whose error ends the statement.
pub trait OrReport<T> {
    /// Returns the value, or raises the error.
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

/// Begins the error of a value whose text is not valid.
#[cold]
#[track_caller]
pub fn bad_syntax(name: &str, text: &[u8]) -> Report {
    report(
        Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        syntax_message(name, text),
    )
}

/// Returns the message of PostgreSQL's own types for a text that is not valid.
pub fn syntax_message(name: &str, text: &[u8]) -> String {
    format!(
        "invalid input syntax for type {name}: \"{}\"",
        excerpt(text)
    )
}

/// Returns the bytes of a value that must have exactly `N`.
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

/// Raises the error of a value whose text is not valid, or saves it as a soft error for `pg_input_is_valid` and
/// `COPY ... ON_ERROR`, from 16 on. With the error saved, the server ignores what the input function returns.
#[cold]
#[track_caller]
pub fn ereturn_bad_syntax(call: pg_sys::FunctionCallInfo, name: &str, text: &[u8]) {
    if !errsave(call, &syntax_message(name, text)) {
        bad_syntax(name, text).raise();
    }
}

#[cfg(feature = "pg15")]
fn errsave(_: pg_sys::FunctionCallInfo, _: &str) -> bool {
    false
}

/// Saves an error where the call has a context for soft errors; returns whether it has.
#[cfg(not(feature = "pg15"))]
fn errsave(call: pg_sys::FunctionCallInfo, message: &str) -> bool {
    use crate::pg::ports::{errcode, errmsg};
    const CODE: c_int = Code::ERRCODE_INVALID_TEXT_REPRESENTATION as c_int;
    // SAFETY: a call's context is null or a node.
    let context = unsafe { (*call).context };
    // SAFETY: as above.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        return false;
    }
    let message = crate::pg::charset::c_string(message);
    // SAFETY: the server's own protocol for such a context, which raises no error but out of memory; the message is
    // copied.
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
                c"ereturn_bad_syntax".as_ptr(),
            );
        }
    }
    true
}

/// Runs `work`, which can raise an error of the server's own, and raises that again without its context: it quotes the
/// statement, which this library wrote and not the caller.
///
/// pgrx reads the texts of an error as UTF-8 and replaces what is not. So other bytes are escaped before pgrx reads them,
/// and the error is raised again with the original texts.
pub fn relay_errors<T>(work: impl FnOnce() -> T) -> T {
    if encoding() == UTF8 {
        return PgTryBuilder::new(AssertUnwindSafe(work))
            .catch_others(rethrow)
            .execute();
    }
    // SAFETY: pushed and popped as the server's own code does; popped below, with or without an error.
    let before = unsafe { pg_sys::error_context_stack };
    let mut context = pg_sys::ErrorContextCallback {
        previous: before,
        callback: Some(escape_error),
        arg: ptr::null_mut(),
    };
    // SAFETY: as above.
    unsafe { pg_sys::error_context_stack = &raw mut context };
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
    let CaughtError::PostgresError(raised) = error else {
        error.rethrow()
    };
    // SAFETY: the error was copied, and the server is to raise the copy.
    unsafe { pg_sys::FlushErrorState() };
    let texts = [Some(raised.message()), raised.detail(), raised.hint()];
    let is_short = |text: &&str| text.len() <= LONGEST_MESSAGE;
    if encoding() == UTF8 && texts.iter().flatten().all(is_short) {
        CaughtError::ErrorReport(raised).rethrow()
    }
    let text = |text: Option<&str>| text.map(str::to_owned);
    let begin: fn(Code, String) -> Report = match raised.function_name() {
        Some(INTERRUPTS) => interrupt,
        _ => report,
    };
    begin(raised.sql_error_code(), raised.message().to_owned())
        .detail_if(text(raised.detail()))
        .hint_if(text(raised.hint()))
        .raise()
}

fn escape_bytes(text: &[u8]) -> String {
    let sign = |&byte: &u8| {
        if byte.is_ascii() {
            char::from(byte)
        } else {
            escape(byte)
        }
    };
    text.iter().map(sign).collect()
}

/// Replaces, as an error context callback, each byte of the error's texts beyond ASCII by the code point that stands for it.
/// That takes no lookup, as the server may hold any lock here.
unsafe extern "C-unwind" fn escape_error(_: *mut c_void) {
    // SAFETY: the server calls this for the error that it is about to raise. Its copy lasts until the end of the
    // transaction; the functions that set the texts copy them.
    unsafe {
        let context = pg_sys::MemoryContextSwitchTo(pg_sys::CurTransactionContext);
        let error = &*pg_sys::CopyErrorData();
        pg_sys::MemoryContextSwitchTo(context);
        if error.elevel < pgrx::PgLogLevel::ERROR as c_int {
            return;
        }
        let escaped = |text: *mut c_char| {
            let text = (!text.is_null()).then(|| CStr::from_ptr(text).to_bytes())?;
            (!is_escaped(text)).then(|| CString::new(escape_bytes(text)).unwrap_or_default())
        };
        let texts = [error.message, error.detail, error.hint].map(escaped);
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
