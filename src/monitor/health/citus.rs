//! Check of the Citus cluster that this database is a node of.

use crate::citus::membership::{self, COORDINATOR, Membership};
use crate::monitor::health::defaults::{Default, Defaults, by_owner};
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::citus;
use crate::snowflake::node::own_shards;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The most columns that the check names.
const SHOWN: usize = 3;

/// Returns whether this node can generate ids and no other generates the same. A default of a distributed table that passes a
/// shard is an error on other nodes, and two nodes cannot list the same shards as their own.
pub fn citus(defaults: &Defaults) -> Finding {
    let known = membership::known();
    let Some(own) = known.as_ref().as_ref().filter(|own| own.is_or_was_node()) else {
        return Finding::ok("This database is not a node of a Citus cluster.");
    };
    if !own.is_member() {
        return Finding::ok("This database was a node of a Citus cluster, whose metadata does not have it.").with(
            Status::Critical,
            "Use start_metadata_sync_to_node() or citus_add_node() on the coordinator: without a node, calls fail.",
        );
    }
    let asked = match own_shards::is_set() || own.group == Some(COORDINATOR) {
        true => Asked::of(own),
        false => Asked::default(),
    };
    if let Some((one, other)) = asked.same {
        let detail = format!(
            "Parameter \"pg_mint.own_shards\" lists the same shards on the nodes of groups {one} and {other}."
        );
        return Finding::ok(detail).with(
            Status::Critical,
            "List each shard in \"pg_mint.own_shards\" of one node only: two that list it generate the same ids.",
        );
    }
    let (owners, mut detail) = defaults_with_shards(defaults);
    let hint = match owners {
        0 => "Run mint.health() as a role that can connect to all nodes, while they run.",
        _ => {
            "Use defaults without a shard, as all nodes evaluate them: a shard that is not the node's own is an error."
        }
    };
    if detail.is_empty() {
        let group = own.group.unwrap_or_default();
        let _ = write!(
            detail,
            "This database is group {group} of its Citus cluster. "
        );
    }
    for group in asked.silent.iter().take(SHOWN) {
        let _ = write!(
            detail,
            "Group {group} did not tell its \"pg_mint.own_shards\". "
        );
    }
    detail.push_str(defaults.left_out.as_deref().unwrap_or_default());
    let status = Status::Warning.when(owners > 0 || !asked.silent.is_empty());
    Finding::ok(detail.trim_end()).with(status, hint)
}

/// Returns how many roles own distributed tables with a default that passes a shard, and some of them in words.
fn defaults_with_shards(defaults: &Defaults) -> (usize, String) {
    let distributed = citus::distributed_tables();
    let passes_shard =
        |default: &&Default| default.shard.is_some() && distributed.contains(&default.table);
    let owners = by_owner(defaults.all.iter().filter(passes_shard));
    let mut detail = String::new();
    for (default, further) in owners.iter().take(SHOWN) {
        let (column, shard) = (&default.column, default.shard.unwrap_or_default());
        let alter = &default.alter;
        let _ = write!(
            detail,
            "Default of {column} passes shard {shard}: {alter}. "
        );
        if *further > 0 {
            let _ = write!(detail, "So do {further} more columns of this role. ");
        }
    }
    let further = owners.len().saturating_sub(SHOWN);
    if further > 0 {
        let _ = write!(detail, "So do columns of {further} more roles. ");
    }
    (owners.len(), detail)
}

/// What the nodes of the cluster told of their setting.
#[derive(Default)]
struct Asked {
    /// Two groups that list the same shards.
    same: Option<(u64, u64)>,
    /// The groups that did not answer within a second.
    silent: BTreeSet<u64>,
}

impl Asked {
    fn of(own: &Membership) -> Self {
        let limits = [
            (c"lock_timeout", c"1"),
            (c"citus.node_connection_timeout", c"1000"),
        ];
        // The owner of a database chooses the search path there.
        let command = "SELECT pg_catalog.current_setting('pg_mint.own_shards', true)";
        let answers = attempt(|| guc::with(&limits, || citus::on_all_nodes(command)));
        let mut lists = BTreeMap::new();
        for (node, list) in answers.unwrap_or_default() {
            if let (Some(&group), Some(list)) = (own.nodes.get(&node), list) {
                lists.insert(group, list);
            }
        }
        let lists: Vec<(&u64, &String)> = lists.iter().collect();
        let mut pairs = lists.iter().enumerate().flat_map(|(at, one)| {
            let others = lists.iter().skip(at + 1);
            others.map(move |other| (one, other))
        });
        let same = pairs.find(|((_, one), (_, other))| own_shards::overlap(one, other));
        let silent = own.nodes.values().copied();
        Self {
            same: same.map(|((one, _), (other, _))| (**one, **other)),
            silent: silent
                .filter(|group| !lists.iter().any(|(told, _)| *told == group))
                .collect(),
        }
    }
}
