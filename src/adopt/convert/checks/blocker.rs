//! One thing that prevents a conversion: an error of the conversion itself, a line of the plan.

use crate::pg::error::{Report, report};
use pgrx::PgSqlErrorCode as Code;

/// Why a column cannot be converted as it is, and what to do.
#[derive(Debug, Clone)]
pub struct Blocker {
    code: Code,
    message: String,
    /// Empty if there is no more to say.
    detail: String,
    hint: String,
}

impl Blocker {
    /// Returns the blocker of an object that is not as a conversion needs it.
    pub fn state(message: String, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code: Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            message,
            detail: detail.into(),
            hint: hint.into(),
        }
    }

    /// Makes it the blocker of what no conversion does.
    pub fn unsupported(self) -> Self {
        let code = Code::ERRCODE_FEATURE_NOT_SUPPORTED;
        Self { code, ..self }
    }

    /// Makes it the blocker of a privilege that the owner of the table lacks.
    pub fn privilege(self) -> Self {
        let code = Code::ERRCODE_INSUFFICIENT_PRIVILEGE;
        Self { code, ..self }
    }

    pub fn to_report(&self) -> Report {
        let detail = Some(self.detail.clone()).filter(|detail| !detail.is_empty());
        report(self.code, self.message.clone())
            .detail_if(detail)
            .hint(self.hint.clone())
    }

    /// Returns the blocker as a line of the plan.
    pub fn note(&self) -> String {
        self.line("blocker")
    }

    /// Returns it as the line of something that is not certain.
    pub fn doubt(&self) -> String {
        self.line("warning")
    }

    fn line(&self, kind: &str) -> String {
        let space = if self.detail.is_empty() { "" } else { " " };
        format!(
            "{kind}: {}.{space}{} {}",
            self.message, self.detail, self.hint
        )
    }
}
