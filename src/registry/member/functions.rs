//! The leases that this server holds, for SQL.

use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::machine::clock;
use crate::registry::member::memory::leases;
use crate::registry::member::memory::leases::any_slot;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::member::tasks::{find_slot, tasks};
use crate::registry::member::trouble;
use crate::registry::member::trouble::Trouble;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use std::ptr;

/// Releases all leases that this server holds, before it is shut down for long, and returns how many there were. It
/// requests them again when a session mints.
#[pg_extern(sql = false)]
fn release_leases() -> i64 {
    leases::release()
}

/// Returns the leases that this server holds, behind the view of the same name.
#[pg_extern(sql = false)]
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
    let row = |width: u32, nodes: Option<(u64, u64)>, slot: Option<&LeaseSlot>, why| {
        let (first, last) = nodes.unzip();
        let term = slot.map(LeaseSlot::term);
        (
            width.cast_signed(),
            first.map(u64::cast_signed),
            last.map(u64::cast_signed),
            slot.is_some_and(|slot| slot.id().is_some()),
            term.and_then(|term| timestamp(term.from)),
            term.and_then(|term| timestamp(term.until)),
            term.map(|term| interval(clock::ahead(term.until))),
            slot.and_then(|slot| timestamp(slot.granted_at())),
            slot.map_or(0, |slot| slot.renewals().cast_signed()),
            Option::map(why, DecodedText),
        )
    };
    let mut troubles = trouble::read(&leases::memory().troubles);
    let mut rows = Vec::new();
    for slot in leases_to_show() {
        let (nodes, width) = (slot.nodes().into_inner(), slot.width());
        let is_chosen = any_slot(width).is_some_and(|any| ptr::eq(any, slot));
        let is_own = |trouble: &Trouble| match trouble.task {
            (own, None) => own == width && is_chosen,
            task => task == (width, Some(nodes)),
        };
        let own = troubles.iter().position(is_own);
        let why = own.map(|own| troubles.swap_remove(own).why);
        rows.push(row(width, Some(nodes), Some(slot), why));
    }
    // What was never granted.
    let others = troubles.into_iter();
    rows.extend(others.map(|Trouble { task, why }| row(task.0, task.1, None, Some(why))));
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
