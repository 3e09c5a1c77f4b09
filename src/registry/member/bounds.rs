//! The bounds of what a registry can answer. A member trusts nothing beyond them: another server can answer in place of
//! the registry, and a lease that lasts for years could not be corrected.

use crate::registry::identity::describe_nodes;
use crate::registry::protocol::{LeaseAnswer, LeaseRequest, NumberedTerm};
use mint_core::Micros;
use mint_core::registry::lease_rules::{LARGEST_SKEW, LONGEST_LEASE, SHORTEST_LEASE};

const SECOND: Micros = 1_000_000;

/// Checks an answer that arrived at `now`.
///
/// # Errors
/// Why it is refused.
pub fn check(asked: &LeaseRequest, answer: &LeaseAnswer, now: Micros) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("response of the registry was refused: {why}"));
    if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&answer.length) {
        return refuse(&format!(
            "length of leases must be between {} s and {} s",
            SHORTEST_LEASE / SECOND,
            LONGEST_LEASE / SECOND
        ));
    }
    if answer.denial.is_some() {
        return Ok(());
    }
    let (Some(lease), Some((first, last))) = (&answer.lease, answer.nodes) else {
        return refuse("it has no lease, and no reason for that");
    };
    let width = asked.node_bits.unsigned_abs();
    if !are_requested(asked, width, first, last) {
        let nodes = describe_nodes(width, &first, &last);
        return refuse(&format!("this server did not request {nodes}"));
    }
    if let Some(why) = check_term(asked, lease, now) {
        return refuse(why);
    }
    let histories = asked.seen.zip(answer.seen);
    if histories.is_some_and(|(before, now)| !now.may_follow(before)) {
        return refuse("the registry changed without a new history");
    }
    Ok(())
}

/// Returns whether the nodes are some of the requested ones; of a renewal, all of them.
fn are_requested(asked: &LeaseRequest, width: u32, first: i64, last: i64) -> bool {
    0 <= first
        && first <= last
        && last < 1 << width
        && match asked.nodes {
            Some(nodes) if asked.lease.is_some() => nodes == (first, last),
            Some(nodes) => nodes.0 <= first && last <= nodes.1,
            None => first == last,
        }
}

/// Returns what is wrong with the term of a lease.
fn check_term(asked: &LeaseRequest, lease: &NumberedTerm, now: Micros) -> Option<&'static str> {
    let NumberedTerm { id, term } = *lease;
    let earliest = asked.clock - LARGEST_SKEW;
    let earliest = asked
        .lease
        .map_or(earliest, |told| earliest.min(told.term.from));
    // A lease of an assigned node can be replaced by another.
    let is_other = |told: NumberedTerm| told.id != id && asked.assignee.is_none();
    if id == 0 || asked.lease.is_some_and(is_other) {
        Some("the lease has another number")
    } else if term.from > now + LARGEST_SKEW {
        Some("the lease begins in the future")
    } else if term.from < earliest {
        Some("the lease began before it was requested")
    } else if term.until < term.from {
        Some("the lease ends before it begins")
    } else if term.until > now + LONGEST_LEASE + LARGEST_SKEW {
        Some("the lease is too long")
    } else {
        None
    }
}
