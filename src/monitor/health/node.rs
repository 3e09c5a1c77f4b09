//! Check of the node whose ids this server generates: whether it has one, and whether others have the same.

use crate::citus::membership::{self, Membership};
use crate::monitor::health::defaults::{self, Default, Defaults};
use crate::monitor::health::finding::{Finding, Status};
use crate::monitor::health::server::Facts;
use crate::registry::member::session;
use crate::registry::server::memory;
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node as setting};
use mint_core::DEFAULT_LAYOUT;

/// The reasons why a shard is refused or in danger where a registry leases nodes, and what to do.
const REFUSED: &str = "With a registry, shards from the middle upward are leased, and those below it are refused unless \"pg_mint.node\" or \"pg_mint.own_shards\" has them.";
const OWN: &str = "Use defaults without a shard and \"auto\" as the node, or list the shards in \"pg_mint.own_shards\" on this server only.";
const LEASED: &str = "A registry could lease it to another server.";

/// Returns whether defaults need a node that is not set or pass one that is not this server's, or whether there is
/// evidence that another server has the same.
pub fn node(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    // Failing defaults are perhaps not evaluated, or sessions of other roles have a node.
    let failing = match facts {
        Some(facts) if !facts.is_elsewhere => Status::Critical,
        _ => Status::Warning,
    };
    let found = [
        judge_unset(failing, defaults),
        judge_refused(failing, defaults),
        judge_exchanged(defaults),
        facts.and_then(|facts| judge_conflicts(facts, defaults)),
        judge_fixed(failing, defaults),
    ];
    let found = found.into_iter().flatten().reduce(Finding::and);
    found.unwrap_or_else(|| Finding::ok("The node of this server is not fixed."))
}

/// Describes a node that is fixed. A registry leases those from the middle upward: perhaps that of this database does.
fn judge_fixed(failing: Status, defaults: &Defaults) -> Option<Finding> {
    let node = match setting() {
        Node::Fixed(node) => node.to_string(),
        Node::Parts([upper, lower]) => format!("{upper}/{lower}"),
        _ => return None,
    };
    let of_node = defaults.all.iter().filter(|default| default.is_of_node);
    let layouts = of_node.map(|default| &default.layout);
    let is_leased = |layout| {
        session::middle(layout).is_some_and(|middle| setting().shard(layout) >= Some(middle))
    };
    let (status, cause) = match layouts.chain([DEFAULT_LAYOUT]).any(is_leased) {
        false => (Status::Ok, ""),
        true if grantor::has_registry() => (failing, REFUSED),
        true => (Status::Warning.when(memory::wait_left().is_some()), LEASED),
    };
    let detail = format!("Node {node} is fixed. {cause}");
    let hint = "Set a number below the middle.";
    Some(Finding::new(status, detail, hint))
}

/// Names the defaults with something to report, after the cause.
fn report(
    defaults: &Defaults,
    (status, cause, hint): (Status, &str, &'static str),
    says: impl Fn(&Default) -> Option<String>,
) -> Option<Finding> {
    let named = defaults::name(&defaults.all, says);
    (!named.is_empty()).then(|| Finding::new(status, format!("{cause} {named}"), hint))
}

/// Judges a server without a node, or with one that is too large, by the defaults that need one.
fn judge_unset(status: Status, defaults: &Defaults) -> Option<Finding> {
    let known = membership::current();
    let of_cluster = known.as_ref().as_ref();
    let is_given = of_cluster.is_some_and(Membership::is_or_was_node);
    let cause = match setting() {
        // A cluster gives no node if a registry is set.
        Node::Unset if !is_given || grantor::has_registry() => "is not set",
        Node::Fixed(_) | Node::Parts(_) => "is out of range",
        _ => return None,
    };
    let cause = format!("Parameter \"pg_mint.node\" {cause}.");
    let hint = "Use ALTER SYSTEM SET pg_mint.node with a number that no other server has, and SELECT pg_reload_conf().";
    report(defaults, (status, &cause, hint), |default| {
        let (width, shard) = (default.layout.shard.width, default.generated_shard());
        let is_lacking = shard.is_none_or(|shard| shard >> width != 0);
        (width > 0 && default.is_of_node && is_lacking).then(|| "needs it".to_owned())
    })
}

/// Judges the shards of defaults where a registry leases nodes, which are not this server's.
fn judge_refused(status: Status, defaults: &Defaults) -> Option<Finding> {
    report(defaults, (status, REFUSED, OWN), |default| {
        let shard = default.generated_shard()?;
        let is_refused = grantor::has_registry() && !session::is_permitted(&default.layout, shard);
        is_refused.then(|| format!("generates ids of such a shard, {shard}"))
    })
}

/// Judges the shards in defaults of tables exchanged with other servers, where the defaults can be the same.
fn judge_exchanged(defaults: &Defaults) -> Option<Finding> {
    let cause = "This server publishes tables and subscribes to them whose defaults pass a shard. With the same default, another server generates the same ids.";
    let hint = "Use defaults without a shard, and a \"pg_mint.node\" of its own on each server.";
    report(defaults, (Status::Warning, cause, hint), |default| {
        let shard = default.shard.filter(|_| default.stored.is_exchanged)?;
        Some(format!("passes shard {shard}"))
    })
}

/// Judges subscriptions that could not apply rows: their keys can be ids that two servers have generated.
fn judge_conflicts(facts: &Facts, defaults: &Defaults) -> Option<Finding> {
    let times = facts.conflicts;
    let detail = format!("Subscriptions could not apply rows {times} times. Equal ids can be why.");
    let hint = "Look for duplicate keys in the server log, and give each server a \"pg_mint.node\" of its own. pg_stat_reset_subscription_stats(NULL) sets the count to zero.";
    (times > 0 && !defaults.all.is_empty()).then(|| Finding::new(Status::Warning, detail, hint))
}
