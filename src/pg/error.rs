//! Errors, warnings and the log: SQLSTATE, message, detail and hint, in the encoding of the database.

use crate::pg::charset::{decode, encode_shown, is_utf8};
use mint_core::bytes::excerpt::{ELLIPSIS, MAX_EXCERPT_BYTES, excerpt_of};
use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::backtrace::Backtrace;
use std::env;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;

/// The function that `\errverbose` shows: Rust knows the caller's file and line, but not its name.
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

/// Begins an error that ends more than the code that raised it, as the server's own interrupts do.
#[track_caller]
pub fn interrupt(code: Code, message: impl Into<String>) -> Report {
    report_of(INTERRUPTS, code, message.into())
}

#[track_caller]
fn report_of(function: &'static str, code: Code, message: String) -> Report {
    Report(ErrorReport::new(code, for_pgrx(&message), function))
}

/// Encodes a text of a message, cut off at a length that no text of this library has: a message and the log have little
/// of a long text that a caller gave.
pub fn message(text: &str) -> Vec<u8> {
    const LONGEST_MESSAGE: usize = 600;
    encode_shown(&excerpt_of(text, LONGEST_MESSAGE))
}

fn for_pgrx(text: &str) -> String {
    // SAFETY: the text might not be UTF-8. The report is pgrx's, which copies the bytes, and private to this file.
    unsafe { String::from_utf8_unchecked(message(text)) }
}

/// Returns the beginning of a text of the database for a message. Nothing behind it is read.
pub fn excerpt(text: &[u8]) -> String {
    let [length, longest] =
        [text.len(), MAX_EXCERPT_BYTES].map(|bytes| i32::try_from(bytes).unwrap_or(i32::MAX));
    // SAFETY: reads the characters of a text that has so many bytes.
    let end = unsafe { pg_sys::pg_mbcliplen(text.as_ptr().cast(), length, longest) };
    let beginning = decode(&text[..end.unsigned_abs() as usize]);
    beginning + if end < length { ELLIPSIS } else { "" }
}

impl Report {
    /// Adds a DETAIL: facts, in full sentences.
    pub fn detail(self, text: impl Into<String>) -> Self {
        Self(self.0.set_detail(for_pgrx(&text.into())))
    }

    /// Adds a HINT: an action for the user, in full sentences.
    pub fn hint(self, text: impl Into<String>) -> Self {
        Self(self.0.set_hint(for_pgrx(&text.into())))
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

    /// Sends the report at a level below an error. That fails if the encoding of the client lacks its letters, which
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

/// Raises the error of an impossible state. `what` is missing or is not as expected.
#[cold]
#[track_caller]
pub fn impossible(what: &str) -> ! {
    report(Code::ERRCODE_INTERNAL_ERROR, format!("unexpected {what}")).raise()
}

/// Turns a message into a full sentence, for a detail.
pub fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// An error of core or pgrx, with the SQLSTATE, detail and hint of PostgreSQL.
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

/// Saves an error if the call has a context for soft errors; returns whether it has.
#[cfg(not(feature = "pg15"))]
fn errsave(call: pg_sys::FunctionCallInfo, message: &str) -> bool {
    use crate::pg::ports::{errcode, errmsg};
    const CODE: std::ffi::c_int = Code::ERRCODE_INVALID_TEXT_REPRESENTATION as std::ffi::c_int;
    // SAFETY: a call's context is null or a node.
    let context = unsafe { (*call).context };
    // SAFETY: as above.
    if context.is_null() || unsafe { (*context).type_ } != pg_sys::NodeTag::T_ErrorSaveContext {
        return false;
    }
    let message = std::ffi::CString::new(self::message(message)).unwrap_or_default();
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
                line!() as std::ffi::c_int,
                c"ereturn_bad_syntax".as_ptr(),
            );
        }
    }
    true
}

/// Runs `work`, which can raise an error of the server's own, and raises that again without its context, which quotes a
/// statement of this library, not of the caller. If the database is not in UTF-8, question marks stand for all but
/// ASCII.
pub fn relay_errors<T>(work: impl FnOnce() -> T) -> T {
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_others(rethrow)
        .execute()
}

fn rethrow<T>(error: CaughtError) -> T {
    let CaughtError::PostgresError(raised) = error else {
        error.rethrow()
    };
    // SAFETY: the error was copied, and the server is to raise the copy.
    unsafe { pg_sys::FlushErrorState() };
    // pgrx takes the texts for UTF-8.
    let readable = |sign: char| {
        if sign.is_ascii() || is_utf8() {
            sign
        } else {
            '?'
        }
    };
    let text = |text: &str| text.chars().map(readable).collect::<String>();
    let begin: fn(Code, String) -> Report = match raised.function_name() {
        Some(INTERRUPTS) => interrupt,
        _ => report,
    };
    begin(raised.sql_error_code(), text(raised.message()))
        .detail_if(raised.detail().map(text))
        .hint_if(raised.hint().map(text))
        .raise()
}
