//! The outcome of a check.

use mint_core::Micros;

/// How a check ended, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Ok,
    Warning,
    Critical,
}

impl Status {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// A row of `mint.health()`.
pub struct Finding {
    pub check: &'static str,
    pub status: Status,
    pub value: Option<f64>,
    /// The value from which on it is a warning.
    pub threshold: Option<f64>,
    pub unit: Option<&'static str>,
    pub detail: String,
    /// What to do. Shown unless all is well.
    pub hint: Option<&'static str>,
}

impl Finding {
    /// Returns a check that found nothing wrong.
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            value: None,
            threshold: None,
            unit: None,
            detail: detail.into(),
            hint: None,
        }
    }

    /// Returns a check that was left out, as another transaction has locked the catalogs that it reads.
    pub fn left_out(check: &'static str) -> Self {
        Self::ok(check, "The catalogs are locked by another transaction.")
    }

    /// Sets what was measured, in which unit, and from which value on it is a warning.
    pub fn measured(mut self, value: f64, threshold: f64, unit: &'static str) -> Self {
        // What is shown is read by people.
        let rounded = |number: f64| (number * 1_000.0).round() / 1_000.0;
        self.value = Some(rounded(value));
        self.threshold = Some(rounded(threshold));
        self.unit = Some(unit);
        self
    }

    /// Sets the status, and what to do about it.
    pub fn with(mut self, status: Status, hint: &'static str) -> Self {
        self.status = status;
        self.hint = Some(hint);
        self
    }
}

/// Returns a duration in seconds.
pub fn seconds(span: Micros) -> f64 {
    span as f64 / 1_000_000.0
}
