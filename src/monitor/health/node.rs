//! Check of the node that this server generates ids as: whether it has one, and whether others have the same.

use crate::citus::membership::{self, Membership};
use crate::monitor::health::defaults::{Defaults, by_owner};
use crate::monitor::health::finding::{Finding, Status};
use crate::monitor::health::server::{Facts, those};
use crate::pg::backend::recovery;
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node as setting};
use std::fmt::Write;

/// The most owners of which the check names a column.
const SHOWN: usize = 3;

/// Returns whether defaults need a node that is not set, or a fixed one is used where other servers have the same.
pub fn node(facts: Option<&Facts>, defaults: &Defaults) -> Finding {
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
    let mut detail = "Parameter \"pg_mint.node\" is not set.".to_owned();
    for (default, further) in owners.iter().take(SHOWN) {
        let _ = write!(detail, " The default of {} needs it.", default.column);
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
    // Where the defaults are perhaps not evaluated, or sessions of other roles have a node.
    let is_certain = facts.is_some_and(|facts| !facts.is_subscriber && !facts.has_stored_node);
    let status = match is_certain && !recovery::is_in_progress() {
        true => Status::Critical,
        false => Status::Warning,
    };
    Finding::ok(detail).with(
        status,
        "Use ALTER SYSTEM SET pg_mint.node with a number that no other server uses, and SELECT pg_reload_conf().",
    )
}
