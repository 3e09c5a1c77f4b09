//! One thing that prevents a conversion: an error of the conversion itself, a line of the plan.

use crate::adopt::catalog::casts;
use crate::pg::catalog::foreign::Foreign;
use crate::pg::catalog::sql;
use crate::pg::error::{Report, report};
use mint_core::bytes::excerpt::excerpt_of;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

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

    /// Returns the statement that raises it, so that a script which is blocked fails.
    pub fn command(&self) -> String {
        /// Bytes of each text.
        const LONGEST: usize = 1_000;
        let code = match self.code {
            Code::ERRCODE_FEATURE_NOT_SUPPORTED => "0A000",
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE => "42501",
            _ => "55000",
        };
        let texts = [
            ("MESSAGE", &self.message),
            ("DETAIL", &self.detail),
            ("HINT", &self.hint),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(name, text)| {
            let text = sql::literal(&excerpt_of(text, LONGEST));
            format!(", {name} = {text}")
        });
        let texts: String = texts.collect();
        let block = format!("BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'{texts}; END");
        format!("DO {}", sql::literal(&block))
    }

    /// Returns that of something that has an object of another role, which is not for the owner to run.
    pub fn foreign(what: &str, of: Foreign) -> Self {
        Self::state(
            of.message(what),
            of.detail(),
            of.hint("Drop it, and create it again after the conversion; or give the other object, its parts and its schema to the owner of the table."),
        )
        .unsupported()
    }

    /// Returns those of casts that each statement on the tables of columns would plan as their owner.
    pub fn of_casts(tables: impl Iterator<Item = pg_sys::Oid>, owner: u32) -> Vec<Self> {
        let casts = casts::foreign(&Vec::from_iter(tables), owner.into()).into_iter();
        casts
            .map(|(object, of)| Self::foreign(&object, of))
            .collect()
    }

    /// Returns that of something that could call another function or operator for new ids, and so is not run for one.
    pub fn unsure(what: &str) -> Self {
        Self::state(
            format!("{what} is not evaluated for new ids"),
            "It has the whole row or a generated column, or what it calls could be another function or operator then, or an object that another role can change.",
            "Look at it yourself.",
        )
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
