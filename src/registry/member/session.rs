//! The leases that a session mints under: it finds the lease of a node, or waits until the worker has requested it from
//! the registry, or raises the reason why there is none.

use crate::pg::backend::local::Local;
use crate::pg::backend::{orphan, recovery};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::worker::mailbox::{POLL, last_failure};
use crate::registry::identity::{bits, describe_nodes};
use crate::registry::member::memory::leases;
use crate::registry::member::memory::leases::{
    WORKER, any_slot, index_of_any, memory, usable_slots, want, want_any,
};
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::member::trouble;
use crate::registry::member::trouble::{Trouble, missing_database, remedy};
use crate::registry::settings;
use crate::snowflake::error::IN_RECOVERY;
use crate::snowflake::node::grantor;
use crate::snowflake::node::grantor::Grantor;
use crate::snowflake::node::setting::{Node, node as node_setting};
use crate::statistics::{self, Count, Wait};
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use mint_core::snowflake::mint_error::lease_ended;
use mint_core::{Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;
use std::ptr;

/// For each width, the index that this session has read of the slot of its node, plus 1, and the node.
static ANY: [Local<(u32, u64)>; MAX_SHARD_BITS as usize + 1] =
    [const { Local::new(UNKNOWN) }; MAX_SHARD_BITS as usize + 1];
const UNKNOWN: (u32, u64) = (u32::MAX, 0);

/// Registers what a change of settings clears. Called once, when the library is loaded.
pub fn init() {
    grantor::on_change(|| ANY.iter().for_each(|known| known.set(UNKNOWN)));
}

/// The grantor whose leases a registry has granted.
pub struct RegistryGrantor;

impl Grantor for RegistryGrantor {
    fn lease(&self, width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
        find_or_request(width, node)
    }

    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
        renew(lease, width, node)
    }

    fn node(&self, width: u32) -> u64 {
        match ANY.get(width as usize).map(Local::get) {
            // A slot is never reused, so its node is as it was.
            Some((index, node)) if index == index_of_any(width) => node,
            _ => find_any_node(width),
        }
    }

    fn ended(&self, until: Micros) -> ! {
        let (width, node) = RENEWED.get();
        refuse(width, Some(node), Some(until))
    }
}

/// The width and the node of the last lease whose end this session has reached.
static RENEWED: Local<(u32, u64)> = Local::new((0, 0));

/// Returns the slot with the latest lease of a node, which can be in several ranges one after the other.
fn find(width: u32, node: u64) -> Option<&'static LeaseSlot> {
    usable_slots()
        .filter(|slot| slot.has(width, node) && slot.lease().until() > 0)
        .max_by_key(|slot| slot.lease().until())
}

/// Returns the nodes around this one that the settings let this session mint as; none when they do not name it.
pub fn permitted(width: u32, node: u64) -> Option<RangeInclusive<u64>> {
    // A layout without a node has node 0, which no setting names.
    if width == 0 {
        return Some(0..=0);
    }
    settings::range_of(node).or_else(|| {
        let is_chosen = matches!(node_setting(), Node::Auto | Node::Assigned)
            && any_slot(width).is_some_and(|any| any.first() == node)
            && !is_unassigned();
        is_chosen.then_some(node..=node)
    })
}

fn find_or_request(width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
    let Some(range) = permitted(width, node) else {
        refuse_unlisted(width, node)
    };
    let slot = find(width, node).unwrap_or_else(|| {
        want(width);
        wait_for(|| find(width, node)).unwrap_or_else(|| {
            // A node that only the session, role or database sets is not requested.
            let is_listed = width == 0 || settings::is_listed(node);
            if !is_listed && trouble(width, Some(node)).is_none() && memory().requests.is_served() {
                refuse_unlisted(width, node);
            }
            refuse(width, Some(node), None)
        })
    });
    let nodes = slot.nodes();
    let first = *nodes.start().max(range.start());
    let last = *nodes.end().min(range.end());
    (first..=last, slot.lease())
}

/// Refuses a node that the settings do not name, as it can be another server's.
#[cold]
fn refuse_unlisted(width: u32, node: u64) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!(
            "{} is not leased by this server",
            describe_nodes(width, &node, &node)
        ),
    )
    .detail("With \"pg_mint.registry\" set, a server mints only as nodes that it leases.")
    .hint("Add the node to \"pg_mint.nodes\" on this server.")
    .raise()
}

/// Returns the node that the registry chose for this width, and requests one if there is none.
#[cold]
fn find_any_node(width: u32) -> u64 {
    let find = || {
        let chosen = Some((index_of_any(width), any_slot(width)?.first()));
        chosen.filter(|_| !is_unassigned())
    };
    let (index, node) = find().unwrap_or_else(|| {
        want_any(width);
        wait_for(find).unwrap_or_else(|| {
            if is_unassigned() && memory().requests.is_served() {
                refuse_unassigned();
            }
            refuse(width, None, None)
        })
    });
    if let Some(known) = ANY.get(width as usize) {
        known.set((index, node));
    }
    node
}

/// How long a reload takes at most until it has reached the worker as well.
const RELOAD: Micros = 1_000_000;

/// Returns whether this session wants the assigned node of a server that uses none.
fn is_unassigned() -> bool {
    node_setting() == Node::Assigned && !memory().assigned.is_set()
}

#[cold]
fn refuse_unassigned() -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "this server does not use its assigned node",
    )
    .detail("\"pg_mint.node\" is \"assigned\" for this session, role or database only.")
    .hint("Set \"pg_mint.node\" to \"assigned\" in postgresql.conf or by ALTER SYSTEM.")
    .raise()
}

/// Waits until `find` finds something or the worker has answered, at most for `pg_mint.max_wait`.
#[cold]
fn wait_for<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    recovery::refuse(&IN_RECOVERY);
    orphan::refuse();
    leases::end_release();
    // A reload does not reach all processes at once: an answer under other settings does not count. A node that only this
    // session calls assigned stays so.
    let began = clock::up();
    let is_up_to_date =
        || leases::has_settings() && (!is_unassigned() || clock::up() - began > RELOAD);
    let _waiting = Wait::Lease.begin(true);
    memory().requests.wait_for(&WORKER, is_up_to_date, find)
}

/// Wakes the worker, as a session has reached the end of a lease; waits a little, and returns the lease to try next.
#[cold]
fn renew(lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
    orphan::refuse();
    RENEWED.set((width, node));
    // It can have been forgotten meanwhile.
    if width == 0 || settings::range_of(node).is_some() {
        want(width);
    } else if permitted(width, node).is_some() {
        want_any(width);
    }
    leases::end_release();
    memory().requests.wake(&WORKER);
    if let Some(slot) = any_slot(width)
        && !ptr::eq(slot.lease(), lease)
        && permitted(width, node).is_none()
    {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "registry has granted this server another node",
        )
        .detail(format!(
            "Node {node} ({}) is no longer leased by this server.",
            bits(width)
        ))
        .hint("Retry the statement. If the statement names the node, add the node to \"pg_mint.nodes\".")
        .raise();
    }
    // A session that only ran ahead of the clock waits.
    if lease.until() <= clock::now() && trouble(width, Some(node)).is_some() {
        refuse(width, Some(node), Some(lease.until()));
    }
    clock::pause(POLL, Wait::Lease.event());
    find(width, node).map_or(lease, |slot| slot.lease())
}

/// Raises the error that there is no lease of a node, or of any node of a width, with the reason that the registry or the
/// connection to it gave.
#[cold]
fn refuse(width: u32, node: Option<u64>, ended: Option<Micros>) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    let message = match ended {
        Some(until) if until > 0 => lease_ended(until),
        _ => "could not obtain a node from the registry".to_owned(),
    };
    let missing = missing_database().filter(|_| !memory().requests.is_served());
    let trouble = missing.or_else(|| trouble(width, node));
    let detail = match &trouble {
        Some(why) => last_failure(why),
        None if memory().requests.is_served() => "The registry has not responded yet.".to_owned(),
        None => "The background worker that sends requests to the registry could not start, \
                 or has ended."
            .to_owned(),
    };
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(detail)
        .hint(remedy(&trouble.unwrap_or_default()))
        .raise()
}

/// Returns why the last request for a node failed, if it did; without a node, for any node of the width.
fn trouble(width: u32, node: Option<u64>) -> Option<String> {
    // The node that the registry chose has no number in its task.
    let is_chosen = any_slot(width).is_some_and(|any| Some(any.first()) == node);
    let is_own =
        |trouble: &Trouble| trouble.is_of(width, node) || is_chosen && trouble.is_of(width, None);
    let own = trouble::read(&memory().troubles).into_iter().find(is_own);
    own.map(|trouble| trouble.why)
}
