//! What can go wrong, in three families: a layout that is not one, an id or field that a layout
//! cannot have, and a mint that may not go on.
//!
//! Messages follow PostgreSQL's style: lower case, no full stop.

use crate::clock::Micros;
use thiserror::Error;

/// Why a layout's text or bytes are refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum LayoutError {
    #[error("there is no built-in layout \"{0}\"")]
    UnknownName(String),
    #[error("\"{0}\" is not of the form field:value")]
    NotAField(String),
    #[error("there is no field \"{0}\"")]
    UnknownField(String),
    #[error("field \"{0}\" is given more than once")]
    Repeated(&'static str),
    #[error("field \"{0}\" is missing")]
    Missing(&'static str),
    #[error("\"{value}\" is not a width in bits for field \"{field}\"")]
    BadWidth { field: &'static str, value: String },
    #[error("field \"{0}\" has zero bits")]
    ZeroWidth(&'static str),
    #[error("the fields have {0} bits in total, more than the 64 of a bigint")]
    TooWide(u32),
    #[error(
        "a layout of 64 bits must begin with a time of two bits or more, which then lends its top bit to the sign"
    )]
    SignBit,
    #[error("\"{0}\" is not a unit of time from 1us to 3600s")]
    BadUnit(String),
    #[error("\"{0}\" is not a moment with a time zone")]
    BadEpoch(String),
    #[error("epoch \"{0}\" is finer than a microsecond")]
    FineEpoch(String),
    #[error(
        "\"{0}\" is not a start, which is zero, random or random(n) with n a power of two up to the sequence's range"
    )]
    BadStart(String),
    #[error("the bytes are not a layout of format version {0}")]
    BadBytes(u8),
}

/// Why an id, or a field of one, is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum IdError {
    #[error("shard {shard} is out of range for layout {layout}")]
    Node {
        shard: i64,
        max: u64,
        layout: String,
    },
    #[error("sequence {sequence} is out of range for layout {layout}")]
    Sequence {
        sequence: i64,
        max: u64,
        layout: String,
    },
    #[error("timestamp out of range for layout {layout}")]
    Moment {
        layout: String,
        first: String,
        last: String,
    },
    #[error("{id} is not an id of layout {layout}")]
    NotAnId { id: i64, layout: String },
    #[error("layout {0} does not begin with its time")]
    TimeNotOnTop(String),
}

/// Why no id can be minted now. Durations are in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MintError {
    /// The time field is used up: the layout has come to its end.
    Exhausted,
    /// The clock stands before the layout's epoch.
    BeforeEpoch,
    /// The lane is `ahead` of the clock, and reaching it takes `need`, which is more patience than
    /// the policy has. The clock was set back, or `max_ahead` lowered.
    ClockBehind {
        /// How far the lane's last id is ahead of the clock.
        ahead: Micros,
        /// How long a call would have to wait.
        need: Micros,
    },
    /// The clock is `behind` the durable ceiling of an earlier run of the server, below which ids may
    /// have been issued, and reaching it takes `need`, which is more patience than the policy has.
    BelowFloor {
        /// How far the ceiling is ahead of the clock. Not positive when the clock has passed it, and only
        /// the next tick of the layout is far.
        behind: Micros,
        /// How long a call would have to wait.
        need: Micros,
    },
    /// The slice that a registry has lent begins at `from`, and reaching it takes `need`, which is more patience
    /// than the policy has.
    BeforeLease {
        /// Where it begins.
        from: Micros,
        /// How long a call would have to wait.
        need: Micros,
    },
    /// The slice that a registry has lent ended at `until`, and was not renewed for as long as the policy has
    /// patience.
    LeaseEnded {
        /// Where it ended.
        until: Micros,
    },
    /// The clock went forward by `by` more than the time that passed.
    ClockJumped {
        /// The surplus.
        by: Micros,
    },
}
