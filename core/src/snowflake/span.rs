//! The distance of the ids of two timestamps: the length of a range of ids that is said as an interval.

use crate::clock::{Micros, duration_text};
use crate::snowflake::error::IdError;
use crate::snowflake::layout::Layout;
use thiserror::Error;

const DAY: i128 = 86_400_000_000;

/// Reason why an interval is no distance of ids.
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

impl Layout {
    /// Returns the distance of two ids whose times are an interval apart, which has days of 24 hours: what
    /// [`Layout::min_id`] grows by.
    ///
    /// # Errors
    /// When there is no such distance, or it is not the same everywhere.
    pub fn span(&self, months: i32, days: i32, time: Micros) -> Result<i64, SpanError> {
        self.check_time_on_top()?;
        if months != 0 {
            return Err(SpanError::Months);
        }
        let length = i128::from(days) * DAY + i128::from(time);
        if length <= 0 {
            return Err(SpanError::NotPositive);
        }
        let unit = i128::from(self.unit());
        if length % unit != 0 {
            return Err(SpanError::PartOfATick {
                layout: self.to_string(),
                unit: duration_text(self.unit()),
            });
        }
        u64::try_from(length / unit)
            .ok()
            .filter(|&ticks| ticks <= self.max_tick())
            .map(|ticks| self.time.put(ticks).cast_signed())
            .ok_or_else(|| SpanError::TooLong {
                layout: self.to_string(),
                longest: duration_text(self.unit().saturating_mul(self.max_tick().cast_signed())),
            })
    }
}
