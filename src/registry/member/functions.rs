//! The leases that this server holds, for SQL.

use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::machine::clock;
use crate::registry::member::memory::{LeaseSlot, memory};
use crate::registry::member::usage::wanted_widths;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Releases all leases that this server holds, before it is shut down for long, and returns their number. The server
/// requests others when a session mints.
#[pg_extern(sql = false)]
fn release_leases() -> i64 {
    memory().release()
}

/// Returns the leases that this server holds or has requested, behind the view of the same name.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn leases() -> TableIterator<
    'static,
    (
        name!(node_bits, i32),
        name!(node, Option<i64>),
        name!(lease_from, Option<TimestampWithTimeZone>),
        name!(lease_until, Option<TimestampWithTimeZone>),
        name!(time_left, Option<Interval>),
        name!(renewed, Option<TimestampWithTimeZone>),
        name!(trouble, Option<DecodedText>),
    ),
> {
    let rows = wanted_widths().into_iter().map(|wanted| {
        let held = wanted.slot.and_then(LeaseSlot::held_lease);
        (
            wanted.width.cast_signed(),
            held.map(|lease| lease.node.cast_signed()),
            held.and_then(|lease| timestamp(lease.from)),
            held.and_then(|lease| timestamp(lease.until)),
            held.map(|lease| interval(clock::ahead(lease.until))),
            wanted.slot.and_then(|slot| timestamp(slot.granted_at())),
            wanted.trouble.map(|trouble| DecodedText(trouble.why)),
        )
    });
    TableIterator::new(rows.collect::<Vec<_>>())
}
