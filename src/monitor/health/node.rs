//! Check of the node that this server generates ids as: whether it has one, and whether others have the same.

use crate::citus::membership::{self, Membership};
use crate::monitor::health::defaults::{Default, Defaults, by_owner};
use crate::monitor::health::finding::{Finding, Status};
use crate::monitor::health::server::Facts;
use crate::pg::backend::recovery;
use crate::registry::member::session;
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node as setting};
use mint_core::registry::ring::RingRules;
use std::fmt::Write;

/// The most owners of which the check names a column.
const SHOWN: usize = 3;

/// Returns whether defaults need a node that is not set or pass one that is not this server's, or whether there is evidence that
/// another server has the same.
pub fn node(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    let further = [
        repeated(defaults),
        facts
            .and_then(conflicts)
            .filter(|_| !defaults.all.is_empty()),
        refused(facts, defaults),
    ];
    let own = own(facts, defaults);
    let all = further.into_iter().flatten();
    all.fold(own, |worst, other| match other.status > worst.status {
        true => other,
        false => worst,
    })
}

fn own(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    let node = match setting() {
        Node::Fixed(node) => node.to_string(),
        Node::Parts([upper, lower]) => format!("{upper}/{lower}"),
        Node::Unset => return unset(facts, defaults),
        Node::Auto | Node::Citus => {
            return Finding::ok("The node of this server is not fixed.");
        }
    };
    let is_leased = |default: &&Default| {
        let ring = RingRules::STANDARD.ring(default.layout.shard.width);
        let shard = fixed_shard(default);
        shard.is_some_and(|shard| ring.is_ok_and(|ring| ring.contains(&shard)))
    };
    let detail = match defaults.all.iter().find(is_leased) {
        Some(default) => format!(
            "Node {node} is fixed, and a registry could lease it to another server: it leases nodes from the middle upward of layout \"{}\".",
            default.layout
        ),
        None => format!("Node {node} is fixed."),
    };
    Finding::ok(detail)
}

/// Returns the shard of a default that takes the node of the server, if that is a number.
fn fixed_shard(default: &Default) -> Option<u64> {
    match setting() {
        _ if !default.is_of_node => None,
        Node::Fixed(node) => Some(node.into()),
        Node::Parts(parts) => (default.layout)
            .shard_from_parts(&parts.map(i64::from))
            .ok(),
        _ => None,
    }
}

/// Judges the shards in defaults of tables whose rows go to and come from other servers, where the defaults can be the same.
fn repeated(defaults: &Defaults) -> Option<Finding> {
    let is_repeated = |default: &&Default| default.is_exchanged && default.shard.is_some();
    let owners = by_owner(defaults.all.iter().filter(is_repeated));
    if owners.is_empty() {
        return None;
    }
    let cause = "This server publishes tables and subscribes to them whose defaults pass a shard. With the same default, another server generates the same ids.";
    let detail = describe(cause, &owners, |default| {
        format!("passes shard {}", default.shard.unwrap_or_default())
    });
    Some(Finding::ok(detail).with(
        Status::Warning,
        "Use defaults without a shard, and a \"pg_mint.node\" of its own on each server.",
    ))
}

/// Judges subscriptions that could not apply rows: their keys can be ids that two servers have generated.
fn conflicts(facts: &Facts) -> Option<Finding> {
    let detail = format!(
        "Subscriptions of this database could not apply rows of other servers {} times. Equal ids can be the cause.",
        facts.conflicts
    );
    (facts.conflicts > 0).then(|| {
        Finding::ok(detail).with(
            Status::Warning,
            "Look for duplicate keys in the server log, and give each server a \"pg_mint.node\" of its own. pg_stat_reset_subscription_stats(NULL) sets the count to zero.",
        )
    })
}

/// Judges a server without a node by the defaults that need one.
fn unset(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    // A cluster gives no node where a registry is set.
    let known = membership::known();
    let of_cluster = known.as_ref().as_ref();
    let needs = (defaults.all.iter())
        .filter(|default| default.is_of_node && default.layout.shard.width > 0);
    let owners = by_owner(needs);
    if owners.is_empty()
        || of_cluster.is_some_and(Membership::is_or_was_node) && !grantor::is_there()
    {
        return Finding::ok("The node of this server is not fixed.");
    }
    let detail = describe("Parameter \"pg_mint.node\" is not set.", &owners, |_| {
        "needs it".to_owned()
    });
    Finding::ok(detail).with(
        status(facts),
        "Use ALTER SYSTEM SET pg_mint.node with a number that no other server uses, and SELECT pg_reload_conf().",
    )
}

/// Judges the shards of defaults where a registry leases nodes; none if there is no registry, or all are this server's.
fn refused(facts: Option<&Facts>, defaults: &Defaults) -> Option<Finding> {
    let shard_of = |default: &Default| {
        let passed = default.shard.and_then(|shard| shard.try_into().ok());
        passed.or_else(|| fixed_shard(default))
    };
    let is_refused = |default: &&Default| {
        shard_of(default).is_some_and(|shard| !session::is_permitted(&default.layout, shard))
    };
    let refused = defaults.all.iter().filter(is_refused);
    let owners = by_owner(refused.filter(|_| grantor::is_there()));
    if owners.is_empty() {
        return None;
    }
    let cause = "With a registry, shards from the middle upward are leased, and those below it are refused unless \"pg_mint.node\" or \"pg_mint.own_shards\" has them.";
    let detail = describe(cause, &owners, |default| {
        let shard = shard_of(default).unwrap_or_default();
        format!("generates ids of such a shard, {shard}")
    });
    Some(Finding::ok(detail).with(
        status(facts),
        "Use defaults without a shard and \"auto\" as the node, or list the shards in \"pg_mint.own_shards\" on this server only.",
    ))
}

/// Returns a message that names a column of each owner, with what its default does.
fn describe(
    cause: &str,
    owners: &[(&Default, usize)],
    does: impl Fn(&Default) -> String,
) -> String {
    let mut detail = cause.to_owned();
    for (default, further) in owners.iter().take(SHOWN) {
        let what = does(default);
        let _ = write!(detail, " The default of {} {what}.", default.column);
        if *further > 0 {
            let _ = write!(
                detail,
                " So do those of {further} more columns of this role."
            );
        }
    }
    if let Some(further) = owners.len().checked_sub(SHOWN).filter(|&count| count > 0) {
        let _ = write!(detail, " So do those of columns of {further} more roles.");
    }
    detail
}

/// Returns how bad it is that defaults fail. They are perhaps not evaluated, or sessions of other roles have a node.
fn status(facts: Option<&Facts>) -> Status {
    let is_certain = facts.is_some_and(|facts| !facts.is_subscriber && !facts.has_stored_node);
    match is_certain && !recovery::is_in_progress() {
        true => Status::Critical,
        false => Status::Warning,
    }
}
