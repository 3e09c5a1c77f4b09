//! The leases that this server holds, for SQL.

use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::machine::clock;
use crate::registry::member::leases;
use crate::registry::member::leases::any_slot;
use crate::registry::member::slot::LeaseSlot;
use crate::registry::member::tasks::{find_slot, tasks};
use crate::registry::member::trouble;
use crate::registry::member::trouble::Trouble;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use std::ptr;

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
        name!(first_node, Option<i64>),
        name!(last_node, Option<i64>),
        name!(held, bool),
        name!(lease_from, Option<TimestampWithTimeZone>),
        name!(lease_until, Option<TimestampWithTimeZone>),
        name!(time_left, Option<Interval>),
        name!(renewed, Option<TimestampWithTimeZone>),
        name!(renewals, i64),
        name!(trouble, Option<DecodedText>),
    ),
> {
    let mut troubles = trouble::read(leases::troubles());
    let mut rows = Vec::new();
    for slot in leases_to_show() {
        let (nodes, lease, width) = (slot.nodes(), slot.lease(), slot.width());
        let is_chosen = any_slot(width).is_some_and(|any| ptr::eq(any, slot));
        let is_own = |trouble: &Trouble| match trouble.task {
            (own, None) => own == width && is_chosen,
            (own, Some(own_nodes)) => own == width && nodes == (own_nodes.0..=own_nodes.1),
        };
        let own = troubles.iter().position(is_own);
        let why = own.map(|own| DecodedText(troubles.swap_remove(own).why));
        rows.push((
            width.cast_signed(),
            Some(nodes.start().cast_signed()),
            Some(nodes.end().cast_signed()),
            slot.id().is_some(),
            timestamp(lease.from()),
            timestamp(lease.until()),
            Some(interval(clock::ahead(lease.until()))),
            timestamp(slot.granted_at()),
            slot.renewals().cast_signed(),
            why,
        ));
    }
    // What was never granted.
    for Trouble { task, why } in troubles {
        let (width, nodes) = task;
        let (first, last) = nodes.unzip();
        let [first, last] = [first, last].map(|node| node.map(u64::cast_signed));
        let why = Some(DecodedText(why));
        rows.push((
            width.cast_signed(),
            first,
            last,
            false,
            None,
            None,
            None,
            None,
            0,
            why,
        ));
    }
    TableIterator::new(rows)
}

/// Returns the leases that are in force or wanted. Those of nodes that sessions do not need any more are left out.
fn leases_to_show() -> impl Iterator<Item = &'static LeaseSlot> {
    let (widths, any_widths) = leases::wanted();
    let wanted = tasks(widths, any_widths).into_iter().filter_map(find_slot);
    let wanted: Vec<&LeaseSlot> = wanted.collect();
    leases::slots().filter(move |&slot| {
        let lasts = slot.id().is_some() || clock::ahead(slot.lease().until()) > 0;
        lasts || wanted.iter().any(|&other| ptr::eq(other, slot))
    })
}

extension_sql_file!(
    "../../../sql/registry/member.sql",
    name = "registry_member",
    requires = [release_leases, leases]
);
