//! The registry of nodes: commands of its administrator.

use crate::pg::catalog::spi::Row;
use crate::pg::datum::timestamp::{interval, to_micros};
use crate::pg::error::report;
use crate::pg::machine::{clock, random};
use crate::registry::identity;
use crate::registry::server::answer::{
    GrantedLease, Limits, Requester, describe_denial, printable, read_log_state,
};
use crate::registry::server::grant::{grant_lease, random_id};
use crate::registry::server::nodes::NodeRange;
use crate::registry::server::place;
use crate::registry::server::place::Caller;
use crate::registry::server::state::RegistryState;
use crate::registry::server::tables::{
    OpenTables, arguments, at, text, with_tables, with_tables_in, without_queue,
};
use mint_core::clock::timestamp_text;
use mint_core::registry::lease_rules::{LARGEST_SKEW, QUARANTINE};
use mint_core::{Identity, Incarnation, Micros, Registry};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};

/// Makes this database a registry, or changes its rules. A new registry begins in quarantine, as there can have been
/// another one before it.
pub fn create(length: Micros, max_skew: Micros, limits: Limits) {
    let place = place::find_or_create();
    with_tables_in(&place, Caller::Owner, |tables| {
        let insert = "INSERT INTO mint_registry.registry (lease, max_skew, leases_per_login, nodes_per_login, system_identifier,
                 timeline, started, incarnation, quarantine, database, written)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $database, $transaction)
             ON CONFLICT (one) DO NOTHING RETURNING 1";
        let rules = || {
            let [length, max_skew] = [length, max_skew].map(interval);
            let Limits { leases, nodes } = limits;
            [length.into(), max_skew.into(), leases.into(), nodes.into()]
        };
        // Random, so that members tell it from another registry, which they may have used before.
        let identity = Identity {
            incarnation: Incarnation(random::bits() >> 1),
            ..read_log_state().identity
        };
        let identity = identity::to_numbers(identity).map(DatumWithOid::from);
        let end = at(clock::now() + QUARANTINE);
        let values: Vec<_> = rules().into_iter().chain(identity).chain([end]).collect();
        if !tables.update(insert, &values) {
            // What was changed by hand is noticed before it is written over.
            tables.load_and_check_state(true, None);
            let update = "UPDATE mint_registry.registry
                 SET lease = $1, max_skew = $2, leases_per_login = $3, nodes_per_login = $4, written = $transaction";
            tables.update(update, &rules());
        }
    });
}

/// Drops the registry, in which no lease or reservation lasts: another registry would not know of it.
pub fn drop() {
    without_queue(|| {
        with_tables(Caller::Owner, |tables| {
            tables.load_state(true);
            // Renewals lock their own row only.
            let lock = "LOCK TABLE mint_registry.leases IN SHARE ROW EXCLUSIVE MODE";
            tables.update(lock, &[]);
            refuse_while_in_force(tables);
        });
        place::drop();
    });
}

/// Raises an error while nodes are leased or reserved.
fn refuse_while_in_force(tables: &mut OpenTables<'_, '_>) {
    let select = "SELECT max(CASE WHEN system_identifier IS NOT NULL
                 AND lease_until > $1 THEN lease_until END),
             count(CASE WHEN assigned OR system_identifier IS NULL THEN id END)
         FROM mint_registry.leases
         WHERE assigned OR lease_until > $1";
    let read = |row: &Row<'_>| (row.get::<TimestampWithTimeZone>(1), row.need::<i64>(2));
    let (last, reserved) = tables.one(select, &[at(clock::now())], read);
    if let Some(last) = last.map(to_micros) {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot drop the registry while leases are in force",
        )
        .detail(format!("The last lease ends at {}.", timestamp_text(last)))
        .hint("Use mint.release_leases() on each member, or wait until the leases end.")
        .raise();
    }
    if reserved > 0 {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot drop the registry while nodes are reserved or assigned",
        )
        .detail(match reserved {
            1 => "1 node, or range of nodes, is reserved or assigned.".to_owned(),
            _ => format!("{reserved} nodes, or ranges of nodes, are reserved or assigned."),
        })
        .hint("Use mint.registry_unreserve() and mint.registry_unassign().")
        .raise();
    }
}

/// Begins a quarantine.
pub fn begin_quarantine() {
    with_state(|registry, now| registry.quarantine(now, random::bits() as u32));
}

/// Ends a quarantine early.
pub fn end_quarantine() {
    with_state(|registry, now| registry.quarantine = now);
}

/// Expects the next start of the server within a time, and returns its end.
pub fn prepare_restart(within: Micros) -> Micros {
    let until = clock::now() + within;
    with_state(|registry, _| registry.restart_until = until);
    until
}

/// Lets the registry grant by its clock again, after one that was ahead, and begins a quarantine. Leases that last longer than any
/// by this clock are of that one: they keep their nodes, or end. Returns how many.
pub fn accept_clock(end_leases: bool) -> i64 {
    with_tables(Caller::Owner, |tables| {
        let (RegistryState { mut registry, .. }, now) = tables.load_and_check_state(true, None);
        let end = now - registry.max_skew;
        let latest = now + QUARANTINE + LARGEST_SKEW;
        let future = "system_identifier IS NOT NULL AND (lease_until > $1 OR NOT assigned AND free_from > $1)";
        let (statement, values) = if end_leases {
            let update = format!(
                "UPDATE mint_registry.leases
                 SET lease_from = least(lease_from, $2), lease_until = $2, copy_seen = NULL, copy_place = NULL,
                     free_from = CASE WHEN assigned THEN free_from ELSE $2 END, written = $transaction
                 WHERE {future} RETURNING id"
            );
            (update, vec![at(latest), at(end)])
        } else {
            let select = format!("SELECT id FROM mint_registry.leases WHERE {future}");
            (select, vec![at(latest)])
        };
        let leases = tables.rows(&statement, &values, |_| ());
        let update = "UPDATE mint_registry.registry
             SET horizon = CASE WHEN horizon > $1 THEN $2 ELSE horizon END, written = $transaction";
        tables.update(update, &[at(latest), at(end)]);
        registry.quarantine(now, random::bits() as u32);
        tables.save_state(&registry);
        i64::try_from(leases.len()).unwrap_or(i64::MAX)
    })
}

/// Changes the state of the registry.
fn with_state(change: impl FnOnce(&mut Registry, Micros)) {
    with_tables(Caller::Owner, |tables| {
        let (RegistryState { mut registry, .. }, _) = tables.load_and_check_state(true, None);
        change(&mut registry, clock::now());
        tables.save_state(&registry);
    });
}

/// Reserves nodes for a server that makes no requests.
pub fn reserve(nodes: NodeRange, holder: &str) {
    with_tables(Caller::Owner, |tables| {
        let holder = printable(holder);
        reserve_as(tables, false, &holder, |_, state, _, now| {
            admit(state, now).map(|()| nodes)
        });
    });
}

/// Returns why the registry grants nothing new, if so.
pub fn admit(state: &RegistryState, now: Micros) -> Result<(), String> {
    let admitted = state.registry.admit(now, now, None);
    admitted.map_err(|denial| describe_denial(&state.registry, denial))
}

/// Grants nodes that `find` returns to a holder for good: as a lease that lasts, or as nodes that are assigned to the
/// holder, whose server leases them. Returns the nodes.
pub fn reserve_as(
    tables: &mut OpenTables<'_, '_>,
    is_assigned: bool,
    holder: &str,
    find: impl FnOnce(
        &mut OpenTables<'_, '_>,
        &RegistryState,
        &Requester,
        Micros,
    ) -> Result<NodeRange, String>,
) -> NodeRange {
    let member = Requester {
        name: holder.to_owned(),
        login: None,
        system: 0,
        clock: clock::now(),
        listed: "{}".to_owned(),
        seen: None,
    };
    let (state, now) = tables.load_and_check_state(true, None);
    let nodes = find(tables, &state, &member, now);
    match nodes.and_then(|nodes| grant_lease(tables, &state, now, nodes, &member)) {
        Ok(GrantedLease { id, nodes, .. }) => {
            let update = "UPDATE mint_registry.leases
                 SET assigned = $2,
                     lease_from = CASE WHEN $2 THEN $past ELSE lease_from END,
                     lease_until = CASE WHEN $2 THEN $past ELSE 'infinity'::timestamptz END,
                     free_from = 'infinity'::timestamptz,
                     system_identifier = NULL, address = NULL, written = $transaction
                 WHERE id = $1";
            // An assigned node has no lease yet, by every clock.
            let past = "(lease_from - (SELECT max_skew FROM mint_registry.registry))";
            tables.update(
                &update.replace("$past", past),
                &[id.into(), is_assigned.into()],
            );
            nodes
        }
        Err(denial) => report(Code::ERRCODE_OBJECT_IN_USE, denial).raise(),
    }
}

/// Ends a reservation, also of a node that was assigned before. Others get the nodes after the time for which the server may
/// have minted ahead.
pub fn unreserve(nodes: &NodeRange) {
    with_tables(Caller::Owner, |tables| {
        let (_, now) = tables.load_and_check_state(true, None);
        let update = "UPDATE mint_registry.leases SET lease_until = $4, free_from = $4, written = $transaction
             WHERE node_bits = $1 AND first_node = $2 AND last_node = $3 AND free_from > $4
                 AND NOT assigned AND system_identifier IS NULL
             RETURNING 1";
        if !tables.update(update, &arguments(nodes, [at(now + QUARANTINE)])) {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("{} {} not reserved", nodes.describe(), nodes.verb()),
            )
            .raise();
        }
    });
}

/// Evicts the holder of this name.
pub fn evict_holder(holder: &str) -> i64 {
    let evicted = evict("holder = $2", |now| vec![now, text(holder)]);
    if evicted == 0 {
        let message = format!("\"{}\" has no lease", printable(holder));
        report(Code::ERRCODE_UNDEFINED_OBJECT, message).raise();
    }
    evicted
}

/// Evicts the holders of any of these nodes.
pub fn evict_nodes(nodes: &NodeRange) -> i64 {
    let condition = "node_bits = $2 AND first_node <= $4 AND last_node >= $3";
    let evicted = evict(condition, |now| {
        [now].into_iter().chain(arguments(nodes, [])).collect()
    });
    if evicted == 0 {
        let message = format!("{} {} not leased", nodes.describe(), nodes.verb());
        report(Code::ERRCODE_UNDEFINED_OBJECT, message).raise();
    }
    evicted
}

/// Gives leases that last, by a condition, other numbers, by which nobody can renew them. Returns how many.
fn evict(
    condition: &str,
    values: impl Fn(DatumWithOid<'static>) -> Vec<DatumWithOid<'static>>,
) -> i64 {
    with_tables(Caller::Owner, |tables| {
        let (RegistryState { registry, .. }, now) = tables.load_and_check_state(true, None);
        let select = format!(
            "SELECT id FROM mint_registry.leases
             WHERE lease_until > $1 AND isfinite(lease_until) AND {condition}"
        );
        let values = values(at(now));
        let ids: Vec<i64> = tables.rows(&select, &values, |row| row.need(1));
        // A registry in quarantine can have forgotten that a lease was renewed.
        let update = "UPDATE mint_registry.leases
             SET id = $2, instance = NULL, written = $transaction,
                 lease_until = greatest(lease_until, $3), free_from = greatest(free_from, $3)
             WHERE id = $1";
        for &id in &ids {
            let values = [id.into(), random_id().into(), at(registry.quarantine)];
            tables.update(update, &values);
        }
        tables.save_state(&registry);
        i64::try_from(ids.len()).unwrap_or(i64::MAX)
    })
}
