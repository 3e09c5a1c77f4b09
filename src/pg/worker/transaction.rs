//! Transactions of a worker, which outlives their errors and never waits in one without a limit.

use crate::pg::charset;
use crate::pg::worker::deadline;
use crate::pg::worker::deadline::TimeLimit;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::panic::AssertUnwindSafe;

/// The reason why a transaction failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The error's message and detail, on one line.
    pub why: String,
    pub kind: FailureKind,
    pub code: Code,
    pub hint: Option<String>,
}

impl Failure {
    /// Returns a failure that comes from no other server.
    pub fn local(why: String) -> Self {
        Self {
            why,
            kind: FailureKind::Other,
            code: Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            hint: None,
        }
    }
}

/// The kind of error that ended a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It took too long.
    Expired,
    /// Another server could not be reached, or has closed the connection.
    Lost,
    /// Any other.
    Other,
}

/// The longest text of a failure, in bytes. It can come from another server.
const MAX_FAILURE_BYTES: usize = 400;

/// Runs `work` in a transaction, and returns its error instead of raising it.
///
/// # Errors
/// The error; also when it takes longer than the limit.
pub fn attempt<T>(limit: TimeLimit, work: impl FnOnce() -> T) -> Result<T, Failure> {
    PgTryBuilder::new(AssertUnwindSafe(|| {
        Ok(deadline::within(limit, || {
            BackgroundWorker::transaction(AssertUnwindSafe(work))
        }))
    }))
    .catch_others(|error| {
        let kind = kind(&error);
        // SAFETY: ends the failed transaction that `transaction` began, as the server's own loops do.
        unsafe { pg_sys::AbortCurrentTransaction() };
        Err(Failure {
            why: one_line(&describe(&error)),
            kind,
            code: report_of(&error).sql_error_code(),
            hint: report_of(&error).hint().map(|hint| text_of(&error, hint)),
        })
    })
    .execute()
}

/// Returns the class of an SQLSTATE.
fn class(code: Code) -> i32 {
    code as i32 & 0xfff
}

fn report_of(error: &CaughtError) -> &ErrorReportWithLevel {
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic {
        ereport: report, ..
    }) = error;
    report
}

fn kind(error: &CaughtError) -> FailureKind {
    let lost = [
        Code::ERRCODE_CONNECTION_EXCEPTION,
        Code::ERRCODE_OPERATOR_INTERVENTION,
    ];
    let code = report_of(error).sql_error_code();
    if deadline::has_passed() {
        FailureKind::Expired
    } else if lost.map(class).contains(&class(code)) {
        FailureKind::Lost
    } else {
        FailureKind::Other
    }
}

/// Returns an error's message and detail.
fn describe(error: &CaughtError) -> String {
    let report = report_of(error);
    let message = text_of(error, report.message());
    match report.detail().map(|detail| text_of(error, detail)) {
        Some(detail) => format!("{message}: {}", detail.trim_end()),
        None => message,
    }
}

/// Returns a text of an error. A report of this library is in the encoding of the database.
fn text_of(error: &CaughtError, text: &str) -> String {
    match error {
        CaughtError::ErrorReport(_) => charset::decode(text.as_bytes()),
        _ => text.to_owned(),
    }
}

/// Returns a text of another server as the log and views may show it: on one line, and cut to their length.
pub fn one_line(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_FAILURE_BYTES);
    let space = |sign: char| if sign.is_control() { ' ' } else { sign };
    text[..end].chars().map(space).collect()
}
