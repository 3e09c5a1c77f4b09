//! The registry of nodes: requests of its members.
//!
//! [`mint_core::registry::lease_rules`] decides what is granted. This file writes it to the tables
//! ([`crate::registry::server::tables`]) under the locks that make it safe: a request for a new lease locks the row of
//! the registry, so such requests run one after the other; a renewal locks the row of its own lease only.

use crate::pg::machine::random;
use crate::registry::protocol::LeaseAnswer;
use crate::registry::server::answer::{GrantedLease, Requester, answer, describe_denial};
use crate::registry::server::free;
use crate::registry::server::nodes::{NodeRange, describe_holders};
use crate::registry::server::place::Caller;
use crate::registry::server::state::RegistryState;
use crate::registry::server::tables::{OpenTables, at, with_tables};
use mint_core::{Denial, LeaseTerm, Micros, Registry};

/// Grants a new lease of any free node of a width, or of the first of these nodes that are free.
pub fn grant(width: i32, wanted: Option<NodeRange>, member: &Requester) -> LeaseAnswer {
    with_tables(Caller::Member, |tables| {
        let (state, now) = tables.load_and_check_state(true, Some(member));
        let registry = &state.registry;
        let lease = registry.admit(now, member.clock, None);
        let lease = lease.map_err(|denial| describe_denial(registry, denial));
        let lease = lease.and_then(|()| {
            let nodes = match wanted {
                Some(wanted) => free::find_among(tables, &wanted, now).unwrap_or(wanted),
                None => free::find_any(tables, width, member, now)?,
            };
            grant_lease(tables, &state, now, nodes, member)
        });
        let agrees = registry.check_clock(now, member.clock).is_ok();
        answer(registry, agrees, lease)
    })
}

/// Renews a lease. `told` is the lease as its holder knows it.
pub fn renew(id: i64, nodes: NodeRange, told: LeaseTerm, member: &Requester) -> LeaseAnswer {
    with_tables(Caller::Member, |tables| {
        let (mut state, mut now) = tables.load_and_check_state(false, Some(member));
        let mut kept = tables.find_and_lock(id, &nodes);
        if kept.is_none() {
            // In quarantine the lease can have to be inserted again: one at a time, like new ones. Or somebody else has
            // deleted it.
            (state, now) = tables.load_and_check_state(true, Some(member));
            kept = tables.find_and_lock(id, &nodes);
        }
        let registry = &state.registry;
        if let Err(denial) = registry.admit(now, member.clock, Some(told)) {
            let lease = lease_of(registry, id, nodes, kept.unwrap_or(told));
            let agrees = !matches!(denial, Denial::Skew { .. });
            return LeaseAnswer {
                denial: Some(describe_denial(registry, denial)),
                ..answer(registry, agrees, Ok(lease))
            };
        }
        let lease = renew_lease(tables, &state, now, (id, nodes), (kept, told), member);
        answer(registry, true, lease)
    })
}

/// Renews a lease of a member that was admitted, or returns why it is denied.
fn renew_lease(
    tables: &mut OpenTables<'_, '_>,
    state: &RegistryState,
    now: Micros,
    (id, nodes): (i64, NodeRange),
    (kept, told): (Option<LeaseTerm>, LeaseTerm),
    member: &Requester,
) -> Result<GrantedLease, String> {
    let registry = &state.registry;
    let holders = tables.holders(&nodes, id, now);
    let ends = holders.iter().map(|holder| holder.end);
    let span = registry.renew(now, kept, told, ends);
    let span = span.map_err(|denial| match denial {
        Denial::Leased { .. } if !holders.is_empty() => describe_holders(&holders),
        _ => describe_denial(registry, denial),
    })?;
    if kept.is_none() {
        free::check_limits(tables, state.limits, member, &nodes, now)?;
    }
    let lease = lease_of(registry, id, nodes, span);
    match kept {
        Some(_) => tables.extend(&lease, member),
        None => tables.replace(&lease, member, now),
    }
    Ok(lease)
}

/// Ends a lease, under which nothing was minted at or after `until`. False when there is no such lease.
pub fn release(id: i64, until: Micros) -> bool {
    with_tables(Caller::Member, |tables| {
        // An assigned node is free for its server when its lease has ended by every clock. This one has ended.
        let update = "UPDATE mint_registry.leases
             SET lease_from = CASE WHEN assigned THEN $early ELSE lease_from END,
                 lease_until = CASE WHEN assigned THEN $early ELSE $end END,
                 free_from = CASE WHEN assigned THEN free_from ELSE $end END, written = $transaction
             WHERE id = $1 AND xmin = written
             RETURNING 1";
        let end = "greatest(lease_from, least(lease_until, $2))";
        let early = "($end) - (SELECT max_skew FROM mint_registry.registry)";
        let update = update.replace("$early", early).replace("$end", end);
        tables.update(&update, &[id.into(), at(until)])
    })
}

/// Grants a new lease of nodes, or returns why it is denied. The caller has locked the registry.
pub fn grant_lease(
    tables: &mut OpenTables<'_, '_>,
    state: &RegistryState,
    now: Micros,
    nodes: NodeRange,
    member: &Requester,
) -> Result<GrantedLease, String> {
    let registry = &state.registry;
    let holders = tables.holders(&nodes, 0, now);
    let ends = holders.iter().map(|holder| holder.end);
    let span = registry.grant(now, ends).map_err(|denial| {
        if holders.is_empty() {
            return describe_denial(registry, denial);
        }
        describe_holders(&holders)
    })?;
    free::check_limits(tables, state.limits, member, &nodes, now)?;
    // Random, not counted: a registry that has forgotten leases must not give their numbers again.
    let lease = lease_of(registry, random_id(), nodes, span);
    tables.replace(&lease, member, now);
    Ok(lease)
}

/// Returns a number for a lease.
pub fn random_id() -> i64 {
    (random::bits() >> 1).max(1).cast_signed()
}

fn lease_of(registry: &Registry, id: i64, nodes: NodeRange, span: LeaseTerm) -> GrantedLease {
    GrantedLease {
        id,
        nodes,
        span,
        free_from: registry.end_of(span).free_from,
    }
}
