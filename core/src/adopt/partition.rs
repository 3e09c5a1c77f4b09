//! The edges of partitions by time, and the ranges that partitions do not cover yet.
//!
//! Edges are multiples of the step since the year 1, whose first day is a Monday. So they do not depend on when a plan is
//! made: weeks begin on Mondays, and three months are a quarter.

use crate::clock::Micros;
use jiff::Span;
use jiff::civil::{Date, date};
use thiserror::Error;

const SECOND: Micros = 1_000_000;
const DAY: Micros = 86_400 * SECOND;
/// A plan of more partitions is a mistake.
pub const MOST: i32 = 10_000;
/// 0001-01-01T00:00:00 in microseconds since 1970.
const MONDAY: Micros = -719_162 * DAY;

/// The span of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Months of the calendar.
    Months(i64),
    /// Days of the calendar.
    Days(i64),
    /// Microseconds: a multiple of a second.
    Time(Micros),
}

/// Why an interval is no span of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StepError {
    /// It is zero, or negative.
    #[error("interval must be greater than zero")]
    NotPositive,
    /// It has two of months, days and a time.
    #[error("interval must have only months, only days, or only a time")]
    Mixed,
    /// It has a fraction of a second.
    #[error("interval must be a multiple of one second")]
    Fraction,
    /// It is longer than a thousand years.
    #[error("interval is too long")]
    TooLong,
}

impl Step {
    /// Checks the parts of an interval.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn new(months: i32, days: i32, time: Micros) -> Result<Self, StepError> {
        let step = match (months, days, time) {
            (months, 0, 0) => Self::Months(months.into()),
            (0, days, 0) => Self::Days(days.into()),
            (0, 0, time) => Self::Time(time),
            _ => return Err(StepError::Mixed),
        };
        let (length, most) = match step {
            Self::Months(months) => (months, 12_000),
            Self::Days(days) => (days, 365_000),
            Self::Time(time) => (time, 365_000 * DAY),
        };
        if length <= 0 {
            return Err(StepError::NotPositive);
        }
        if length > most {
            return Err(StepError::TooLong);
        }
        match step {
            Self::Time(time) if time % SECOND != 0 => Err(StepError::Fraction),
            step => Ok(step),
        }
    }

    /// Returns whether edges are at midnight, and so depend on a time zone.
    #[must_use]
    pub fn is_of_calendar(&self) -> bool {
        !matches!(self, Self::Time(_))
    }

    /// Returns the edge at or before a local timestamp; none outside of the years 1 to 9999.
    #[must_use]
    pub fn floor(&self, at: Micros) -> Option<Micros> {
        match self {
            Self::Months(months) => {
                let month = month_of(at)?;
                start_of(month - month.rem_euclid(*months))
            }
            Self::Days(days) => floor_to(at, days * DAY),
            Self::Time(time) => floor_to(at, *time),
        }
    }

    /// Returns the edge after an edge; none past the year 9999.
    #[must_use]
    pub fn after(&self, edge: Micros) -> Option<Micros> {
        match self {
            Self::Months(months) => start_of(month_of(edge)? + months),
            Self::Days(days) => within(edge.checked_add(days * DAY)?),
            Self::Time(time) => within(edge.checked_add(*time)?),
        }
    }

    /// Returns the name of a partition that begins at an edge: `2026`, `2026_11`, `2026_11_23` or `2026_11_23_140000`.
    #[must_use]
    pub fn name(&self, edge: Micros) -> String {
        let year_only = matches!(self, Self::Months(months) if months % 12 == 0);
        let is_month = matches!(self, Self::Months(_));
        let Some(day) = day_of(edge) else {
            return edge.to_string();
        };
        let second = edge.rem_euclid(DAY) / SECOND;
        let mut name = format!("{:04}", day.year());
        if !year_only {
            name += &format!("_{:02}", day.month());
        }
        if !is_month {
            name += &format!("_{:02}", day.day());
        }
        if !self.is_of_calendar() {
            let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
            name += &format!("_{hour:02}{minute:02}{second:02}");
        }
        name
    }
}

/// Returns the name of a partition that begins between edges: its day, and its time if that is not midnight.
#[must_use]
pub fn name_between(local: Micros) -> String {
    if local.rem_euclid(DAY) == 0 {
        Step::Days(1).name(local)
    } else {
        Step::Time(SECOND).name(local)
    }
}

const EPOCH: Date = date(1970, 1, 1);

/// Returns the day of a local timestamp, in the years 1 to 9999.
fn day_of(at: Micros) -> Option<Date> {
    let day = i32::try_from(within(at)?.div_euclid(DAY)).ok()?;
    EPOCH.checked_add(Span::new().try_days(day).ok()?).ok()
}

/// Returns the number of months from the start of the year 1 to a local timestamp.
fn month_of(at: Micros) -> Option<i64> {
    let day = day_of(at)?;
    Some(i64::from(day.year() - 1) * 12 + i64::from(day.month() - 1))
}

/// Returns the start of such a month.
fn start_of(month: i64) -> Option<Micros> {
    let year = i16::try_from(month.div_euclid(12) + 1).ok()?;
    let month = i8::try_from(month.rem_euclid(12) + 1).ok()?;
    let day = Date::new(year, month, 1).ok()?;
    let days = EPOCH.until((jiff::Unit::Day, day)).ok()?.get_days();
    within(i64::from(days) * DAY)
}

fn floor_to(at: Micros, length: Micros) -> Option<Micros> {
    let age = at.checked_sub(MONDAY)?;
    within(at.checked_sub(age.rem_euclid(length))?)
}

/// Returns a local timestamp of the years 1 to 9999.
fn within(at: Micros) -> Option<Micros> {
    /// The start of the year 10000.
    const END: Micros = 2_932_897 * DAY;
    (MONDAY..END).contains(&at).then_some(at)
}

/// The keys from `from` on, before `until`; none is without a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range<K> {
    /// The first key.
    pub from: Option<K>,
    /// The first key after it.
    pub until: Option<K>,
}

/// A range that no partition covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap<K> {
    /// The first key.
    pub from: K,
    /// The first key after it; none if there is no end.
    pub until: Option<K>,
    /// The number of the edge at or before the first key.
    pub edge: usize,
}

/// Returns what of the ranges between edges is in no partition. Edges ascend; none is after every key. Partitions do not
/// overlap.
///
/// - **No gap**: each key from the first edge to the last is in a partition or in one of the ranges.
/// - **No overlap**: it is in one only.
/// - Each range lies between two edges that follow one another. Edges of one key, as where a tick of the ids is longer
///   than the step, have no range between them.
#[must_use]
pub fn gaps<K: Copy + Ord>(edges: &[Option<K>], mut partitions: Vec<Range<K>>) -> Vec<Gap<K>> {
    // None comes first, as no bound does.
    partitions.sort_by_key(|range| range.from);
    let mut partitions = partitions.into_iter().peekable();
    let mut found = Vec::new();
    for (edge, ends) in edges.windows(2).enumerate() {
        let (Some(mut from), until) = (ends[0], ends[1]) else {
            break;
        };
        let is_before = |key: K| until.is_none_or(|until| key < until);
        while is_before(from) {
            let next = partitions.peek().copied();
            match next {
                // Ends before what is left, so it covers nothing of what follows either.
                Some(Range {
                    until: Some(end), ..
                }) if end <= from => drop(partitions.next()),
                Some(Range {
                    from: Some(start), ..
                }) if start > from => {
                    let end = if is_before(start) { Some(start) } else { until };
                    found.push(Gap {
                        from,
                        until: end,
                        edge,
                    });
                    match end.filter(|_| is_before(start)) {
                        Some(start) => from = start,
                        None => break,
                    }
                }
                Some(Range {
                    until: Some(end), ..
                }) => from = end,
                Some(Range { until: None, .. }) => return found,
                None => {
                    found.push(Gap { from, until, edge });
                    break;
                }
            }
        }
    }
    found
}
