//! Views and functions for the administrator of the server.

use crate::pg::backend::transaction;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp, to_micros};
use crate::pg::machine::clock;
use crate::snowflake::lane::{ceiling, first_ceiling, lanes, reset_ceiling};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Confirms the clock after it jumped forward by more than `pg_mint.max_jump`, and returns the jump. Confirm only a
/// correct clock: ids minted now hold back all later ones.
#[pg_extern(sql = false)]
fn accept_clock() -> Interval {
    interval(lanes::accept_clock())
}

/// Returns the durable ceilings of the server's databases, for the view of the same name.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn ceilings() -> TableIterator<
    'static,
    (
        name!(database, DecodedText),
        name!(name, &'static str),
        name!(value, Option<TimestampWithTimeZone>),
        name!(ahead, Interval),
        name!(floor, Option<TimestampWithTimeZone>),
        name!(writes, i64),
        name!(last_write, Option<TimestampWithTimeZone>),
    ),
> {
    TableIterator::new(ceiling::rows().into_iter().map(|row| {
        (
            DecodedText(row.database),
            ceiling::NAME,
            timestamp(row.value),
            interval(clock::ahead(row.value)),
            timestamp(row.floor),
            row.writes.cast_signed(),
            row.last_write.and_then(timestamp),
        )
    }))
}

/// Sets the ceiling of this database to a timestamp, after a clock far ahead has raised it too far. Returns the new
/// ceiling, which is never below ids that can be minted now. **Ids above it can be issued again**: the timestamp must
/// be above those of all ids in use.
#[pg_extern(sql = false)]
fn reset_ceiling(at: TimestampWithTimeZone) -> Option<TimestampWithTimeZone> {
    timestamp(reset_ceiling::reset(to_micros(at)))
}

/// Returns the first ceiling of a new extension: above all ids that rows of this database can have from this run of the
/// server. The transaction of CREATE EXTENSION is flushed at its end, as it can generate ids.
#[pg_extern(sql = false)]
fn highest_ceiling() -> i64 {
    transaction::commit_durably();
    first_ceiling::first()
}
