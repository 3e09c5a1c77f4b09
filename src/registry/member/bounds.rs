//! The bounds of what a registry may answer. A member trusts nothing beyond them: another server may answer in place of
//! the registry, and a lease that lasts for years could not be corrected.

use crate::registry::identity::describe_nodes;
use crate::registry::protocol::{LeaseAnswer, Term};
use mint_core::registry::lease_rules::{LARGEST_SKEW, LONGEST_LEASE, SHORTEST_LEASE};
use mint_core::{LeaseTerm, LogPoint, Micros};

const SECOND: Micros = 1_000_000;

/// What a member has asked.
#[derive(Clone, Copy)]
pub struct Asked {
    /// The width of the nodes in bits.
    pub width: u32,
    /// The first node and the last; none means any node.
    pub nodes: Option<(u64, u64)>,
    /// The lease to renew; none means a new one.
    pub lease: Option<(i64, LeaseTerm)>,
    /// Whether it is the assigned node that is asked for, of which a lease may be replaced by another.
    pub is_assigned: bool,
    /// When it was asked.
    pub at: Micros,
    /// How much of the registry's history the member had seen.
    pub seen: Option<LogPoint>,
}

/// Checks an answer that arrived at `now`.
///
/// # Errors
/// Why it is refused.
pub fn check(asked: &Asked, answer: &LeaseAnswer, now: Micros) -> Result<(), String> {
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
    if !are_requested(asked, first, last) {
        let nodes = describe_nodes(asked.width, &first, &last);
        return refuse(&format!("this server did not request {nodes}"));
    }
    if let Some(why) = check_term(asked, lease, now) {
        return refuse(why);
    }
    let histories = asked.seen.zip(answer.seen.map(LogPoint::from));
    if histories.is_some_and(|(before, now)| !now.may_follow(before)) {
        return refuse("the registry changed without a new history");
    }
    Ok(())
}

/// Whether the nodes are some of the requested ones; of a renewal, all of them.
fn are_requested(asked: &Asked, first: i64, last: i64) -> bool {
    let (Ok(first), Ok(last)) = (u64::try_from(first), u64::try_from(last)) else {
        return false;
    };
    let most = (1 << asked.width) - 1;
    first <= last
        && last <= most
        && match asked.nodes {
            Some(nodes) if asked.lease.is_some() => nodes == (first, last),
            Some(nodes) => nodes.0 <= first && last <= nodes.1,
            None => first == last,
        }
}

/// Returns what is wrong with the term of a lease.
fn check_term(asked: &Asked, lease: &Term, now: Micros) -> Option<&'static str> {
    let earliest = asked.at - LARGEST_SKEW;
    let earliest = match asked.lease {
        Some((_, told)) => earliest.min(told.from),
        None => earliest,
    };
    let is_other = asked
        .lease
        .is_some_and(|(id, _)| id != lease.id && !asked.is_assigned);
    if lease.id == 0 || is_other {
        Some("the lease has another number")
    } else if lease.from > now + LARGEST_SKEW {
        Some("the lease begins in the future")
    } else if lease.from < earliest {
        Some("the lease began before it was requested")
    } else if lease.until < lease.from {
        Some("the lease ends before it begins")
    } else if lease.until > now + LONGEST_LEASE + LARGEST_SKEW {
        Some("the lease is too long")
    } else {
        None
    }
}
