//! The leases that this server holds, for SQL.

use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::machine::clock;
use crate::registry::member::leases;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Releases all leases that this server holds, before it is shut down for long, and returns how many there were. It
/// requests them again when a session mints.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn release_leases() -> i64 {
    leases::release()
}

/// The leases that this server holds, behind the view of the same name.
#[pg_extern(schema = "mint", volatile, strict, parallel_safe, cost = 100)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn leases() -> TableIterator<
    'static,
    (
        name!(node_bits, i32),
        name!(first_node, i64),
        name!(last_node, i64),
        name!(held, bool),
        name!(lease_from, Option<TimestampWithTimeZone>),
        name!(lease_until, Option<TimestampWithTimeZone>),
        name!(time_left, Interval),
        name!(renewed, Option<TimestampWithTimeZone>),
        name!(renewals, i64),
        name!(trouble, Option<DecodedText>),
    ),
> {
    let trouble = leases::note().map(DecodedText);
    TableIterator::new(leases::slots().map(move |slot| {
        let (nodes, lease) = (slot.nodes(), slot.lease());
        (
            slot.width().cast_signed(),
            nodes.start().cast_signed(),
            nodes.end().cast_signed(),
            slot.id().is_some(),
            timestamp(lease.from()),
            timestamp(lease.until()),
            interval(clock::ahead(lease.until())),
            timestamp(slot.granted_at()),
            slot.renewals().cast_signed(),
            trouble.clone(),
        )
    }))
}

extension_sql_file!(
    "../../../sql/registry/member.sql",
    name = "registry_member",
    requires = [release_leases, leases]
);
