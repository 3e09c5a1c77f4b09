//! Leases of nodes: the interface between minting and the registry. A lease is a node for a span of id time.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use crate::pg::error::{Report, report};
use mint_core::{Layout, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// Leases nodes. A refusal is an error that it raises.
pub trait Grantor: Sync {
    /// Returns the lease of a node of this width, and the range of nodes that have the same lease.
    fn lease(&self, width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease);

    /// Returns the next lease, which can be the same. Called by a session at the end of a lease.
    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease;

    /// Returns the node of this width that the grantor has chosen for this server.
    fn node(&self, width: u32) -> u64;

    /// Raises the error that the lease ended at `until` and there is no other.
    fn ended(&self, until: Micros) -> !;
}

static GRANTOR: Local<Option<&'static dyn Grantor>> = Local::new(None);
static ON_CHANGE: Callbacks<fn()> = Callbacks::new();

/// The nodes and the lease of the last call.
#[derive(Clone, Copy)]
struct Recent {
    width: u32,
    first: u64,
    last: u64,
    lease: &'static Lease,
}

static RECENT: Local<Option<Recent>> = Local::new(None);

/// Sets the grantor; none if nodes are not leased. Called when a setting is assigned.
pub fn set(grantor: Option<&'static dyn Grantor>) {
    GRANTOR.set(grantor);
    changed();
}

/// Returns whether nodes are leased.
pub fn is_there() -> bool {
    GRANTOR.get().is_some()
}

/// Calls `callback` whenever the nodes that this session can mint as can have changed.
pub fn on_change(callback: fn()) {
    ON_CHANGE.add(callback);
}

/// Drops everything that was cached under the old settings. Called when a setting is assigned, so the hot path of an id
/// does not need to check the settings.
pub fn changed() {
    RECENT.set(None);
    ON_CHANGE.all().for_each(|callback| callback());
}

/// Returns the lease to mint within, if nodes are leased.
#[inline]
pub fn lease(layout: &Layout, node: u64) -> Option<&'static Lease> {
    let grantor = GRANTOR.get()?;
    let width = layout.shard.width;
    match RECENT.get() {
        Some(recent) if recent.width == width && (recent.first..=recent.last).contains(&node) => {
            Some(recent.lease)
        }
        _ => Some(request(grantor, width, node)),
    }
}

#[cold]
fn request(grantor: &dyn Grantor, width: u32, node: u64) -> &'static Lease {
    let (nodes, lease) = grantor.lease(width, node);
    RECENT.set(Some(Recent {
        width,
        first: *nodes.start(),
        last: *nodes.end(),
        lease,
    }));
    lease
}

/// Returns the lease after one that ends.
#[cold]
pub fn renew(lease: &'static Lease, (width, node): (u32, u64)) -> &'static Lease {
    // The settings, and with them the range of the node, can have changed.
    RECENT.set(None);
    GRANTOR
        .get()
        .map_or(lease, |grantor| grantor.renew(lease, width, node))
}

/// Returns the node that the grantor has chosen for this server, for layouts with the same width of node.
#[inline]
pub fn node(layout: &Layout) -> u64 {
    GRANTOR
        .get()
        .unwrap_or_else(|| no_grantor().raise())
        .node(layout.shard.width)
}

/// Raises the error that the lease of a node ended at `until`.
#[cold]
pub fn ended(until: Micros) -> ! {
    let grantor = GRANTOR.get().unwrap_or_else(|| no_grantor().raise());
    grantor.ended(until)
}

#[cold]
#[track_caller]
fn no_grantor() -> Report {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "parameter \"pg_mint.registry\" is not set",
    )
    .detail("Parameter \"pg_mint.node\" is \"auto\" or \"assigned\", so a registry chooses the node of this server.")
    .hint("Set \"pg_mint.registry\" to the name of a foreign server, or \"pg_mint.node\" to a number.")
}
