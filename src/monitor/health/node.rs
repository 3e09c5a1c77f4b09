//! Check of the node that this server generates ids as: whether it has one, and whether others have the same.

use crate::citus::membership::{self, Membership};
use crate::monitor::health::defaults::{Default, Defaults, by_owner};
use crate::monitor::health::finding::{Finding, Status};
use crate::monitor::health::server::{Facts, those};
use crate::pg::backend::recovery;
use crate::registry::member::usage;
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node as setting};
use std::fmt::Write;

/// The most owners of which the check names a column.
const SHOWN: usize = 3;

/// Returns whether defaults need a node that is not set or pass one that is not leased, or a fixed one is used where other servers
/// have the same.
pub fn node(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    let own = own(facts, defaults);
    let unlisted = unlisted(facts, defaults);
    unlisted
        .filter(|unlisted| unlisted.status > own.status)
        .unwrap_or(own)
}

fn own(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
    let node = match setting() {
        Node::Fixed(node) => node.to_string(),
        Node::Parts([upper, lower]) => format!("{upper}/{lower}"),
        Node::Unset => return unset(facts, defaults),
        Node::Auto | Node::Assigned | Node::Citus => {
            return Finding::ok("The node of this server is not fixed.");
        }
    };
    let Some(facts) = facts else {
        return Finding::left_out();
    };
    let others = [
        (recovery::is_in_progress(), "this server is a standby"),
        (
            facts.is_replicated,
            "other servers receive what this one writes",
        ),
        (facts.is_subscriber, "this database has subscriptions"),
    ];
    let others = those(&others);
    if others.is_empty() || grantor::is_there() {
        let detail = format!("Node {node} is fixed, and no other server is known to use it.");
        return Finding::ok(detail);
    }
    let mut detail = format!("Node {node} is fixed, and {}.", others.join(", and "));
    if facts.has_stored_node {
        detail.push_str(" The node is set for a database or a role, which standbys have, too.");
    }
    // A standby generates ids only when it is promoted, and then with the node of its own files.
    Finding::ok(detail).with(
        Status::Warning.when(facts.is_subscriber || facts.has_stored_node),
        "Make sure that each server has a \"pg_mint.node\" of its own in its postgresql.conf, or let a registry grant nodes.",
    )
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

/// Judges the shards that defaults pass where a registry leases nodes; none if there is none, or the settings list them all.
fn unlisted(facts: Option<&Facts>, defaults: &Defaults) -> Option<Finding> {
    let is_refused = |default: &&Default| {
        let shard = default.shard.and_then(|shard| shard.try_into().ok());
        shard.is_some_and(|shard| !usage::is_permitted(default.layout.shard.width, shard))
    };
    let refused = defaults.all.iter().filter(is_refused);
    let owners = by_owner(refused.filter(|_| grantor::is_there()));
    if owners.is_empty() {
        return None;
    }
    let cause = "With a registry, shards that \"pg_mint.nodes\" does not list are refused.";
    let detail = describe(cause, &owners, |default| {
        format!("passes such a shard, {}", default.shard.unwrap_or_default())
    });
    Some(Finding::ok(detail).with(
        status(facts),
        "Add the shards to \"pg_mint.nodes\" on this server, or use defaults without a shard.",
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
