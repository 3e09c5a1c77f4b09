//! Check of the Citus cluster that this database is a node of.

use crate::citus::membership::{self, COORDINATOR};
use crate::monitor::health::defaults::{self, Defaults};
use crate::monitor::health::finding::{Finding, Status};
use crate::snowflake::node::own_shards;

/// Returns whether this node can generate ids and no other generates the same. A default of a distributed table that passes a
/// shard is an error on other nodes, and two nodes cannot list the same shards as their own.
pub fn citus(defaults: &Defaults) -> Finding {
    let known = membership::current();
    let Some(own) = known.as_ref().as_ref().filter(|own| own.is_or_was_node()) else {
        return Finding::ok("This database is not a node of a Citus cluster.");
    };
    if !own.is_member() {
        let detail = "This database was a node of a Citus cluster, whose metadata lacks it.";
        let hint = "Use start_metadata_sync_to_node() or citus_add_node() on the coordinator: without it, calls fail.";
        return Finding::new(Status::Critical, detail, hint);
    }
    let asks = own_shards::is_set() || own.group == Some(COORDINATOR);
    let asked = asks.then_some(own);
    let lists = asked.map_or_else(Default::default, |own| own.own_shards_of_groups());
    let overlap = |(one, list): (&u64, &String)| {
        let mut others = lists.range(one + 1..);
        let other = others.find(|(_, other)| own_shards::overlap(list, other))?;
        Some(format!("groups {one} and {} list the same shards", other.0))
    };
    if let Some(groups) = lists.iter().find_map(overlap) {
        let detail = format!("In parameter \"pg_mint.own_shards\", the nodes of {groups}.");
        let hint = "List each shard in \"pg_mint.own_shards\" of one node only: two nodes generate the same ids.";
        return Finding::new(Status::Critical, detail, hint);
    }
    let named = defaults::name(&defaults.all, |default| {
        let shard = default.shard.filter(|_| default.stored.is_listed)?;
        Some(format!("passes shard {shard}"))
    });
    let tell = |group| format!("Group {group} did not tell its \"pg_mint.own_shards\".");
    let silent = (own.nodes.values()).filter(|group| asks && !lists.contains_key(group));
    let silent: Vec<String> = silent.take(3).map(tell).collect();
    if !named.is_empty() {
        let hint = "Use defaults without a shard, such as snowflake_next('instagram'), as all nodes evaluate them: a shard that is not the node's own is an error.";
        return Finding::new(Status::Warning, named, hint);
    }
    if !silent.is_empty() {
        let hint = "Run mint.health() as a role that can connect to all nodes, while they run.";
        return Finding::new(Status::Warning, silent.join(" "), hint);
    }
    let group = own.group.unwrap_or_default();
    let detail = format!("This database is group {group} of its Citus cluster.");
    Finding::ok(detail)
}
