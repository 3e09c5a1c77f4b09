//! Check of the Citus cluster that this database is a node of.

use crate::citus::membership::{self, Membership};
use crate::citus::setting;
use crate::monitor::health::defaults::{Default, Defaults, by_owner};
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::citus;
use std::fmt::Write;

/// The most columns that the check names.
const SHOWN: usize = 3;

/// Returns whether a default of a distributed table passes a shard, which is an error on other nodes, and whether two nodes list
/// the same shards as their own.
pub fn citus(defaults: &Defaults) -> Finding {
    let known = membership::known();
    let Some(own) = known.as_ref().as_ref().filter(|own| own.is_of_several()) else {
        return Finding::ok("This database is not a node of a Citus cluster.");
    };
    let others = match setting::is_set() {
        true => groups_with_the_same(own),
        false => Vec::new(),
    };
    if let Some(group) = others.first() {
        let detail = format!(
            "Parameter \"pg_mint.own_shards\" of group {group} lists shards that this node lists."
        );
        return Finding::ok(detail).with(
            Status::Critical,
            "List each shard in \"pg_mint.own_shards\" of one node only: two that list it generate the same ids.",
        );
    }
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
    let status = Status::Warning.when(!detail.is_empty());
    if detail.is_empty() {
        let group = own
            .group
            .map_or_else(|| "none".to_owned(), |group| group.to_string());
        detail = format!("This database is group {group} of its Citus cluster. ");
    }
    detail.push_str(defaults.left_out.as_deref().unwrap_or_default());
    Finding::ok(detail.trim_end()).with(
        status,
        "Use defaults without a shard, as all nodes evaluate them: a shard that is not the node's own is an error.",
    )
}

/// Returns the groups of other nodes whose setting lists a shard that this node lists; of those that answer within a second.
fn groups_with_the_same(own: &Membership) -> Vec<u64> {
    let limits = [
        (c"lock_timeout", c"1"),
        (c"citus.node_connection_timeout", c"1000"),
    ];
    let command = "SELECT current_setting('pg_mint.own_shards', true)";
    let answers = attempt(|| guc::with(&limits, || citus::on_all_nodes(command)));
    let group_of = |(node, value): (i32, String)| {
        let group = own.nodes.get(&node).copied()?;
        (Some(group) != own.group && setting::overlaps(&value)).then_some(group)
    };
    answers
        .unwrap_or_default()
        .into_iter()
        .filter_map(group_of)
        .collect()
}
