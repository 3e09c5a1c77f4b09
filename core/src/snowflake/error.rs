//! Errors of layouts, and of ids and spans that a layout cannot have.
//!
//! Messages follow PostgreSQL's style: lower case, no full stop.

use thiserror::Error;

/// Reason why a layout's text or bytes are refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum LayoutError {
    #[error("\"{0}\" is not a built-in layout")]
    UnknownName(String),
    #[error("the text has {0} bytes, but a layout has at most {1}")]
    TooLong(usize, usize),
    #[error("\"{0}\" is not of the form field:value")]
    NotAField(String),
    #[error("\"{0}\" is not a field of layouts")]
    UnknownField(String),
    #[error("field \"{0}\" is given more than once")]
    Repeated(&'static str),
    #[error("field \"{0}\" is missing")]
    Missing(&'static str),
    #[error("\"{value}\" is not a width in bits for field \"{field}\"")]
    BadWidth { field: &'static str, value: String },
    #[error("shard \"{0}\" has more than two parts")]
    TooManyParts(String),
    #[error("field \"{0}\" has zero bits")]
    ZeroWidth(&'static str),
    #[error("the fields have {0} bits in total, but a bigint has only 64")]
    TooWide(u32),
    #[error("field \"shard\" has {0} bits, but a shard has at most 31")]
    ShardTooWide(u32),
    #[error(
        "a layout of 64 bits must begin with a time field of at least two bits, the first of which is the sign"
    )]
    SignBit,
    #[error("\"{0}\" is not a unit between 1us and 3600s")]
    BadUnit(String),
    #[error("\"{0}\" is not a timestamp with a time zone")]
    BadEpoch(String),
    #[error(
        "epoch \"{0}\" is ambiguous: digits alone are milliseconds since 1970, of 12 or 13 digits"
    )]
    AmbiguousEpoch(String),
    #[error("epoch \"{0}\" is out of range")]
    EpochOutOfRange(String),
    #[error("epoch \"{0}\" is finer than a microsecond")]
    FineEpoch(String),
    #[error(
        "start \"{0}\" is not zero, random, or random(n) with n a power of two up to the range of the sequence"
    )]
    BadStart(String),
    #[error(
        "start \"{start}\" of the built-in layout is out of range for a sequence of {seq} bits, so a start must be given"
    )]
    InheritedStart { start: String, seq: u32 },
    #[error("the bytes are not a layout of format version {0}")]
    BadBytes(u8),
}

/// Reason why an id, or a field of one, is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum IdError {
    #[error("shard {shard} is out of range for layout \"{layout}\"")]
    Shard {
        shard: i64,
        max: u64,
        layout: String,
    },
    #[error("sequence {sequence} is out of range for layout \"{layout}\"")]
    Sequence {
        sequence: i64,
        max: u64,
        layout: String,
    },
    #[error("wrong number of shard parts for layout \"{layout}\"")]
    PartCount {
        count: usize,
        wanted: usize,
        layout: String,
    },
    #[error("shard part {part} is out of range for layout \"{layout}\"")]
    Part {
        place: usize,
        part: i64,
        max: u64,
        layout: String,
    },
    #[error("timestamp out of range for layout \"{layout}\"")]
    Timestamp {
        layout: String,
        first: String,
        last: String,
    },
    #[error("id {id} is not valid for layout \"{layout}\"")]
    NotAnId { id: i64, layout: String },
    #[error("layout \"{0}\" does not begin with its time field")]
    TimeNotOnTop(String),
}

/// Reason why an interval cannot be a distance between ids.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpanError {
    /// It has months or years.
    #[error("interval must not have months or years")]
    Months,
    /// It is zero, or negative.
    #[error("interval must be greater than zero")]
    NotPositive,
    /// It ends within a tick.
    #[error("interval is not a multiple of the unit of layout \"{layout}\"")]
    PartOfATick {
        /// The layout.
        layout: String,
        /// The length of its ticks.
        unit: String,
    },
    /// The time field is shorter.
    #[error("interval is too long for layout \"{layout}\"")]
    TooLong {
        /// The layout.
        layout: String,
        /// The length of all of its ticks.
        longest: String,
    },
    /// Ids of the layout do not sort by time.
    #[error(transparent)]
    Layout(#[from] IdError),
}
