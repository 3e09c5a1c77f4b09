//! The registry of nodes: the questions that members ask it, and those of its administrator.
//!
//! What is granted is decided by [`mint_core::registry::lease_rules`]. In [`crate::registry::server::tables`] it is kept, in the order that makes it
//! safe: a claim locks the registry's row, so claims come one after the other; a renewal locks its own row only.

use crate::pg::datum::timestamp::timestamp;
use crate::pg::error::{OrReport, report};
use crate::pg::machine::{clock, random};
use crate::registry::server::request::{Answer, Asker, Grant, Nodes, here, words};
use crate::registry::server::tables::{Tables, with_tables};
use mint_core::{Denial, LeaseTerm, LogPoint, Micros, Registry};
use pgrx::PgSqlErrorCode as Code;

/// Grants any free node of a width, or these nodes.
pub fn claim(width: i32, wanted: Option<Nodes>, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let (registry, now) = tables.load_and_check_state(true, Some(asker));
        let granted = grant_span(tables, &registry, now, width, wanted, asker);
        answer(&registry, granted.map_err(|why| (None, why)))
    })
}

/// Grants a claim the time from here on. `told` is the slice as its holder knows it.
pub fn renew(claim: i64, nodes: Nodes, told: LeaseTerm, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let (mut registry, mut now) = tables.load_and_check_state(false, Some(asker));
        if now < registry.quarantine {
            // The claim may have to be written down again, one at a time like new ones.
            (registry, now) = tables.load_and_check_state(true, Some(asker));
        }
        let kept = tables.held(claim, &nodes);
        let standing = |span| Grant {
            claim,
            nodes: nodes.clone(),
            span,
        };
        if let Err(denial) = registry.admit(now, asker.clock, Some(told)) {
            let why = words(&registry, denial);
            return answer(&registry, Err((Some(standing(kept.unwrap_or(told))), why)));
        }
        if kept.is_none() {
            tables.forget_past(&nodes, now);
        }
        let (others, holder) = tables.others(&nodes, claim);
        let granted = registry.renew(now, kept, told, others).map(standing);
        if let Ok(grant) = &granted {
            match kept {
                Some(_) => tables.prolong(grant),
                None => tables.insert(grant, asker),
            }
        }
        let lost = |denial| match (denial, holder) {
            (Denial::Leased { .. }, Some(holder)) => nodes.held_by(&holder),
            (denial, _) => words(&registry, denial),
        };
        answer(&registry, granted.map_err(|denial| (None, lost(denial))))
    })
}

/// Ends a claim, whose holder has minted nothing at or after `until`. False when there is none.
pub fn release(claim: i64, until: Micros) -> bool {
    with_tables(|tables| {
        let update = tables.sql(
            "UPDATE $grants
             SET slice_until = CASE WHEN slice_from OPERATOR(pg_catalog.>) $2::pg_catalog.timestamptz THEN slice_from
                 WHEN slice_until OPERATOR(pg_catalog.<) $2::pg_catalog.timestamptz THEN slice_until ELSE $2 END
             WHERE claim OPERATOR(pg_catalog.=) $1::pg_catalog.int8
             RETURNING 1",
        );
        let rows = tables.update(&update, &[claim.into(), timestamp(until).into()]);
        !rows.is_empty()
    })
}

fn answer(registry: &Registry, granted: Result<Grant, (Option<Grant>, String)>) -> Answer {
    let (grant, denial) = match granted {
        Ok(grant) => (Some(grant), None),
        Err((grant, why)) => (grant, Some(why)),
    };
    Answer {
        grant,
        length: registry.length,
        seen: LogPoint {
            identity: registry.identity,
            position: here().position,
        },
        denial,
    }
}

/// Makes this database a registry, or changes its rules. A new one begins in quarantine, as there may have been another
/// before it.
pub fn create(length: Micros, max_skew: Micros) {
    let here = here();
    with_tables(|tables| {
        let insert = tables.sql(
            "INSERT INTO $registry AS here (slice, longest_slice, max_skew, system_identifier, timeline, started,
                 relation, database, quarantine)
             VALUES ($1, $1, $2, $3, $4, $5, $relation, $database,
                 pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) $1::pg_catalog.interval
                     OPERATOR(pg_catalog.+) $2::pg_catalog.interval)
             ON CONFLICT (one) DO UPDATE SET slice = excluded.slice, max_skew = excluded.max_skew,
                 longest_slice = CASE WHEN here.longest_slice OPERATOR(pg_catalog.<) excluded.slice
                     THEN excluded.slice ELSE here.longest_slice END",
        );
        let [length, max_skew] = [length, max_skew].map(crate::pg::datum::timestamp::interval);
        tables.update(
            &insert,
            &[
                length.into(),
                max_skew.into(),
                here.identity.system.cast_signed().into(),
                i64::from(here.identity.timeline).into(),
                here.identity.start.into(),
            ],
        );
    });
}

/// Begins a quarantine, or ends it.
pub fn quarantine(begin: bool) {
    with_tables(|tables| {
        let (mut registry, _) = tables.load_and_check_state(true, None);
        if begin {
            registry.quarantine(clock::now());
        } else {
            registry.quarantine = clock::now();
        }
        tables.keep(&registry);
    });
}

/// Keeps nodes for a server that does not ask.
pub fn reserve(nodes: Nodes, holder: String) {
    let asker = Asker {
        holder,
        system: 0,
        clock: clock::now(),
        seen: None,
    };
    with_tables(|tables| {
        let (registry, now) = tables.load_and_check_state(true, None);
        let width = nodes.width as i32;
        match grant_span(tables, &registry, now, width, Some(nodes), &asker) {
            Ok(Grant { claim, .. }) => {
                let update = tables.sql(
                    "UPDATE $grants SET slice_until = 'infinity'::pg_catalog.timestamptz, system_identifier = NULL,
                         address = NULL
                     WHERE claim OPERATOR(pg_catalog.=) $1::pg_catalog.int8",
                );
                tables.update(&update, &[claim.into()]);
            }
            Err(why) => report(Code::ERRCODE_OBJECT_IN_USE, why).raise(),
        }
    });
}

/// Ends a reservation. What the server that had it may have minted ahead is past before others have the nodes.
pub fn unreserve(nodes: &Nodes) {
    with_tables(|tables| {
        let (registry, now) = tables.load_and_check_state(true, None);
        let until = now + registry.longest + registry.max_skew;
        let update = tables.sql(
            "UPDATE $grants SET slice_until = $4
             WHERE node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
                 AND first_node OPERATOR(pg_catalog.=) $2::pg_catalog.int8
                 AND last_node OPERATOR(pg_catalog.=) $3::pg_catalog.int8
                 AND slice_until OPERATOR(pg_catalog.=) 'infinity'::pg_catalog.timestamptz
             RETURNING 1",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let width = (nodes.width as i32).into();
        if tables
            .update(&update, &[width, first, last, timestamp(until).into()])
            .is_empty()
        {
            report(
                Code::ERRCODE_UNDEFINED_OBJECT,
                format!("{} are not reserved", nodes.describe()),
            )
            .raise();
        }
    });
}

/// Grants a claim. The caller has locked the registry.
fn grant_span(
    tables: &mut Tables<'_, '_>,
    registry: &Registry,
    now: Micros,
    width: i32,
    wanted: Option<Nodes>,
    asker: &Asker,
) -> Result<Grant, String> {
    let denied = |denial| words(registry, denial);
    registry.admit(now, asker.clock, None).map_err(denied)?;
    let nodes = match wanted {
        Some(nodes) => nodes,
        None => lowest_free(tables, width, now)?,
    };
    let mut registry = *registry;
    if let Some(end) = tables.forget_past(&nodes, now) {
        registry.horizon = registry.horizon.max(end);
    }
    let (ends, holder) = tables.others(&nodes, 0);
    let span = registry.grant(now, ends).map_err(|denial| match holder {
        Some(holder) => nodes.held_by(&holder),
        None => denied(denial),
    })?;
    // Not counted on: a registry that has forgotten claims must not give their numbers again.
    let claim = (random::bits() >> 1).max(1).cast_signed();
    let grant = Grant { claim, nodes, span };
    tables.insert(&grant, asker);
    Ok(grant)
}

/// The lowest node of a width that no member holds: the first one, or one behind a claim.
fn lowest_free(tables: &mut Tables<'_, '_>, width: i32, now: Micros) -> Result<Nodes, String> {
    let all = Nodes::of_width(width);
    let last = *all.range.end();
    let select = tables.sql(
        "WITH held AS (
            SELECT first_node, last_node FROM $grants
            WHERE node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
                AND slice_until OPERATOR(pg_catalog.>) $3::pg_catalog.timestamptz
         )
         SELECT node
         FROM (SELECT 0::pg_catalog.int8 AS node
               UNION ALL SELECT last_node OPERATOR(pg_catalog.+) 1::pg_catalog.int8 FROM held) AS candidate
         -- Claims do not overlap, so that a node behind one is in another only where that begins.
         WHERE node OPERATOR(pg_catalog.<=) $2::pg_catalog.int8
             AND NOT EXISTS (SELECT FROM held WHERE first_node OPERATOR(pg_catalog.=) node)
         ORDER BY node LIMIT 1",
    );
    let rows = tables.update(&select, &[width.into(), last.into(), timestamp(now).into()]);
    if rows.is_empty() {
        return Err(format!("all {} nodes of {width} bits are in use", last + 1));
    }
    let node = rows.first().get::<i64>(1).or_report().unwrap_or(0);
    Ok(Nodes {
        range: node..=node,
        ..all
    })
}
