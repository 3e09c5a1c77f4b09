//! The scale of a run.

/// Scale of a run: full, or three minutes.
#[derive(Clone, Copy, Default)]
pub struct Scale {
    /// Three minutes.
    pub quick: bool,
}

impl Scale {
    /// Returns the value for a full run or the one for a quick run.
    pub fn pick<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
