//! How much is measured.

/// How much is measured: all, or what fits into three minutes.
#[derive(Clone, Copy, Default)]
pub struct Scale {
    /// For three minutes.
    pub quick: bool,
}

impl Scale {
    /// The one for all, or the one for what fits.
    pub fn pick<T>(self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
