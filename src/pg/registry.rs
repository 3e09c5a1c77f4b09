//! The registry of nodes: the questions that members ask it, and those of its administrator.
//!
//! What is granted is decided by [`mint_core::registry`]. In [`super::grants`] it is kept, in the order that makes it
//! safe: a claim locks the registry's row, so claims come one after the other; a renewal locks its own row only.

use super::clock;
use super::errors::report;
use super::grants::with_tables;
use super::moment::timestamp;
use mint_core::text::moment_text;
use mint_core::{Denial, Identity, Micros, Registry, Seen, Span};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ops::RangeInclusive;

/// Nodes of a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// In bits.
    pub width: u32,
    /// Which.
    pub range: RangeInclusive<i64>,
}

impl Nodes {
    /// Checks what a caller gave.
    pub fn new(width: i32, first: i64, last: i64) -> Self {
        let nodes = Self::of_width(width);
        if first < 0 || last < first || last > *nodes.range.end() {
            report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{first} to {last} are not nodes of {width} bits"),
                Some(format!("They are 0 to {}.", nodes.range.end())),
                None,
            );
        }
        Self {
            range: first..=last,
            ..nodes
        }
    }

    /// All of a width.
    pub fn of_width(width: i32) -> Self {
        match u32::try_from(width) {
            Ok(width @ 0..=62) => Self {
                width,
                range: 0..=(1 << width) - 1,
            },
            _ => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "the width of a node must be from 0 to 62 bits".to_owned(),
                None,
                None,
            ),
        }
    }

    /// As messages say that others have them.
    pub fn held_by(&self, holder: &str) -> String {
        let verb = if self.range.start() == self.range.end() {
            "is"
        } else {
            "are"
        };
        format!("{} {verb} held by {holder}", self.describe())
    }

    /// As messages say it.
    pub fn describe(&self) -> String {
        let (first, last, width) = (self.range.start(), self.range.end(), self.width);
        if first == last {
            format!("node {first} of {width} bits")
        } else {
            format!("nodes {first} to {last} of {width} bits")
        }
    }
}

/// Who asks, and what of the registry it has seen.
pub struct Asker {
    /// What people call it.
    pub holder: String,
    /// Of its database system.
    pub system: i64,
    /// What its clock shows.
    pub clock: Micros,
    pub seen: Option<Seen>,
}

/// What the registry says.
pub struct Answer {
    /// What is granted. A renewal that is denied for a time has its old slice here.
    pub grant: Option<Grant>,
    /// How long slices are.
    pub length: Micros,
    /// Where the registry stands.
    pub seen: Seen,
    /// Why nothing is granted.
    pub denial: Option<String>,
}

/// Nodes that are lent.
pub struct Grant {
    /// Its number.
    pub claim: i64,
    pub nodes: Nodes,
    pub span: Span,
}

/// Grants any free node of a width, or these nodes.
pub fn claim(width: i32, wanted: Option<Nodes>, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let (registry, now) = tables.registry(true, Some(asker));
        let granted = tables.grant(&registry, now, width, wanted, asker);
        answer(&registry, granted.map_err(|why| (None, why)))
    })
}

/// Grants a claim the time from here on. `told` is the slice as its holder knows it.
pub fn renew(claim: i64, nodes: Nodes, told: Span, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let (mut registry, mut now) = tables.registry(false, Some(asker));
        if now < registry.quarantine {
            // The claim may have to be written down again, one at a time like new ones.
            (registry, now) = tables.registry(true, Some(asker));
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
            (Denial::Held { .. }, Some(holder)) => nodes.held_by(&holder),
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
        seen: Seen {
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
        let [length, max_skew] = [length, max_skew].map(super::moment::interval);
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
        let (mut registry, _) = tables.registry(true, None);
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
        let (registry, now) = tables.registry(true, None);
        let width = nodes.width as i32;
        match tables.grant(&registry, now, width, Some(nodes), &asker) {
            Ok(Grant { claim, .. }) => {
                let update = tables.sql(
                    "UPDATE $grants SET slice_until = 'infinity'::pg_catalog.timestamptz, system_identifier = NULL,
                         address = NULL
                     WHERE claim OPERATOR(pg_catalog.=) $1::pg_catalog.int8",
                );
                tables.update(&update, &[claim.into()]);
            }
            Err(why) => report(Code::ERRCODE_OBJECT_IN_USE, why, None, None),
        }
    });
}

/// Ends a reservation. What the server that had it may have minted ahead is past before others have the nodes.
pub fn unreserve(nodes: &Nodes) {
    with_tables(|tables| {
        let (registry, now) = tables.registry(true, None);
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
                None,
                None,
            );
        }
    });
}

/// Who this server is, and where its log ends.
pub fn here() -> Seen {
    // SAFETY: calls without preconditions outside of recovery, where nothing is granted.
    unsafe {
        Seen {
            identity: Identity {
                system: pg_sys::GetSystemIdentifier(),
                timeline: pg_sys::GetWALInsertionTimeLine(),
                start: pg_sys::PgStartTime,
                incarnation: 0,
            },
            position: pg_sys::GetXLogInsertRecPtr(),
        }
    }
}

/// A denial in words.
pub fn words(registry: &Registry, denial: Denial) -> String {
    let seconds = |span: Micros| format!("{:.1} s", span as f64 / 1e6);
    match denial {
        Denial::Skew { ahead } => format!(
            "the clock of this server is {} {} that of the registry, which bears {}",
            seconds(ahead.saturating_abs()),
            if ahead < 0 { "behind" } else { "ahead of" },
            seconds(registry.max_skew)
        ),
        Denial::Quarantine { left } => format!(
            "the registry may have forgotten what it granted, and grants nothing for another {}",
            seconds(left)
        ),
        Denial::Lost => "the registry does not know of the claim any more".to_owned(),
        Denial::Held { until } => format!(
            "the clock of the registry is behind what it has granted, up to {}",
            moment_text(until)
        ),
    }
}
