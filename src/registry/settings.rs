//! The registry that grants leases to this server, and the nodes of these leases: the settings `pg_mint.nodes`,
//! `registry`, `registry_database` and `registry_role`.

use crate::pg::backend::guc::{ParsedGuc, define_parsed, text};
use crate::pg::backend::local::{Cached, Local};
use crate::pg::error::{impossible, sentence};
use crate::snowflake::node::grantor;
use crate::snowflake::node::grantor::Grantor;
use crate::snowflake::node::setting::{Node, node};
use mint_core::{Micros, NodesError, parse_nodes};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use std::ffi::CString;
use std::ops::RangeInclusive;
use std::rc::Rc;

static NODES: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

static REGISTRY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static DATABASE: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"postgres"));
/// In seconds.
static MAX_OUTAGE: GucSetting<i32> = GucSetting::<i32>::new(86_400);
static ROLE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// The settings, parsed and hashed.
struct Summary {
    nodes: Vec<RangeInclusive<u64>>,
    /// A hash of the three settings by which the registry is found.
    registry: u64,
    /// A hash of these, and of `pg_mint.nodes`.
    all: u64,
}

/// Cleared when a setting is assigned.
static SUMMARY: Cached<Summary> = Cached::new();

/// In the worker, the node by the configuration of the server. Its own setting can be one of the role or the database that
/// it is connected as.
static CONFIGURED: Local<Option<Node>> = Local::new(None);

/// The grantor of nodes once a registry is set.
static GRANTOR: Local<Option<&'static dyn Grantor>> = Local::new(None);

/// Takes the setting as it is now for that of the server. **For the worker**, while no setting of a role or a database counts.
pub fn keep_node() {
    CONFIGURED.set(Some(node()));
}

/// Returns the node by the configuration of the server, in the worker; in a session its own.
fn configured_node() -> Node {
    CONFIGURED.get().unwrap_or_else(node)
}

/// Returns the nodes of which leases are requested by number: those of `pg_mint.nodes`, and that of `pg_mint.node`.
pub fn nodes() -> Vec<RangeInclusive<u64>> {
    let mut nodes = summary().nodes.clone();
    if let Node::Fixed(node) = configured_node() {
        let node = u64::from(node);
        if !nodes.iter().any(|range| range.contains(&node)) {
            nodes.push(node..=node);
        }
    }
    nodes
}

/// Returns the range of [`nodes`] that has a node.
pub fn range_of(number: u64) -> Option<RangeInclusive<u64>> {
    let summary = summary();
    let listed = summary.nodes.iter().find(|range| range.contains(&number));
    listed.cloned().or_else(|| {
        let own = u32::try_from(number).map_or(Node::Unset, Node::Fixed) == node();
        own.then_some(number..=number)
    })
}

/// Returns whether `pg_mint.nodes` names a node.
pub fn is_listed(node: u64) -> bool {
    summary().nodes.iter().any(|range| range.contains(&node))
}

/// Returns a hash of the settings by which the registry is found, which tells the leases of one registry from
/// another's.
pub fn registry_key() -> u64 {
    summary().registry
}

/// Returns a hash of these settings, and of `pg_mint.nodes`, which tells whether two processes use the same.
pub fn settings_key() -> u64 {
    summary().all
}

fn summary() -> Rc<Summary> {
    SUMMARY.get_or(|| {
        let nodes = NODES.get().unwrap_or_default();
        let access = [&REGISTRY, &DATABASE, &ROLE].map(|setting| setting.get().unwrap_or_default());
        // Each text with the zero behind it, so that different lists of them differ.
        let registry = access
            .iter()
            .fold(FNV_BASIS, |hash, text| fnv(hash, text.to_bytes_with_nul()));
        Summary {
            // Checked when the setting was assigned.
            nodes: parse_nodes(&nodes.to_string_lossy())
                .unwrap_or_else(|_| impossible("value of pg_mint.nodes")),
            registry,
            all: fnv(registry, nodes.to_bytes_with_nul()),
        }
    })
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns a hash by FNV-1a, the same in all builds of this library.
fn fnv(hash: u64, text: &[u8]) -> u64 {
    text.iter().fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Clears what was learned under the settings before.
fn forget() {
    SUMMARY.clear();
    grantor::changed();
}

/// Returns the foreign server by which the registry is reached.
pub fn registry() -> Option<String> {
    text(&REGISTRY)
}

/// Returns the database that has the foreign server.
pub fn registry_database() -> Option<String> {
    text(&DATABASE)
}

/// Returns the role that connects to the registry; none means the owner of the foreign server.
pub fn registry_role() -> Option<String> {
    text(&ROLE)
}

/// Returns for how long this server mints as the node that is assigned to it while the registry is away; none means
/// without a limit.
pub fn max_outage() -> Option<Micros> {
    let seconds = MAX_OUTAGE.get();
    (seconds >= 0).then(|| Micros::from(seconds) * 1_000_000)
}

/// Returns whether the node of this server is the one that is assigned to it.
pub fn is_assigned() -> bool {
    configured_node() == Node::Assigned
}

/// Defines the settings; with a registry set, nodes are leased through `grantor`. Called once, when the library is loaded.
pub fn init(grantor: &'static dyn Grantor) {
    GRANTOR.set(Some(grantor));
    define_parsed::<NodesSetting>(
        c"pg_mint.nodes",
        c"Sets the nodes that this server leases from the registry.",
        c"Nodes and ranges of nodes, like 5, 100-163. That of pg_mint.node is leased as well.",
        &NODES,
        GucContext::Sighup,
    );
    define_parsed::<RegistrySetting>(
        c"pg_mint.registry",
        c"Sets the foreign server of the registry that grants leases of nodes.",
        c"Empty means that there is none: the nodes of this server are trusted as they are set.",
        &REGISTRY,
        GucContext::Sighup,
    );
    define_parsed::<AccessSetting>(
        c"pg_mint.registry_database",
        c"Sets the database that has the foreign server of the registry, and dblink.",
        c"A change releases all leases, and requests new ones from there.",
        &DATABASE,
        GucContext::Sighup,
    );
    define_parsed::<AccessSetting>(
        c"pg_mint.registry_role",
        c"Sets the role whose user mapping is used to connect to the registry.",
        c"Empty means the owner of the foreign server. A change releases all leases, and requests new ones.",
        &ROLE,
        GucContext::Sighup,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.registry_max_outage",
        c"Sets how long this server generates ids as its assigned node while it cannot reach the registry.",
        c"It counts from the last lease. 0 means not at all, -1 without a limit. Applies where \"pg_mint.node\" is \"assigned\"; a longer time counts once the registry knows it.",
        &MAX_OUTAGE,
        -1,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
}

/// The value of `pg_mint.nodes`.
#[derive(Default)]
struct NodesSetting;

impl ParsedGuc for NodesSetting {
    fn parse(text: &str) -> Result<Self, String> {
        let refusal = |error: NodesError| sentence(&error.to_string());
        parse_nodes(text).map(|_| NodesSetting).map_err(refusal)
    }

    fn assign(self) {
        forget();
    }
}

/// The value of `pg_mint.registry`.
#[derive(Default)]
struct RegistrySetting {
    is_set: bool,
}

impl ParsedGuc for RegistrySetting {
    fn parse(text: &str) -> Result<Self, String> {
        let is_set = !text.is_empty();
        Ok(RegistrySetting { is_set })
    }

    fn assign(self) {
        SUMMARY.clear();
        grantor::set(GRANTOR.get().filter(|_| self.is_set));
    }
}

/// The value of a setting that says how the registry is reached.
#[derive(Default)]
struct AccessSetting;

impl ParsedGuc for AccessSetting {
    fn parse(_: &str) -> Result<Self, String> {
        Ok(AccessSetting)
    }

    fn assign(self) {
        forget();
    }
}
