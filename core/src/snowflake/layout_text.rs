//! Layouts as text: a built-in name, also with changes, or fields from the top bit down.

use crate::bytes::excerpt::excerpt;
use crate::clock::{Micros, timestamp_text};
use crate::snowflake::builtin;
use crate::snowflake::definition::{Definition, FIRST_EPOCH, LAST_EPOCH, MAX_UNIT, Order};
use crate::snowflake::error::LayoutError;
use crate::snowflake::layout::Layout;
use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

impl FromStr for Layout {
    type Err = LayoutError;

    /// Reads `twitter`; `twitter shard:8 seq:14`, which has the other fields of the built-in layout, in its order; or
    /// `time:41 shard:5+5 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z`, whose epoch can also be `1288834974657`.
    ///
    /// Unit defaults to 1ms; `start:random` or `start:random(n)` can follow.
    fn from_str(text: &str) -> Result<Layout, LayoutError> {
        check_layout_length(text.len())?;
        let mut words = text.split_ascii_whitespace();
        let first = words.clone().next().unwrap_or_default();
        let base = if first.contains(':') {
            None
        } else {
            words.next();
            let builtin = builtin::by_name(first);
            Some(builtin.ok_or_else(|| LayoutError::UnknownName(excerpt(first)))?)
        };
        let mut fields = Fields::default();
        for word in words {
            let (name, value) = word
                .split_once(':')
                .ok_or_else(|| LayoutError::NotAField(excerpt(word)))?;
            fields.read(name, value)?;
        }
        fields.layout(base.map(Layout::definition))
    }
}

/// Checks the length of a text before it is read: no layout is nearly as long.
///
/// # Errors
/// [`LayoutError::TooLong`].
pub fn check_layout_length(bytes: usize) -> Result<(), LayoutError> {
    const MAX_LAYOUT_BYTES: usize = 1_000;
    if bytes > MAX_LAYOUT_BYTES {
        return Err(LayoutError::TooLong(bytes, MAX_LAYOUT_BYTES));
    }
    Ok(())
}

const DEFAULT_UNIT: u32 = 1_000;

/// The fields of the part of a text that is read.
#[derive(Default)]
struct Fields {
    order: Vec<u8>,
    time: Option<u32>,
    shard: Option<(u32, u32)>,
    seq: Option<u32>,
    unit: Option<u32>,
    epoch: Option<Micros>,
    start: Option<String>,
}

impl Fields {
    fn read(&mut self, name: &str, value: &str) -> Result<(), LayoutError> {
        match name {
            "time" => {
                self.order.push(b't');
                set_once(&mut self.time, "time", width("time", value)?)
            }
            "shard" => {
                self.order.push(b'n');
                let parts = match value.split_once('+') {
                    Some((_, rest)) if rest.contains('+') => {
                        return Err(LayoutError::TooManyParts(excerpt(value)));
                    }
                    Some((upper, lower)) => (width("shard", upper)?, width("shard", lower)?),
                    None => (width("shard", value)?, 0),
                };
                set_once(&mut self.shard, "shard", parts)
            }
            "seq" => {
                self.order.push(b's');
                set_once(&mut self.seq, "seq", width("seq", value)?)
            }
            "unit" => set_once(&mut self.unit, "unit", unit(value)?),
            "epoch" => set_once(&mut self.epoch, "epoch", epoch(value)?),
            "start" => set_once(&mut self.start, "start", value.to_owned()),
            _ => Err(LayoutError::UnknownField(excerpt(name))),
        }
    }

    /// Returns the layout of these fields; the base supplies those that are missing.
    fn layout(self, base: Option<&Definition>) -> Result<Layout, LayoutError> {
        let missing = LayoutError::Missing;
        let time = self.time.or(base.map(|base| base.time));
        let seq = self.seq.or(base.map(|base| base.seq));
        let epoch = self.epoch.or(base.map(|base| base.epoch));
        let (time, seq) = (time.ok_or(missing("time"))?, seq.ok_or(missing("seq"))?);
        let start = match (self.start.as_deref(), base) {
            (Some(text), _) => start(text, seq)?,
            (None, Some(base)) if base.start > seq => {
                return Err(LayoutError::InheritedStart {
                    start: start_text(base.start),
                    seq,
                });
            }
            (None, base) => base.map_or(0, |base| base.start),
        };
        Layout::new(Definition {
            order: base.map_or_else(|| self.order(), |base| Ok(base.order))?,
            time,
            shard: self.shard.or(base.map(|base| base.shard)).unwrap_or((0, 0)),
            seq,
            unit: (self.unit.or(base.map(|base| base.unit))).unwrap_or(DEFAULT_UNIT),
            epoch: epoch.ok_or(missing("epoch"))?,
            start,
        })
    }

    /// Returns the order of the fields that were read.
    fn order(&self) -> Result<Order, LayoutError> {
        let mut letters = self.order.clone();
        if self.shard.is_none() {
            // A shard of no bits can stand anywhere; below the time is where it is printed.
            let time = letters.iter().position(|&letter| letter == b't');
            letters.insert(time.map_or(0, |time| time + 1), b'n');
        }
        // Each field is there once, as the caller has a time and a sequence: one of the six orders has these letters.
        let order = Order::ALL
            .into_iter()
            .find(|it| it.letters()[..] == letters);
        order.ok_or(LayoutError::Missing("time"))
    }
}

fn set_once<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), LayoutError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(LayoutError::Repeated(name)),
    }
}

/// Reads digits only; `u32::from_str` also accepts a plus sign.
fn number(text: &str) -> Option<u32> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn width(field: &'static str, text: &str) -> Result<u32, LayoutError> {
    match number(text) {
        Some(0) => Err(LayoutError::ZeroWidth(field)),
        Some(bits @ 1..=99) => Ok(bits),
        _ => Err(LayoutError::BadWidth {
            field,
            value: excerpt(text),
        }),
    }
}

fn unit(text: &str) -> Result<u32, LayoutError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let micros = match &text[digits.len()..] {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        _ => 0,
    };
    number(digits)
        .and_then(|count| count.checked_mul(micros))
        .filter(|unit| (1..=MAX_UNIT).contains(unit))
        .ok_or_else(|| LayoutError::BadUnit(excerpt(text)))
}

/// The first and the last epoch that digits alone can mean, in milliseconds: the numbers of 12 and 13 digits, of 1973 to
/// 2286. Seconds have fewer, and dates without separators, microseconds and nanoseconds fewer or more.
const MILLIS: RangeInclusive<i64> = 100_000_000_000..=9_999_999_999_999;

fn epoch(text: &str) -> Result<Micros, LayoutError> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let millis = text.parse().ok();
        return millis
            // The start of 1970 is 0 in every unit.
            .filter(|millis| *millis == 0 || MILLIS.contains(millis))
            .map(|millis| millis * 1_000)
            .ok_or_else(|| LayoutError::AmbiguousEpoch(excerpt(text)));
    }
    let bad = || LayoutError::BadEpoch(excerpt(text));
    let out_of_range = || LayoutError::EpochOutOfRange(excerpt(text));
    // jiff takes a leap second for the one before it, and skips the name of a zone in brackets.
    if text.contains(":60") || text.contains('[') {
        return Err(bad());
    }
    let offset = Pieces::parse(text)
        .ok()
        .and_then(|pieces| pieces.to_numeric_offset());
    // PostgreSQL's own limit; jiff's is 25 hours.
    if offset.is_none_or(|offset| offset.seconds().abs() >= 16 * 3_600) {
        return Err(bad());
    }
    let timestamp: Timestamp = text.parse().map_err(|_| out_of_range())?;
    if timestamp.subsec_nanosecond() % 1_000 != 0 {
        return Err(LayoutError::FineEpoch(excerpt(text)));
    }
    Some(timestamp.as_microsecond())
        .filter(|epoch| (FIRST_EPOCH..=LAST_EPOCH).contains(epoch))
        .ok_or_else(out_of_range)
}

/// Parses a start: log2 of the range of first sequences. `random` alone draws from the lower half of the sequence.
fn start(text: &str, seq: u32) -> Result<u32, LayoutError> {
    let bad = || LayoutError::BadStart(excerpt(text));
    match text {
        "zero" => Ok(0),
        "random" => Ok(seq.saturating_sub(1)),
        _ => text
            .strip_prefix("random(")
            .and_then(|rest| rest.strip_suffix(')'))
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse::<u64>().ok())
            .filter(|range| range.is_power_of_two() && range.ilog2() <= seq)
            .map(u64::ilog2)
            .ok_or_else(bad),
    }
}

fn start_text(start: u32) -> String {
    format!("random({})", 1_u64 << start)
}

impl fmt::Display for Layout {
    /// Returns the built-in name where there is one, else the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match builtin::name_of(self) {
            Some(name) => f.write_str(name),
            None => f.write_str(&self.fields()),
        }
    }
}

impl Layout {
    /// Returns the fields from the top bit down, each with its bits: `time:41 shard:13 seq:10`.
    #[must_use]
    pub fn bits(&self) -> String {
        let d = self.definition();
        let words = d.order.letters().map(|letter| match (letter, d.shard) {
            (b't', _) => Some(format!("time:{}", d.time)),
            (b's', _) => Some(format!("seq:{}", d.seq)),
            (_, (0, _)) => None,
            (_, (upper, 0)) => Some(format!("shard:{upper}")),
            (_, (upper, lower)) => Some(format!("shard:{upper}+{lower}")),
        });
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the layout as fields from the top bit down, also when it has a name.
    #[must_use]
    pub fn fields(&self) -> String {
        let d = self.definition();
        let mut words = vec![self.bits()];
        words.push(match d.unit {
            unit if unit % 1_000_000 == 0 => format!("unit:{}s", unit / 1_000_000),
            unit if unit % 1_000 == 0 => format!("unit:{}ms", unit / 1_000),
            unit => format!("unit:{unit}us"),
        });
        words.push(format!("epoch:{}", timestamp_text(d.epoch)));
        if d.start > 0 {
            words.push(format!("start:{}", start_text(d.start)));
        }
        words.join(" ")
    }
}
