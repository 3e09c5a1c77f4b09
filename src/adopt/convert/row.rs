//! A row of a plan.

/// A row of the plan.
#[derive(Debug, Default)]
pub struct Row {
    pub phase: &'static str,
    /// None in a row that only says something.
    pub command: Option<String>,
    pub object: Option<String>,
    pub lock: Option<String>,
    pub rewrites: bool,
    /// How much is read or written.
    pub bytes: i64,
    /// Microseconds.
    pub estimate: i64,
    pub note: Option<String>,
}

/// What a short statement takes, in microseconds, once it has its lock.
const SHORT: i64 = 1_000;

impl Row {
    pub fn says(phase: &'static str, note: String) -> Self {
        Self {
            phase,
            note: Some(note),
            ..Self::default()
        }
    }

    pub fn runs(phase: &'static str, command: String) -> Self {
        Self {
            phase,
            command: Some(command),
            estimate: SHORT,
            ..Self::default()
        }
    }

    pub fn locking(self, object: &str, lock: &str) -> Self {
        Self {
            object: Some(object.to_owned()),
            lock: (!lock.is_empty()).then(|| lock.to_owned()),
            ..self
        }
    }

    pub fn noting(self, note: &str) -> Self {
        Self {
            note: Some(note.to_owned()),
            ..self
        }
    }
}
