//! Nodes that are assigned to a holder for good, which nobody else is ever granted.
//!
//! An assigned node is a lease that is never free again. The first server of the holder's name that leases it makes it
//! its own, by a key that it has chosen: a copy of that server, at another place, is refused, and so is a server that only
//! knows the name. So the server may mint under it while the registry is away, for as long as it has ever told the registry: nobody
//! else gets the node for that time, even when it is taken away.

use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp, to_micros};
use crate::pg::error::{OrReport, report};
use crate::registry::identity::bits;
use crate::registry::protocol::Assignee;
use crate::registry::server::admin::{admit, reserve_as};
use crate::registry::server::free;
use crate::registry::server::grant::random_id;
use crate::registry::server::place::Caller;
use crate::registry::server::request::{
    Answer, GrantedLease, Member, Nodes, describe_denial, printable,
};
use crate::registry::server::tables::{Tables, with_tables};
use mint_core::clock::timestamp_text;
use mint_core::registry::lease_rules::QUARANTINE;
use mint_core::{Denial, LeaseTerm, Micros, Registry};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::TimestampWithTimeZone;

/// A node that is assigned, as the tables have it.
struct Assigned {
    id: i64,
    nodes: Nodes,
    term: LeaseTerm,
    /// The server that uses it; none before its first lease.
    assignee: Option<Assignee>,
}

/// Assigns a node of a width to a holder: any free one, or this one if it is free. That can be done in a quarantine too, as
/// the holder gets no lease before its end. Returns the node; the one that the holder has, if any.
pub fn assign(width: i32, holder: &str, node: Option<Nodes>) -> i64 {
    let holder = printable(holder);
    with_tables(Caller::Owner, |tables| {
        if let Some(assigned) = find(tables, width, &holder, None) {
            if node.is_some_and(|node| node.range != assigned.nodes.range) {
                let nodes = assigned.nodes.describe();
                let message = format!("{nodes} is assigned to \"{holder}\"");
                report(Code::ERRCODE_OBJECT_IN_USE, message)
                    .hint("Use mint.registry_unassign() first.")
                    .raise();
            }
            return *assigned.nodes.range.start();
        }
        let nodes = reserve_as(
            tables,
            true,
            &holder,
            |tables, state, member, now| match node {
                Some(node) => Ok(node),
                None => admit(state, now).and_then(|()| free::find_any(tables, width, member, now)),
            },
        );
        *nodes.range.start()
    })
}

/// Takes a node away from its holder: a reservation is left for as long as the server may use the node from now on, as the
/// registry may have forgotten its last lease. Returns when others can get it.
pub fn unassign(width: i32, holder: &str) -> Option<TimestampWithTimeZone> {
    let holder = printable(holder);
    with_tables(Caller::Owner, |tables| {
        let (_, now) = tables.load_and_check_state(true, None);
        let Some(assigned) = find(tables, width, &holder, None) else {
            report(Code::ERRCODE_UNDEFINED_OBJECT, missing(width, &holder)).raise();
        };
        let outage = match assigned.assignee {
            Some(assignee) => assignee.max_outage,
            None => Some(0),
        };
        let end = outage.map(|outage| assigned.term.until.max(now.saturating_add(outage)));
        let update = "UPDATE mint_registry.leases
             SET id = $2, assigned = false, place = NULL, key = NULL, max_outage = NULL, login = NULL,
                 system_identifier = NULL, address = NULL, written = $transaction,
                 lease_until = CASE WHEN $3 IS NULL THEN 'infinity'::pg_catalog.timestamptz ELSE $3 END,
                 free_from = CASE WHEN $4 IS NULL THEN 'infinity'::pg_catalog.timestamptz ELSE $4 END
             WHERE id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
             RETURNING free_from";
        let id = random_id();
        let free_from = end.map(|end| end.saturating_add(QUARANTINE));
        let values = [
            assigned.id.into(),
            id.into(),
            end.and_then(timestamp).into(),
            free_from.and_then(timestamp).into(),
        ];
        let free_from = tables.update(update, &values).first().get(1).or_report();
        tables.save_changes(assigned.id ^ id, Micros::MIN);
        free_from
    })
}

/// Leases the node that is assigned to a member, or renews the lease `told`.
pub fn lease(
    width: i32,
    assignee: &Assignee,
    told: Option<(i64, LeaseTerm)>,
    member: &Member,
) -> Answer {
    let mut assignee = assignee.clone();
    assignee.place = printable(&assignee.place);
    with_tables(Caller::Member, |tables| {
        let (mut state, mut now) = tables.load_and_check_state(false, Some(member));
        let renewed = told.and_then(|(id, _)| find(tables, width, &member.name, Some(id)));
        let is_renewal = renewed.is_some();
        let assigned = match renewed {
            Some(assigned) => Some(assigned),
            None => {
                // The lease gets another number: one at a time, like new ones.
                (state, now) = tables.load_and_check_state(true, Some(member));
                find(tables, width, &member.name, None)
            }
        };
        let told = told.filter(|_| is_renewal).map(|(_, term)| term);
        let agrees = state.registry.check_clock(now, member.clock).is_ok();
        let before = assigned.as_ref().and_then(|own| own.assignee.clone());
        match decide(
            &state.registry,
            now,
            width,
            assigned,
            (&assignee, told),
            member,
        ) {
            Ok((id, lease)) => {
                // A shorter limit counts for the server, which has promised nothing of its copies.
                if let Some(before) = before {
                    let limits = before.max_outage.zip(assignee.max_outage);
                    assignee.max_outage = limits.map(|(before, now)| before.max(now));
                }
                write(tables, &lease, id, &assignee, member);
                Answer::of(&state.registry, agrees, Some(lease), None)
            }
            Err(refusal) => Answer {
                is_unassigned: matches!(refusal, Refusal::Unassigned(_)),
                is_quarantined: matches!(refusal, Refusal::Denied(Denial::Quarantine { .. })),
                ..Answer::of(
                    &state.registry,
                    agrees,
                    None,
                    Some(match refusal {
                        Refusal::Unassigned(why) | Refusal::Leased(why) => why,
                        Refusal::Denied(denial) => describe_denial(&state.registry, denial),
                    }),
                )
            },
        }
    })
}

/// Why an assigned node is not leased.
enum Refusal {
    Unassigned(String),
    Leased(String),
    Denied(Denial),
}

/// Returns the number of the lease as it was, and the lease as it is to be.
fn decide(
    registry: &Registry,
    now: Micros,
    width: i32,
    assigned: Option<Assigned>,
    (assignee, told): (&Assignee, Option<LeaseTerm>),
    member: &Member,
) -> Result<(i64, GrantedLease), Refusal> {
    let assigned = assigned.ok_or_else(|| Refusal::Unassigned(missing(width, &member.name)))?;
    let (nodes, name) = (assigned.nodes.describe(), &member.name);
    let is_theirs = |own: &Assignee| own.place != assignee.place || own.key != assignee.key;
    if assigned.assignee.as_ref().is_some_and(is_theirs) {
        let place = &assignee.place;
        return Err(Refusal::Unassigned(format!(
            "{nodes} is assigned to another server of the name \"{name}\"; this one is at {place}"
        )));
    }
    registry
        .admit(now, member.clock, told)
        .map_err(Refusal::Denied)?;
    let (id, span) = match told {
        Some(told) => (
            assigned.id,
            registry.renew(now, Some(assigned.term), told, []),
        ),
        None if assigned.term.until > now => {
            let until = timestamp_text(assigned.term.until);
            return Err(Refusal::Leased(format!(
                "{nodes} is leased by \"{name}\" until {until}"
            )));
        }
        None => (random_id(), registry.grant(now, [])),
    };
    let span = span.map_err(Refusal::Denied)?;
    let lease = GrantedLease {
        id,
        nodes: assigned.nodes,
        span,
        free_from: Micros::MAX,
    };
    Ok((assigned.id, lease))
}

/// Finds the node that is assigned to a holder, and locks its row; of this number, if one is given.
fn find(
    tables: &mut Tables<'_, '_>,
    width: i32,
    holder: &str,
    id: Option<i64>,
) -> Option<Assigned> {
    let select = "SELECT lease_from, lease_until, id, first_node, place, key,
             (pg_catalog.extract('epoch'::pg_catalog.text, max_outage)
                 OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8
         FROM mint_registry.leases
         WHERE assigned AND node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
             AND holder OPERATOR(pg_catalog.=) $2::pg_catalog.text
             AND ($3::pg_catalog.int8 IS NULL
                 OR id OPERATOR(pg_catalog.=) $3::pg_catalog.int8 AND xmin OPERATOR(pg_catalog.=) written)
         FOR UPDATE";
    let name = DecodedText(holder.to_owned()).into();
    let rows = tables.update(select, &[width.into(), name, id.into()]);
    if rows.is_empty() {
        return None;
    }
    let row = rows.first();
    let time = |column| row.get(column).or_report().map(to_micros);
    let node = row.get::<i64>(4).or_report()?;
    Some(Assigned {
        id: row.get(3).or_report()?,
        nodes: Nodes {
            range: node..=node,
            ..Nodes::of_width(width)
        },
        term: LeaseTerm {
            from: time(1)?,
            until: time(2)?,
        },
        assignee: row
            .get::<DecodedText>(5)
            .or_report()
            .zip(row.get(6).or_report())
            .map(|(DecodedText(place), key)| Assignee {
                place,
                key,
                max_outage: row.get(7).or_report(),
            }),
    })
}

/// Writes a lease of an assigned node that had the number `id` before.
fn write(
    tables: &mut Tables<'_, '_>,
    lease: &GrantedLease,
    id: i64,
    assignee: &Assignee,
    member: &Member,
) {
    let update = "UPDATE mint_registry.leases
         SET id = $2, lease_from = $3, lease_until = $4, place = $5, key = $6, max_outage = $7, login = $8, system_identifier = $9,
             address = pg_catalog.inet_client_addr(), listed = $10::pg_catalog.text::pg_catalog.int8multirange,
             renewals = CASE WHEN id OPERATOR(pg_catalog.=) $2::pg_catalog.int8
                 THEN renewals OPERATOR(pg_catalog.+) 1::pg_catalog.int8 ELSE 0::pg_catalog.int8 END,
             written = $transaction
         WHERE id OPERATOR(pg_catalog.=) $1::pg_catalog.int8";
    let values = [
        id.into(),
        lease.id.into(),
        timestamp(lease.span.from).into(),
        timestamp(lease.span.until).into(),
        DecodedText(assignee.place.clone()).into(),
        assignee.key.into(),
        assignee.max_outage.map(interval).into(),
        member.login.clone().map(DecodedText).into(),
        member.system.into(),
        DecodedText(member.listed.clone()).into(),
    ];
    tables.update(update, &values);
    if id != lease.id {
        tables.save_changes(id ^ lease.id, Micros::MIN);
    }
}

fn missing(width: i32, holder: &str) -> String {
    format!(
        "no node ({}) is assigned to \"{holder}\"",
        bits(width.unsigned_abs())
    )
}
