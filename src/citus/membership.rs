//! The state of this database's Citus cluster, from the tables that Citus keeps on each of its nodes.

use crate::pg::backend::local::{Cached, Local};
use crate::pg::backend::transaction::attempt;
use crate::pg::backend::{guc, recovery};
use crate::pg::catalog::scan::rows;
use crate::pg::catalog::{invalidation, relation};
use crate::pg::citus;
use crate::pg::machine::{server, wal};
use crate::snowflake::node::grantor;
use pgrx::pg_sys;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::rc::Rc;

/// The group of a coordinator, and of each database with extension citus until it is added to a cluster.
pub const COORDINATOR: u64 = 0;

/// The table with the group of this server: one row, or none while the server is upgraded.
const LOCAL_GROUP: &CStr = c"pg_dist_local_group";
/// The table with the nodes of the cluster.
const NODES: &CStr = c"pg_dist_node";

/// The contents of Citus's tables.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// The group of this server; none while the server is upgraded.
    pub group: Option<u64>,
    /// The group of each node, by the number of the node; without the clones of nodes.
    pub nodes: BTreeMap<i32, u64>,
    /// True if the group's node has a clone, which this server can be: it was promoted, and is not in the metadata yet.
    pub may_be_clone: bool,
    /// True if another node of a cluster has opened this session.
    is_of_cluster: bool,
}

/// The last contents; an inner none if there is no Citus. Cleared when a table changes.
static KNOWN: Cached<Option<Membership>> = Cached::new();
/// The oids of the tables, while there are any.
static TABLES: Local<Option<[pg_sys::Oid; 2]>> = Local::new(None);
/// Counts the changes.
static CHANGES: Local<u64> = Local::new(0);

impl Membership {
    /// Returns whether this database is one of several nodes. During an upgrade it can be, as all tables are empty.
    pub fn is_of_several(&self) -> bool {
        let others = self.nodes.values().any(|&other| Some(other) != self.group);
        others || self.is_of_cluster || self.group.is_none()
    }

    /// Returns whether a group has a node.
    pub fn has(&self, group: u64) -> bool {
        self.nodes.values().any(|&other| other == group)
    }

    /// Returns the groups of the other nodes.
    pub fn other_groups(&self) -> BTreeSet<u64> {
        let groups = self.nodes.values().copied();
        groups.filter(|&group| Some(group) != self.group).collect()
    }

    /// Returns `pg_mint.own_shards` of each group that answers within a second.
    pub fn own_shards_of_groups(&self) -> BTreeMap<u64, String> {
        let limits = [
            (c"lock_timeout", c"1"),
            (c"citus.node_connection_timeout", c"1000"),
        ];
        // The owner of a database there chooses the search path.
        let command = "SELECT pg_catalog.current_setting('pg_mint.own_shards', true)";
        let answers = attempt(|| guc::with(&limits, || citus::on_all_nodes(command)));
        let mut lists = BTreeMap::new();
        for (node, list) in answers.into_iter().flatten() {
            lists.extend(self.nodes.get(&node).copied().zip(list));
        }
        lists
    }

    /// Returns whether this is a node, or something shows that it was: a group, a session of the cluster, or an
    /// upgrade, during which the tables are empty.
    pub fn is_or_was_node(&self) -> bool {
        self.is_member() || self.is_of_cluster || self.group != Some(COORDINATOR)
    }

    /// Returns whether the cluster's nodes know this one by its group.
    pub fn is_member(&self) -> bool {
        self.group.is_some_and(|group| self.has(group))
    }
}

/// Returns the state of this database's cluster; none if there is no Citus.
pub fn current() -> Rc<Option<Membership>> {
    // A session does not notice that its server was promoted.
    if recovery::is_in_progress() {
        return Rc::new(read());
    }
    KNOWN.get_or(|| {
        invalidation::begin();
        loop {
            let before = CHANGES.get();
            let read = read();
            // Opening a table can reveal a change to the one that was read before it.
            if CHANGES.get() == before {
                return read;
            }
        }
    })
}

fn read() -> Option<Membership> {
    let catalog = pg_sys::Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
    let tables = relation::find(catalog, LOCAL_GROUP)
        .and_then(|group| Some([group, relation::find(catalog, NODES)?]));
    TABLES.set(tables);
    let [group, nodes] = tables?;
    let group = rows::read(group, [c"groupid"])?;
    let group = group.first().and_then(|&[group]| group).and_then(number);
    let columns = [c"nodeid", c"groupid", c"nodeisclone", c"nodeprimarynodeid"];
    let (clones, nodes): (Vec<_>, Vec<_>) = rows::read(nodes, columns)?
        .into_iter()
        .partition(|&[_, _, is_clone, _]| is_clone == Some(1));
    let nodes: BTreeMap<i32, u64> = nodes
        .into_iter()
        .filter_map(|[node, group, ..]| Some((node?, number(group?)?)))
        .collect();
    let is_of_group = |&[.., of]: &[Option<i32>; 4]| {
        let of = of.and_then(|of| nodes.get(&of));
        of.is_some_and(|&of| Some(of) == group)
    };
    Some(Membership {
        group,
        may_be_clone: clones.iter().any(is_of_group)
            && !recovery::is_in_progress()
            && wal::was_promoted(),
        nodes,
        is_of_cluster: server::application_name().starts_with(b"citus_internal"),
    })
}

fn number(group: i32) -> Option<u64> {
    u64::try_from(group).ok()
}

/// Registers a callback. Called once, when the library is loaded.
pub fn init() {
    invalidation::on_relation(forget_changed);
}

/// Forgets the contents, if a relation is one of the tables or can become one. Called with each relation that has
/// changed, or with no oid if any can have.
fn forget_changed(relation: pg_sys::Oid) {
    let is_table = |tables: [pg_sys::Oid; 2]| tables.contains(&relation);
    if relation == pg_sys::InvalidOid || TABLES.get().is_none_or(is_table) {
        CHANGES.set(CHANGES.get() + 1);
        KNOWN.clear();
        grantor::reconsider();
    }
}
