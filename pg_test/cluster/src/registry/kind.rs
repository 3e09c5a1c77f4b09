//! How the members of a fleet get their nodes.

use crate::registry::members::AUTO;
use std::fmt;

/// How a member gets its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any free one.
    Auto,
    /// By its number.
    Number,
    /// The one that is assigned to it.
    Assigned,
}

impl Kind {
    /// In turn, of the members of a fleet.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Number, Self::Assigned];

    /// Returns the kind of a member.
    #[must_use]
    pub fn of(number: usize) -> Self {
        Self::ALL[number % Self::ALL.len()]
    }

    /// Returns the setting of a member.
    pub(super) fn setting(self, number: usize) -> String {
        match self {
            Self::Auto => AUTO.to_owned(),
            Self::Number => format!("pg_mint.node = '{}'", 100 + number),
            Self::Assigned => "pg_mint.node = 'assigned'".to_owned(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Auto => "`auto`",
            Self::Number => "a number",
            Self::Assigned => "`assigned`",
        })
    }
}
