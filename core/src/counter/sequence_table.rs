//! The sequence tables of MariaDB's Sequence engine: `seq_1_to_15_step_3`.
//!
//! A descending table has the values of the ascending one, in reverse: the engine swaps and aligns the
//! bounds first (sequence.cc). So `seq_15_to_2_step_3` is 14, 11, 8, 5, 2.

use crate::bytes::excerpt::excerpt;
use thiserror::Error;

/// Reason why there is no such table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum SequenceTableError {
    #[error("invalid sequence table name: \"{0}\"")]
    Name(String),
    #[error("value \"{0}\" is out of range for an unsigned 64-bit integer")]
    Number(String),
    #[error("{0} must not be negative")]
    Negative(&'static str),
    #[error("step must not be zero")]
    ZeroStep,
    #[error("value {0} of sequence table is out of range for type bigint")]
    Value(u64),
}

/// A sequence table's values: `first`, then by `step` up or down to exactly `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceTable {
    /// The first value.
    pub first: i64,
    /// The last value; equal to the first where there is only one.
    pub last: i64,
    /// The step from one value to the next; negative when they descend, never zero.
    pub step: i64,
}

impl SequenceTable {
    /// Returns the table of these bounds and step.
    ///
    /// # Errors
    /// When one of them is negative, the step is zero, or a value exceeds a bigint.
    pub fn new(start: i64, stop: i64, step: i64) -> Result<Self, SequenceTableError> {
        let unsigned = |name, number: i64| {
            u64::try_from(number).map_err(|_| SequenceTableError::Negative(name))
        };
        Self::align(
            unsigned("start", start)?,
            unsigned("stop", stop)?,
            unsigned("step", step)?,
        )
    }

    /// Returns the table of that name: `seq_FROM_to_TO` or `seq_FROM_to_TO_step_STEP`, unsigned numbers of 64
    /// bits.
    ///
    /// # Errors
    /// When it is not such a name, or as [`SequenceTable::new`].
    pub fn named(name: &str) -> Result<Self, SequenceTableError> {
        let bad_name = || SequenceTableError::Name(excerpt(name));
        let number = |digits: &str| {
            if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
                return Err(bad_name());
            }
            digits
                .parse::<u64>()
                .map_err(|_| SequenceTableError::Number(excerpt(digits)))
        };
        let bounds = name.strip_prefix("seq_").ok_or_else(bad_name)?;
        let (start, rest) = bounds.split_once("_to_").ok_or_else(bad_name)?;
        let (stop, step) = match rest.split_once("_step_") {
            Some((stop, step)) => (stop, number(step)?),
            None => (rest, 1),
        };
        Self::align(number(start)?, number(stop)?, step)
    }

    fn align(start: u64, stop: u64, step: u64) -> Result<Self, SequenceTableError> {
        if step == 0 {
            return Err(SequenceTableError::ZeroStep);
        }
        let value =
            |number: u64| i64::try_from(number).map_err(|_| SequenceTableError::Value(number));
        if step > start.abs_diff(stop) {
            let only = value(start)?;
            return Ok(Self {
                first: only,
                last: only,
                step: 1,
            });
        }
        let low = start.min(stop);
        let high = low + start.abs_diff(stop) / step * step;
        let (low, high) = (value(low)?, value(high)?);
        // The step is at most the distance of two bigints that are not negative.
        let step = value(step)?;
        Ok(if start <= stop {
            Self {
                first: low,
                last: high,
                step,
            }
        } else {
            Self {
                first: high,
                last: low,
                step: -step,
            }
        })
    }

    /// Returns how many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.first.abs_diff(self.last) / self.step.unsigned_abs() + 1
    }
}
