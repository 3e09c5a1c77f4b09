//! The outcome of a check.

use mint_core::Micros;
use std::borrow::Cow;

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

    /// Returns this status if something is so, which else is ok.
    pub fn when(self, is_so: bool) -> Self {
        if is_so { self } else { Self::Ok }
    }
}

/// A row of `mint.health()`, without its name.
pub struct Finding {
    pub status: Status,
    pub value: Option<f64>,
    /// The value from which on it is a warning.
    pub threshold: Option<f64>,
    pub unit: Option<&'static str>,
    pub detail: String,
    /// What to do. Shown unless all is well.
    pub hint: Option<Cow<'static, str>>,
}

impl Finding {
    /// Returns a check that found nothing wrong.
    pub fn ok(detail: impl Into<String>) -> Self {
        Self {
            status: Status::Ok,
            value: None,
            threshold: None,
            unit: None,
            detail: detail.into(),
            hint: None,
        }
    }

    /// Returns a check that was left out, as another transaction has locked the catalogs that it reads.
    pub fn left_out() -> Self {
        Self::ok("The catalogs are locked by another transaction.")
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
    pub fn with(mut self, status: Status, hint: impl Into<Cow<'static, str>>) -> Self {
        self.status = status;
        self.hint = Some(hint.into());
        self
    }
}

/// Returns a duration in seconds.
pub fn seconds(span: Micros) -> f64 {
    span as f64 / 1_000_000.0
}
