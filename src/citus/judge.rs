//! The shards whose ids a Citus node generates: its group, and those that its setting lists as its own.
//!
//! A shard is judged once, when a session first uses it; then again when the group, the nodes of the cluster or the
//! setting have changed. In a database that is not a node of a cluster, no shard is judged.

use crate::citus::membership::{self, COORDINATOR, Membership};
use crate::pg::error::{Report, impossible, report};
use crate::snowflake::node::grantor::{self, Cluster, Grantor};
use crate::snowflake::node::own_shards;
use mint_core::{Layout, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// Judges shards by the group of this server.
struct CitusNode;

static CITUS_NODE: CitusNode = CitusNode;

/// Judges shards if there is no registry. Called once, when the library is loaded.
pub fn init() {
    membership::init();
    grantor::set_cluster(&CITUS_NODE);
}

impl Grantor for CitusNode {
    fn lease(&self, _layout: &Layout, shard: u64) -> (RangeInclusive<u64>, &'static Lease) {
        let known = membership::current();
        let several = known
            .as_ref()
            .as_ref()
            .filter(|known| known.is_of_several());
        let shards = match several {
            Some(own) => {
                refuse_upgrade(own);
                refuse_clone(own);
                match own_shards::range_of(shard, &own.other_groups()) {
                    Some(listed) => listed,
                    None if own.group == Some(shard) && own.is_member() => shard..=shard,
                    None => refuse(own, shard).raise(),
                }
            }
            None => {
                grantor::stand_back();
                0..=u64::MAX
            }
        };
        (shards, grantor::endless())
    }

    fn renew(&self, lease: &'static Lease, _width: u32, _node: u64) -> &'static Lease {
        lease
    }

    fn node(&self, _width: u32) -> u64 {
        let known = membership::current();
        let Some(own) = known.as_ref() else {
            let why = "Extension \"citus\" is not installed in this database.";
            no_node(
                why,
                "Set \"pg_mint.node\" to another value, for this database with ALTER DATABASE.",
            )
            .raise();
        };
        let group = refuse_upgrade(own);
        if own.has(group) {
            refuse_clone(own);
            return group;
        }
        if group == COORDINATOR {
            let why = "Table \"pg_dist_node\" has no row of group 0, so this is a server that was not added to a cluster, or a coordinator whose host is not known.";
            no_node(why, "Use citus_set_coordinator_host() if this is the coordinator; else citus_add_node() on the coordinator, or start_metadata_sync_to_node() if it is known there.").raise();
        }
        let why = format!(
            "Table \"pg_dist_node\" has no row of group {group}, so the metadata is not synchronized."
        );
        no_node(why, "Use start_metadata_sync_to_node() on the coordinator, or citus_add_node() if the node was removed.").raise()
    }

    fn refuse_ended(&self, _until: Micros) -> ! {
        impossible("end of a lease that does not end")
    }
}

impl Cluster for CitusNode {
    fn is_node(&self) -> bool {
        let known = membership::current();
        known
            .as_ref()
            .as_ref()
            .is_some_and(Membership::is_or_was_node)
    }
}

#[cold]
#[track_caller]
fn no_node(why: impl Into<String>, hint: &str) -> Report {
    let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    report(code, "this database is not a node of a Citus cluster")
        .detail(why)
        .hint(hint)
}

/// Returns the group. Raises an error if there is none, while the server is upgraded.
#[track_caller]
fn refuse_upgrade(own: &Membership) -> u64 {
    own.group.unwrap_or_else(|| {
        let why = "Table \"pg_dist_local_group\" is empty, as it is while the server is upgraded.";
        no_node(why, "Use citus_finish_pg_upgrade() after pg_upgrade.").raise()
    })
}

/// Raises an error if this server can be a promoted clone, which has the group of its original.
#[track_caller]
fn refuse_clone(own: &Membership) {
    if own.may_be_clone {
        let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        report(code, "group of this Citus node is not certain")
            .detail("This server was promoted, and the node of its group has a clone: it can be the clone, which has the group of its primary until the metadata is synchronized.")
            .hint("Use citus_promote_clone_and_rebalance(), or citus_remove_clone_node() if this server is not the clone.")
            .raise();
    }
}

#[cold]
#[track_caller]
fn refuse(own: &Membership, shard: u64) -> Report {
    let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    let message = format!("shard {shard} does not belong to this node of the Citus cluster");
    let is = match own.group {
        Some(group) if own.is_member() => format!("This node is group {group}."),
        _ => "This node is not known to the cluster by its group.".to_owned(),
    };
    let reason = match own.has(shard) {
        true => "It is the group of another node, which generates its ids.",
        false => {
            "Other nodes evaluate the same statements and defaults, and would generate the same ids."
        }
    };
    let hint = match own.has(shard) {
        true => {
            "Use snowflake_next(layout) or snowflake_next_id() without a shard, which generate ids of the node's group."
        }
        false => {
            "Use snowflake_next(layout) or snowflake_next_id() without a shard, which generate ids of the node's group; or list the shard in \"pg_mint.own_shards\" on one node only."
        }
    };
    report(code, message)
        .detail(format!("{reason} {is}"))
        .hint(hint)
}
