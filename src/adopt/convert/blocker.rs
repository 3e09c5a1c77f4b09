//! What stands in the way of a conversion: an error for the one, a line of the plan for the other.

use crate::pg::error::{Report, report};
use pgrx::PgSqlErrorCode as Code;

/// Why a column cannot be converted as it is, and what to do.
#[derive(Debug, Clone)]
pub struct Blocker {
    code: Code,
    message: String,
    detail: Option<String>,
    hint: String,
}

impl Blocker {
    /// An object that is not as a conversion needs it.
    pub fn state(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        Self::new(code, message, detail, hint)
    }

    /// What no conversion does.
    pub fn unsupported(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message, detail, hint)
    }

    /// A privilege that the owner of the table needs.
    pub fn privilege(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message, detail, hint)
    }

    fn new(code: Code, message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self {
            code,
            message,
            detail,
            hint,
        }
    }

    pub fn to_report(&self) -> Report {
        report(self.code, self.message.clone())
            .detail_if(self.detail.clone())
            .hint(self.hint.clone())
    }

    /// As a line of the plan.
    pub fn note(&self) -> String {
        let detail = self
            .detail
            .as_ref()
            .map_or_else(String::new, |detail| format!(" {detail}"));
        format!("blocker: {}.{detail} {}", self.message, self.hint)
    }
}
