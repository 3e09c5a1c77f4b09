//! The registry of nodes: requests of its members, and commands of its administrator.
//!
//! [`mint_core::registry::lease_rules`] decides what is granted. This file writes it to the tables
//! ([`crate::registry::server::tables`]) under the locks that make it safe: a request for a new lease locks the row of
//! the registry, so such requests run one after the other; a renewal locks the row of its own lease only.

use crate::pg::datum::timestamp::{interval, timestamp, to_micros};
use crate::pg::error::{OrReport, report};
use crate::pg::machine::{clock, random};
use crate::registry::identity;
use crate::registry::server::place;
use crate::registry::server::place::Caller;
use crate::registry::server::request::{
    Answer, GrantedLease, Member, Nodes, describe_denial, read_log_state,
};
use crate::registry::server::tables::{Tables, arguments, with_tables, with_tables_in};
use mint_core::clock::timestamp_text;
use mint_core::{Denial, LeaseTerm, LogPoint, Micros, Registry};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

/// Grants a new lease of any free node of a width, or of these nodes.
pub fn grant(width: i32, wanted: Option<Nodes>, member: &Member) -> Answer {
    with_tables(Caller::Member, |tables| {
        let (registry, now) = tables.load_and_check_state(true, Some(member));
        match grant_lease(tables, &registry, now, width, wanted, member) {
            Ok(lease) => answer(&registry, Some(lease), None),
            Err(denial) => answer(&registry, None, Some(denial)),
        }
    })
}

/// Renews a lease. `told` is the lease as its holder knows it.
pub fn renew(id: i64, nodes: Nodes, told: LeaseTerm, member: &Member) -> Answer {
    with_tables(Caller::Member, |tables| {
        let (mut registry, mut now) = tables.load_and_check_state(false, Some(member));
        if now < registry.quarantine {
            // The lease may have to be inserted again: one at a time, like new ones.
            (registry, now) = tables.load_and_check_state(true, Some(member));
        }
        let kept = tables.find_and_lock(id, &nodes);
        let lease_of = |span| GrantedLease {
            id,
            nodes: nodes.clone(),
            span,
        };
        if let Err(denial) = registry.admit(now, member.clock, Some(told)) {
            let lease = lease_of(kept.unwrap_or(told));
            let denial = describe_denial(&registry, denial);
            return answer(&registry, Some(lease), Some(denial));
        }
        if kept.is_none() {
            tables.delete_ended(&nodes, now);
        }
        let (others, holder) = tables.other_leases(&nodes, id);
        match (registry.renew(now, kept, told, others), holder) {
            (Ok(span), _) => {
                let lease = lease_of(span);
                match kept {
                    Some(_) => tables.extend(&lease),
                    None => tables.insert(&lease, member),
                }
                answer(&registry, Some(lease), None)
            }
            (Err(Denial::Leased { .. }), Some(holder)) => {
                answer(&registry, None, Some(nodes.held_by(&holder)))
            }
            (Err(denial), _) => {
                let denial = describe_denial(&registry, denial);
                answer(&registry, None, Some(denial))
            }
        }
    })
}

/// Ends a lease, under which nothing was minted at or after `until`. False when there is no such lease.
pub fn release(id: i64, until: Micros) -> bool {
    with_tables(Caller::Member, |tables| {
        let update = "UPDATE mint_registry.leases
             SET lease_until = CASE WHEN lease_from OPERATOR(pg_catalog.>) $2::pg_catalog.timestamptz THEN lease_from
                 WHEN lease_until OPERATOR(pg_catalog.<) $2::pg_catalog.timestamptz THEN lease_until ELSE $2 END
             WHERE id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
             RETURNING 1";
        let rows = tables.update(update, &[id.into(), timestamp(until).into()]);
        !rows.is_empty()
    })
}

fn answer(registry: &Registry, lease: Option<GrantedLease>, denial: Option<String>) -> Answer {
    Answer {
        lease,
        length: registry.length,
        seen: LogPoint {
            identity: registry.identity,
            position: read_log_state().position,
        },
        denial,
    }
}

/// Makes this database a registry, or changes its rules. A new registry begins in quarantine, as there may have been
/// another one before it.
pub fn create(length: Micros, max_skew: Micros) {
    let place = place::find_or_create();
    with_tables_in(&place, Caller::Owner, |tables| {
        let insert = "INSERT INTO mint_registry.registry AS here (lease, longest_lease, max_skew, system_identifier, timeline, started,
                 incarnation, relation, database, quarantine)
             VALUES ($1, $1, $2, $3, $4, $5, $6, $relation, $database,
                 pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) $1::pg_catalog.interval
                     OPERATOR(pg_catalog.+) $2::pg_catalog.interval)
             ON CONFLICT (one) DO UPDATE SET lease = excluded.lease, max_skew = excluded.max_skew,
                 longest_lease = CASE WHEN here.longest_lease OPERATOR(pg_catalog.<) excluded.lease
                     THEN excluded.lease ELSE here.longest_lease END";
        let [length, max_skew] = [length, max_skew].map(|span| interval(span).into());
        let [system, timeline, start, incarnation] =
            identity::to_numbers(read_log_state().identity).map(DatumWithOid::from);
        tables.update(
            insert,
            &[length, max_skew, system, timeline, start, incarnation],
        );
    });
}

/// Drops the registry, in which no lease or reservation lasts: another registry would not know of it.
pub fn drop() {
    with_tables(Caller::Owner, |tables| {
        tables.load_state(true);
        // Renewals lock their own row only.
        let lock = "LOCK TABLE mint_registry.leases IN SHARE ROW EXCLUSIVE MODE";
        tables.update(lock, &[]);
        refuse_while_in_force(tables);
    });
    place::drop();
}

/// Raises an error while nodes are leased or reserved.
fn refuse_while_in_force(tables: &mut Tables<'_, '_>) {
    let select =
        "SELECT pg_catalog.max(CASE WHEN pg_catalog.isfinite(lease_until) THEN lease_until END),
             pg_catalog.count(CASE WHEN NOT pg_catalog.isfinite(lease_until) THEN id END)
         FROM mint_registry.leases
         WHERE lease_until OPERATOR(pg_catalog.>) $1::pg_catalog.timestamptz";
    let row = tables
        .update(select, &[timestamp(clock::now()).into()])
        .first();
    let last = row.get::<TimestampWithTimeZone>(1).or_report();
    if let Some(last) = last.map(to_micros) {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot drop the registry while leases are in force",
        )
        .detail(format!("The last lease ends at {}.", timestamp_text(last)))
        .hint("Use mint.release_leases() on each member, or wait until the leases end.")
        .raise();
    }
    let reserved = row.get::<i64>(2).or_report().unwrap_or(0);
    if reserved > 0 {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot drop the registry while nodes are reserved",
        )
        .detail(match reserved {
            1 => "There is 1 reservation.".to_owned(),
            _ => format!("There are {reserved} reservations."),
        })
        .hint("Use mint.registry_unreserve().")
        .raise();
    }
}

/// Begins a quarantine.
pub fn begin_quarantine() {
    with_state(|registry, now| registry.quarantine(now));
}

/// Ends a quarantine early.
pub fn end_quarantine() {
    with_state(|registry, now| registry.quarantine = now);
}

/// Changes the state of the registry.
fn with_state(change: impl FnOnce(&mut Registry, Micros)) {
    with_tables(Caller::Owner, |tables| {
        let (mut registry, _) = tables.load_and_check_state(true, None);
        change(&mut registry, clock::now());
        tables.save_state(&registry);
    });
}

/// Reserves nodes for a server that makes no requests.
pub fn reserve(nodes: Nodes, holder: String) {
    let member = Member {
        name: holder,
        system: 0,
        clock: clock::now(),
        seen: None,
    };
    with_tables(Caller::Owner, |tables| {
        let (registry, now) = tables.load_and_check_state(true, None);
        let width = nodes.width.cast_signed();
        match grant_lease(tables, &registry, now, width, Some(nodes), &member) {
            Ok(GrantedLease { id, .. }) => {
                let update = "UPDATE mint_registry.leases SET lease_until = 'infinity'::pg_catalog.timestamptz, system_identifier = NULL,
                         address = NULL
                     WHERE id OPERATOR(pg_catalog.=) $1::pg_catalog.int8";
                tables.update(update, &[id.into()]);
            }
            Err(denial) => report(Code::ERRCODE_OBJECT_IN_USE, denial).raise(),
        }
    });
}

/// Ends a reservation. Others get the nodes after the time for which the server may have minted ahead.
pub fn unreserve(nodes: &Nodes) {
    with_tables(Caller::Owner, |tables| {
        let (registry, now) = tables.load_and_check_state(true, None);
        let until = now + registry.longest + registry.max_skew;
        let update = "UPDATE mint_registry.leases SET lease_until = $4
             WHERE node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
                 AND first_node OPERATOR(pg_catalog.=) $2::pg_catalog.int8
                 AND last_node OPERATOR(pg_catalog.=) $3::pg_catalog.int8
                 AND lease_until OPERATOR(pg_catalog.=) 'infinity'::pg_catalog.timestamptz
             RETURNING 1";
        let rows = tables.update(update, &arguments(nodes, [timestamp(until).into()]));
        if rows.is_empty() {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("{} {} not reserved", nodes.describe(), nodes.verb()),
            )
            .raise();
        }
    });
}

/// Grants a new lease, or returns why it is denied. The caller has locked the registry.
fn grant_lease(
    tables: &mut Tables<'_, '_>,
    registry: &Registry,
    now: Micros,
    width: i32,
    wanted: Option<Nodes>,
    member: &Member,
) -> Result<GrantedLease, String> {
    let denied = |denial| describe_denial(registry, denial);
    registry.admit(now, member.clock, None).map_err(denied)?;
    let nodes = match wanted {
        Some(nodes) => nodes,
        None => find_lowest_free(tables, width, now)?,
    };
    let mut registry = *registry;
    if let Some(end) = tables.delete_ended(&nodes, now) {
        registry.horizon = registry.horizon.max(end);
    }
    let (ends, holder) = tables.other_leases(&nodes, 0);
    let span = registry.grant(now, ends).map_err(|denial| match holder {
        Some(holder) => nodes.held_by(&holder),
        None => denied(denial),
    })?;
    // Random, not counted: a registry that has forgotten leases must not give their numbers again.
    let id = (random::bits() >> 1).max(1).cast_signed();
    let lease = GrantedLease { id, nodes, span };
    tables.insert(&lease, member);
    Ok(lease)
}

/// Finds the lowest node of a width that is in no lease: the first one, or one behind a lease.
fn find_lowest_free(tables: &mut Tables<'_, '_>, width: i32, now: Micros) -> Result<Nodes, String> {
    let all = Nodes::of_width(width);
    let last = *all.range.end();
    let select = "WITH held AS (
            SELECT first_node, last_node FROM mint_registry.leases
            WHERE node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
                AND lease_until OPERATOR(pg_catalog.>) $3::pg_catalog.timestamptz
         )
         SELECT node
         FROM (SELECT 0::pg_catalog.int8 AS node
               UNION ALL SELECT last_node OPERATOR(pg_catalog.+) 1::pg_catalog.int8 FROM held) AS candidate
         -- Leases do not overlap, so that a node behind one is in another only where that begins.
         WHERE node OPERATOR(pg_catalog.<=) $2::pg_catalog.int8
             AND NOT EXISTS (SELECT FROM held WHERE first_node OPERATOR(pg_catalog.=) node)
         ORDER BY node LIMIT 1";
    let rows = tables.update(select, &[width.into(), last.into(), timestamp(now).into()]);
    if rows.is_empty() {
        return Err(format!(
            "all {} nodes ({}) are in use",
            last + 1,
            identity::bits(width.unsigned_abs())
        ));
    }
    let node = rows.first().get::<i64>(1).or_report().unwrap_or(0);
    Ok(Nodes {
        range: node..=node,
        ..all
    })
}
