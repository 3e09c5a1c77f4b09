//! The nodes of a session on a server with a registry: nodes set by number are below the middle of a layout's shards,
//! leased nodes from there on. The session finds the lease, or waits until the worker has requested it, or raises the
//! reason why there is none.

use crate::pg::backend::local::Local;
use crate::pg::backend::{orphan, recovery};
use crate::pg::error::{report, sentence};
use crate::pg::machine::clock;
use crate::pg::worker::mailbox::{POLL, last_failure};
use crate::registry::bits;
use crate::registry::member::memory::{LeaseSlot, WIDTHS, WORKER, if_made, memory};
use crate::registry::member::trouble::Trouble;
use crate::snowflake::error::IN_RECOVERY;
use crate::snowflake::node::grantor::{self, Grantor};
use crate::snowflake::node::own_shards;
use crate::snowflake::node::setting::{Node, node as node_setting};
use crate::statistics::{self, Count, Wait};
use mint_core::registry::ring::{Refusal, RingRules};
use mint_core::snowflake::mint_error::lease_ended;
use mint_core::{Layout, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::ptr;

/// For each width, the index, plus 1, of the slot of its node, as this session has read it, and the node.
static CHOSEN: [Local<(u32, u64)>; WIDTHS] = [const { Local::new(UNKNOWN) }; WIDTHS];
const UNKNOWN: (u32, u64) = (u32::MAX, 0);

/// Registers the caches that a change of settings clears. Called once, when the library is loaded.
pub fn init() {
    grantor::on_change(|| CHOSEN.iter().for_each(|known| known.set(UNKNOWN)));
}

/// The grantor whose leases a registry has granted.
pub struct RegistryGrantor;

impl Grantor for RegistryGrantor {
    fn lease(&self, layout: &Layout, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
        if let Some(slot) = leased_slot(layout.shard.width, node) {
            return (node..=node, slot.lease());
        }
        match own_numbers(layout, node) {
            Some(numbers) => (numbers, grantor::endless()),
            None => refuse_other(layout, node),
        }
    }

    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
        renew(lease, width, node)
    }

    fn node(&self, width: u32) -> u64 {
        match CHOSEN.get(width as usize).map(Local::get) {
            // A slot is never reused, so its node is still the same.
            Some((index, node)) if index == memory().index_of_chosen(width) => node,
            _ => find_node(width),
        }
    }

    fn refuse_ended(&self, until: Micros) -> ! {
        refuse(RENEWED.get(), Some(until))
    }
}

/// The width of the last lease whose end this session has reached.
static RENEWED: Local<u32> = Local::new(0);

/// Returns the slot of a node that the registry has leased to this server, and has not replaced by another one.
fn leased_slot(width: u32, node: u64) -> Option<&'static LeaseSlot> {
    let chosen = if_made().and_then(|head| head.chosen_slot(width));
    chosen.filter(|slot| slot.node() == node)
}

/// Returns the first shard of a layout that a registry leases; none if it leases none.
pub fn middle(layout: &Layout) -> Option<u64> {
    let ring = RingRules::STANDARD.ring(layout.shard.width);
    ring.ok().map(|ring| ring.start)
}

/// Returns the shards around one whose ids this server generates without a lease, if the one is such a shard: its own
/// number and those that the settings list, below the middle.
fn own_numbers(layout: &Layout, shard: u64) -> Option<RangeInclusive<u64>> {
    let last = middle(layout).map_or(u64::MAX, |middle| middle - 1);
    if shard > last {
        return None;
    }
    let own = match node_setting() {
        // A layout without a shard does not need a number.
        _ if layout.shard.width == 0 => Some(0),
        Node::Fixed(number) => Some(number.into()),
        Node::Parts(parts) => layout.shard_from_parts(&parts.map(i64::from)).ok(),
        Node::Citus | Node::Unset => grantor::node_of_cluster(),
        Node::Auto => None,
    };
    if own == Some(shard) {
        return Some(shard..=shard);
    }
    let listed = own_shards::range_of(shard, &BTreeSet::new())?;
    Some(*listed.start()..=last.min(*listed.end()))
}

/// Returns whether this session can generate ids of a shard.
pub fn is_permitted(layout: &Layout, shard: u64) -> bool {
    leased_slot(layout.shard.width, shard).is_some() || own_numbers(layout, shard).is_some()
}

/// Refuses a shard that can be another server's.
#[cold]
fn refuse_other(layout: &Layout, shard: u64) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    let width = bits(layout.shard.width);
    let message = format!("shard {shard} ({width}) does not belong to this server");
    let refusal = report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message);
    match middle(layout) {
        Some(middle) if shard >= middle => refusal
            .detail(format!(
                "Shards from {middle} upward are leased by the registry, and this server has no lease of this one."
            ))
            .hint(format!(
                "Set \"pg_mint.node\" to \"auto\", or use a shard from 0 to {}.",
                middle - 1
            )),
        _ => refusal
            .detail("Other servers evaluate the same statements and defaults, and would generate the same ids.")
            .hint("Use snowflake_next(layout) or snowflake_next_id() without a shard, which generate ids of the server's own node; or list the shard in \"pg_mint.own_shards\" on one server only."),
    }
    .raise()
}

/// Returns the node that the registry chose for this width, and requests one if there is none.
#[cold]
fn find_node(width: u32) -> u64 {
    if let Err(why) = RingRules::STANDARD.ring(width) {
        refuse_width(width, why);
    }
    let head = memory();
    let find = || Some((head.index_of_chosen(width), head.chosen_slot(width)?.node()));
    let (index, node) = find().unwrap_or_else(|| {
        recovery::refuse(&IN_RECOVERY);
        orphan::refuse();
        head.want(width);
        let _waiting = Wait::Lease.begin(true);
        // A reload reaches processes one after another: an answer under other settings does not count.
        let found = head
            .requests
            .wait_for(&WORKER, || head.has_settings(), find);
        found.unwrap_or_else(|| refuse(width, None))
    });
    if let Some(known) = CHOSEN.get(width as usize) {
        known.set((index, node));
    }
    node
}

/// Wakes the worker, as a session has reached the end of a lease; waits a little, and returns the lease to try next.
#[cold]
fn renew(lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
    orphan::refuse();
    RENEWED.set(width);
    let head = memory();
    head.want(width);
    head.requests.wake(&WORKER);
    if let Some(slot) = head.chosen_slot(width)
        && !ptr::eq(slot.lease(), lease)
    {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "registry has granted this server another node",
        )
        .detail(format!(
            "Node {node} ({}) is no longer leased by this server.",
            bits(width)
        ))
        .hint("Retry the statement.")
        .raise();
    }
    // A session that only ran ahead of the clock waits.
    if lease.until() <= clock::now() && head.trouble(width).is_some() {
        refuse(width, Some(lease.until()));
    }
    clock::pause(POLL, Wait::Lease.event());
    lease
}

#[cold]
fn refuse_width(width: u32, why: Refusal) -> ! {
    let Trouble { why, remedy } = Trouble::of_refusal(width, why);
    refuse_for(width, None, sentence(&why), &remedy)
}

/// Raises the error that there is no node of a width, or that its lease has ended, with the reason that the registry or the
/// connection to it gave.
#[cold]
fn refuse(width: u32, ended: Option<Micros>) -> ! {
    let head = memory();
    let is_served = head.requests.is_served();
    let missing = Trouble::of_missing_database().filter(|_| !is_served);
    let Trouble { why, remedy } = match missing.or_else(|| head.trouble(width)) {
        Some(Trouble { why, remedy }) => Trouble::new(last_failure(&why), remedy),
        None if is_served => Trouble::new(
            "The registry has not responded yet.",
            "Retry, or increase \"pg_mint.max_wait\".",
        ),
        None => Trouble::new(
            "The background worker that sends requests to the registry could not start, or has ended.",
            "Increase \"max_worker_processes\", and check the server log.",
        ),
    };
    refuse_for(width, ended, why, &remedy)
}

#[cold]
fn refuse_for(width: u32, ended: Option<Micros>, why: String, remedy: &str) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    let message = match ended {
        Some(until) if until > 0 => lease_ended(until),
        _ => format!(
            "could not obtain a node ({}) from the registry",
            bits(width)
        ),
    };
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(why)
        .hint(remedy)
        .raise()
}
