//! Nodes that are lent to this server, for spans of id time. Minting asks the lender; it knows no registry.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use crate::pg::error::report;
use mint_core::{Layout, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// Lends nodes. What it refuses, it raises as an error.
pub trait Lender: Sync {
    /// The lease to mint within as a node of this width, and the nodes around it that have the same one.
    fn lease(&self, width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease);

    /// A session has come to the end of a lease. Returns the one to look at next, which may be the same.
    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease;

    /// The node of this width that the lender has chosen for this server.
    fn node(&self, width: u32) -> u64;

    /// Ends the statement, as the lease ended then and there is no other.
    fn ended(&self, until: Micros) -> !;
}

static LENDER: Local<Option<&'static dyn Lender>> = Local::new(None);
static HEARERS: Callbacks<fn()> = Callbacks::new();

/// Nodes of a width that this session may mint as, and their lease.
#[derive(Clone, Copy)]
struct Recent {
    width: u32,
    first: u64,
    last: u64,
    lease: &'static Lease,
}

static RECENT: Local<Option<Recent>> = Local::new(None);

/// From now on nodes are lent by this one, or not at all. Called when a setting is assigned.
pub fn set(lender: Option<&'static dyn Lender>) {
    LENDER.set(lender);
    changed();
}

/// Whether nodes are lent.
pub fn is_there() -> bool {
    LENDER.get().is_some()
}

/// Calls `hearer` whenever what this session may mint as can have changed.
pub fn on_change(hearer: fn()) {
    HEARERS.add(hearer);
}

/// A setting is assigned: what this session has learned under the old one, it asks again. So nothing has to be asked
/// on the way of an id.
pub fn changed() {
    RECENT.set(None);
    HEARERS.all().for_each(|hearer| hearer());
}

/// The lease to mint within, if nodes are lent.
#[inline]
pub fn lease(layout: &Layout, node: u64) -> Option<&'static Lease> {
    let lender = LENDER.get()?;
    let width = layout.node.width;
    match RECENT.get() {
        Some(recent) if recent.width == width && (recent.first..=recent.last).contains(&node) => {
            Some(recent.lease)
        }
        _ => Some(borrow(lender, width, node)),
    }
}

#[cold]
fn borrow(lender: &dyn Lender, width: u32, node: u64) -> &'static Lease {
    let (nodes, lease) = lender.lease(width, node);
    RECENT.set(Some(Recent {
        width,
        first: *nodes.start(),
        last: *nodes.end(),
        lease,
    }));
    lease
}

/// A session has come to the end of a lease. Returns the one to look at next.
#[cold]
pub fn renew(lease: &'static Lease, (width, node): (u32, u64)) -> &'static Lease {
    // With the settings, the range that the node is in may have changed.
    RECENT.set(None);
    LENDER
        .get()
        .map_or(lease, |lender| lender.renew(lease, width, node))
}

/// The node of this server that the lender has chosen for layouts like this one.
#[inline]
pub fn node(layout: &Layout) -> u64 {
    LENDER
        .get()
        .unwrap_or_else(|| nobody())
        .node(layout.node.width)
}

/// Ends the statement, as the lease of a node ended then.
#[cold]
pub fn ended(until: Micros) -> ! {
    LENDER.get().unwrap_or_else(|| nobody()).ended(until)
}

#[cold]
fn nobody() -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "pg_mint.registry is not set",
    )
    .detail("pg_mint.node is \"auto\": a registry gives this server its node.")
    .hint("Set pg_mint.registry to the name of a foreign server, or pg_mint.node to a number.")
    .raise()
}
