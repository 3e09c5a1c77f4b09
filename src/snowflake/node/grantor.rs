//! Leases, each of a node for a span of id time: the interface between minting and the registry or a cluster.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::{Local, LocalOnce};
use crate::pg::error::{Report, impossible, report};
use mint_core::{Layout, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// A source of leases of nodes. It raises an error to refuse one.
pub trait Grantor: Sync {
    /// Returns the lease of a node, and the range of nodes of its width that have the same lease.
    fn lease(&self, layout: &Layout, node: u64) -> (RangeInclusive<u64>, &'static Lease);

    /// Returns the next lease, which can be the same. Called by a session at the end of a lease.
    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease;

    /// Returns the node of this width that the grantor has chosen for this server.
    fn node(&self, width: u32) -> u64;

    /// Raises the error that the lease ended at `until` and there is no other.
    fn refuse_ended(&self, until: Micros) -> !;
}

/// A cluster that a database can be a node of, in which a node has a number. Its leases do not end.
pub trait Cluster: Grantor {
    /// Returns whether this database is a node of a cluster.
    fn is_node(&self) -> bool;
}

/// The grantor in use: the registry, or else the cluster unless it has stood back.
static GRANTOR: Local<Option<&'static dyn Grantor>> = Local::new(None);
static REGISTRY: Local<Option<&'static dyn Grantor>> = Local::new(None);
static CLUSTER: Local<Option<&'static dyn Cluster>> = Local::new(None);
/// The node of this server in its cluster, once it was asked for.
static OWN_NODE: Local<Option<u64>> = Local::new(None);
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
/// The number of times that leases were forgotten.
static GENERATION: Local<u32> = Local::new(0);

/// Forgets the lease of the last call, and all that were kept elsewhere.
fn forget() {
    RECENT.set(None);
    GENERATION.set(GENERATION.get().wrapping_add(1));
}

/// Returns a number that changes when the lease of a node can be another one.
#[inline]
pub fn generation() -> u32 {
    GENERATION.get()
}

/// Sets the registry; none if nodes are not leased from one. Called when a setting is assigned.
pub fn set(registry: Option<&'static dyn Grantor>) {
    REGISTRY.set(registry);
    reconsider();
    drop_cached();
}

/// Sets the grantor of servers without a registry. Called once, when the library is loaded.
pub fn set_cluster(cluster: &'static dyn Cluster) {
    CLUSTER.set(Some(cluster));
    reconsider();
}

/// Lets ids be generated without asking the cluster, until [`reconsider`]: this database is not a node of one.
pub fn stand_back() {
    GRANTOR.set(REGISTRY.get());
}

/// Asks the cluster again. Called when it can have changed.
pub fn reconsider() {
    let cluster = CLUSTER.get().map(|cluster| cluster as &dyn Grantor);
    GRANTOR.set(REGISTRY.get().or(cluster));
    OWN_NODE.set(None);
    forget();
}

/// Returns whether nodes are leased from a registry.
pub fn has_registry() -> bool {
    REGISTRY.get().is_some()
}

/// Returns the node of this server in its cluster; none if this database is not a node of one.
pub fn node_of_cluster() -> Option<u64> {
    OWN_NODE.get().or_else(|| {
        let cluster = CLUSTER.get()?;
        let node = cluster.is_node().then(|| cluster.node(0));
        OWN_NODE.set(node);
        node
    })
}

/// Returns the node of this server in its cluster. Raises an error if it has none.
#[track_caller]
pub fn require_cluster() -> u64 {
    if let Some(node) = OWN_NODE.get() {
        return node;
    }
    let cluster = CLUSTER.get().unwrap_or_else(|| impossible("no cluster"));
    let node = cluster.node(0);
    OWN_NODE.set(Some(node));
    node
}

/// Returns a lease that does not end.
pub fn endless() -> &'static Lease {
    static ENDLESS: LocalOnce<Lease> = LocalOnce::new();
    ENDLESS.get_or(|| {
        let lease = Lease::default();
        lease.extend(0, Micros::MAX);
        lease
    })
}

/// Calls `callback` whenever the nodes that this session can mint as can have changed.
pub fn on_change(callback: fn()) {
    ON_CHANGE.add(callback);
}

/// Drops everything that was cached under the old settings. Called when a setting is assigned, so the hot path of an id
/// does not need to check the settings.
pub fn drop_cached() {
    forget();
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
        _ => request(grantor, layout, node),
    }
}

#[cold]
fn request(grantor: &dyn Grantor, layout: &Layout, node: u64) -> Option<&'static Lease> {
    let (nodes, lease) = grantor.lease(layout, node);
    RECENT.set(Some(Recent {
        width: layout.shard.width,
        first: *nodes.start(),
        last: *nodes.end(),
        lease,
    }));
    // Returns no lease if the cluster has stood back.
    GRANTOR.get().map(|_| lease)
}

/// Returns the lease after one that ends.
#[cold]
pub fn renew(lease: &'static Lease, (width, node): (u32, u64)) -> &'static Lease {
    // The settings, and with them the range of the node, can have changed.
    forget();
    GRANTOR
        .get()
        .map_or(lease, |grantor| grantor.renew(lease, width, node))
}

/// Returns the node that the grantor has chosen for this server, for layouts with the same width of node.
#[inline]
pub fn node(layout: &Layout) -> u64 {
    REGISTRY
        .get()
        .unwrap_or_else(|| no_grantor().raise())
        .node(layout.shard.width)
}

/// Raises the error that the lease of a node ended at `until`.
#[cold]
pub fn refuse_ended(until: Micros) -> ! {
    let grantor = GRANTOR.get().unwrap_or_else(|| no_grantor().raise());
    grantor.refuse_ended(until)
}

#[cold]
#[track_caller]
fn no_grantor() -> Report {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "parameter \"pg_mint.registry\" is not set",
    )
    .detail("Parameter \"pg_mint.node\" is \"auto\", so a registry chooses the node of this server.")
    .hint("Set \"pg_mint.registry\" to the name of a foreign server, or \"pg_mint.node\" to a number.")
}
