//! What is wrong, or about to go wrong, with the ids of a column.

mod counters;
mod duplicates;
mod functions;
mod generated;
mod readers;
mod references;
mod subject;
mod times;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Inserts fail, or ids are issued twice, now or at the next id.
    Error,
    /// The same is to come.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One thing that was found.
#[derive(Debug)]
pub struct Finding {
    pub severity: Severity,
    /// What it is, always in the same words.
    pub finding: &'static str,
    /// The numbers that show it.
    pub evidence: String,
    /// The statement that corrects it; none if there is no safe one.
    pub command: Option<String>,
}

impl Finding {
    pub fn new(severity: Severity, finding: &'static str, evidence: String) -> Self {
        Self {
            severity,
            finding,
            evidence,
            command: None,
        }
    }

    pub fn error(finding: &'static str, evidence: String) -> Self {
        Self::new(Severity::Error, finding, evidence)
    }

    pub fn warning(finding: &'static str, evidence: String) -> Self {
        Self::new(Severity::Warning, finding, evidence)
    }

    pub fn info(finding: &'static str, evidence: String) -> Self {
        Self::new(Severity::Info, finding, evidence)
    }

    /// Adds the statement that corrects it.
    pub fn corrected_by(mut self, command: String) -> Self {
        self.command = Some(command);
        self
    }
}
