//! What partitions a table is to have.

use crate::adopt::partition::bounds::{self, Missing};
use crate::adopt::partition::error;
use crate::adopt::partition::parent::{Parent, Partition};
use crate::adopt::partition::zone::Zone;
use crate::pg::error::{report, required};
use crate::pg::machine::clock;
use crate::snowflake::settings;
use mint_core::adopt::partition::{MOST, Step};
use mint_core::{Layout, Micros};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::Interval;

/// The rules of a table.
pub struct Rules {
    pub step: Step,
    /// How many partitions follow the current one.
    pub ahead: i32,
    /// The age from which on a partition is dropped; none if it is never.
    pub keep: Option<Interval>,
    pub layout: Option<Layout>,
    pub zone: Zone,
    /// The time of the first partition, in place of now.
    pub since: Option<Micros>,
    /// Rows of the default partition are moved to where they belong.
    pub moves_rows: bool,
}

impl Rules {
    /// Returns what is missing.
    pub fn missing(&self, parent: &Parent) -> Vec<Missing> {
        let now = clock::now();
        let since = self.since.unwrap_or(now);
        // What would be dropped is not made.
        let since = self.cutoff().map_or(since, |cutoff| since.max(cutoff));
        let latest = now.saturating_add(settings::policy().max_ahead).max(since);
        bounds::missing(parent, self.step, &self.zone, (since, latest), self.ahead)
    }

    /// Returns the partition that is too old first, but for those that somebody detaches `CONCURRENTLY`, which are to be kept, as no
    /// step begins that. Raises an error if rows of today are in it.
    pub fn oldest<'a>(&self, parent: &'a Parent) -> Option<&'a Partition> {
        let old = bounds::old(parent, self.cutoff()?);
        let part = old.into_iter().find(|part| !part.is_detaching)?;
        bounds::refuse_counted(parent, part);
        Some(part)
    }

    /// Returns what is to be dropped first. Raises an error where the age is not certain, as a partition that is to be kept is missing.
    pub fn expired<'a>(&self, parent: &'a Parent) -> Option<&'a Partition> {
        let part = self.oldest(parent)?;
        let since = self.cutoff().unwrap_or(Micros::MIN);
        if !bounds::follow_each_other(parent, since, clock::now()) {
            error::gap(&parent.name);
        }
        Some(part)
    }

    fn cutoff(&self) -> Option<Micros> {
        let keep = self.keep?;
        Some(self.zone.before_now(keep).unwrap_or(Micros::MIN))
    }
}

/// Returns how many partitions follow the current one. Raises an error if that is no sensible number.
pub fn ahead(ahead: Option<i32>) -> i32 {
    let ahead = required(ahead, "ahead");
    if !(1..=MOST).contains(&ahead) {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("ahead must be between 1 and {MOST}"),
        )
        .detail(format!("The value is {ahead}."))
        .hint("It is the number of partitions after the current one.")
        .raise();
    }
    ahead
}

/// Returns the interval to keep. Raises an error unless it is greater than zero.
pub fn positive(keep: Interval) -> Interval {
    let parts = [i64::from(keep.months()), keep.days().into(), keep.micros()];
    if parts.iter().any(|&part| part < 0) || parts == [0; 3] {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "interval to keep must be greater than zero",
        )
        .hint("Use an interval such as '12 months' or '90 days'.")
        .raise();
    }
    keep
}
