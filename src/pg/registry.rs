//! The registry of nodes: its tables, and the questions that members ask it.
//!
//! What is granted is decided by [`mint_core::registry`]. Here it is kept, in the order that makes it safe: a claim
//! locks the registry's row, so claims come one after the other; a renewal locks its own row only.

use super::errors::{OrReport, report};
use super::moment::{timestamp, to_micros};
use super::{catalog, clock, naming, random};
use mint_core::text::moment_text;
use mint_core::{Denial, Identity, Micros, Registry, Seen, Span};
use pgrx::datum::TimestampWithTimeZone as Timestamp;
use pgrx::spi::{SpiClient, SpiTupleTable};
use pgrx::{PgSqlErrorCode as Code, Spi, pg_sys};
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

    fn describe(&self) -> String {
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

/// The registry's tables, open in a transaction.
struct Tables<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
    schema: String,
}

/// Grants any free node of a width, or these nodes.
pub fn claim(width: i32, wanted: Option<Nodes>, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let registry = tables.registry(true, asker.seen);
        let now = clock::now();
        let granted = tables.grant(&registry, now, width, wanted, asker);
        answer(&registry, granted.map_err(|why| (None, why)))
    })
}

/// Grants a claim the time from here on.
pub fn renew(claim: i64, nodes: Nodes, asker: &Asker) -> Answer {
    with_tables(|tables| {
        let registry = tables.registry(false, asker.seen);
        let Some(held) = tables.held(claim, &nodes) else {
            let why = format!("the registry has no claim {claim} on {}", nodes.describe());
            return answer(&registry, Err((None, why)));
        };
        let now = clock::now();
        let granted = match registry.admit(now, asker.clock) {
            Ok(()) => {
                let span = registry.renew(now, held);
                tables.prolong(claim, span);
                Ok(Grant { claim, nodes, span })
            }
            Err(denial) => {
                let span = held;
                Err((Some(Grant { claim, nodes, span }), words(&registry, denial)))
            }
        };
        answer(&registry, granted)
    })
}

/// Ends a claim, whose holder has minted nothing at or after `until`. False when there is none.
pub fn release(claim: i64, until: Micros) -> bool {
    with_tables(|tables| {
        let update = tables.sql(
            "UPDATE $grants SET slice_until = greatest(slice_from, least(slice_until, $2)) WHERE claim = $1
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

/// Makes this database a registry, or changes its rules.
pub fn create(length: Micros, max_skew: Micros) {
    let here = here();
    with_tables(|tables| {
        let insert = tables.sql(
            "INSERT INTO $registry AS here (slice, longest_slice, max_skew, system_identifier, timeline)
             VALUES ($1, $1, $2, $3, $4)
             ON CONFLICT (one) DO UPDATE SET slice = excluded.slice, max_skew = excluded.max_skew,
                 longest_slice = greatest(here.longest_slice, excluded.slice)",
        );
        let [length, max_skew] = [length, max_skew].map(super::moment::interval);
        tables.update(
            &insert,
            &[
                length.into(),
                max_skew.into(),
                here.identity.system.cast_signed().into(),
                i64::from(here.identity.timeline).into(),
            ],
        );
    });
}

/// Begins a quarantine, or ends it.
pub fn quarantine(begin: bool) {
    with_tables(|tables| {
        let mut registry = tables.registry(true, None);
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
        let registry = tables.registry(true, None);
        let now = clock::now();
        let width = nodes.width as i32;
        match tables.grant(&registry, now, width, Some(nodes), &asker) {
            Ok(Grant { claim, .. }) => {
                let update = tables.sql(
                    "UPDATE $grants SET slice_until = 'infinity', system_identifier = NULL, address = NULL
                     WHERE claim = $1",
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
        let registry = tables.registry(true, None);
        let until = clock::now() + registry.longest + registry.max_skew;
        let update = tables.sql(
            "UPDATE $grants SET slice_until = $4
             WHERE node_bits = $1 AND first_node = $2 AND last_node = $3 AND slice_until = 'infinity' RETURNING 1",
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

fn with_tables<T>(work: impl FnOnce(&mut Tables<'_, '_>) -> T) -> T {
    // SAFETY: reads a number of the transaction's.
    let level = unsafe { pg_sys::XactIsoLevel };
    if level.unsigned_abs() >= pg_sys::XACT_REPEATABLE_READ {
        report(
            Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
            "the registry of nodes needs transactions of isolation level READ COMMITTED".to_owned(),
            Some("An older snapshot would not show what was granted meanwhile.".to_owned()),
            None,
        );
    }
    let schema = catalog::schema().unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_OBJECT,
            "extension \"pg_mint\" is not installed in this database".to_owned(),
            None,
            None,
        )
    });
    let schema = naming::quoted_exactly(&schema);
    Spi::connect_mut(|client| {
        // A grant that a crash could forget is none. What waits for standbys goes on to do so.
        let durable = "SELECT pg_catalog.set_config('synchronous_commit', 'on', true)
            WHERE pg_catalog.current_setting('synchronous_commit') IN ('off', 'local')";
        client.update(durable, None, &[]).or_report();
        work(&mut Tables { client, schema })
    })
}

/// Who this server is, and where its log ends.
fn here() -> Seen {
    // SAFETY: calls without preconditions outside of recovery, where nothing is granted.
    unsafe {
        Seen {
            identity: Identity {
                system: pg_sys::GetSystemIdentifier(),
                timeline: pg_sys::GetWALInsertionTimeLine(),
                incarnation: 0,
            },
            position: pg_sys::GetXLogInsertRecPtr(),
        }
    }
}

/// A denial in words.
fn words(registry: &Registry, denial: Denial) -> String {
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
        Denial::Held { until } => format!(
            "the clock of the registry is behind what it has granted, up to {}",
            moment_text(until)
        ),
    }
}

type Arguments<'a> = [pgrx::datum::DatumWithOid<'a>];

impl<'conn> Tables<'_, 'conn> {
    /// A statement with the names of the tables in it.
    fn sql(&self, text: &str) -> String {
        let table = |name: &str| format!("{}.{name}", self.schema);
        text.replace("$registry", &table("pg_mint_registry"))
            .replace("$grants", &table("pg_mint_grants"))
    }

    /// Runs a statement, which sees all that was committed before it.
    fn update(&mut self, statement: &str, arguments: &Arguments<'_>) -> SpiTupleTable<'conn> {
        self.client.update(statement, None, arguments).or_report()
    }

    /// The registry as it is, after it has looked back. Locked, if claims must wait for each other.
    fn registry(&mut self, lock: bool, seen: Option<Seen>) -> Registry {
        let select = self.sql(
            "SELECT (extract(epoch FROM slice) * 1000000)::bigint,
                (extract(epoch FROM longest_slice) * 1000000)::bigint,
                (extract(epoch FROM max_skew) * 1000000)::bigint,
                horizon, quarantine, system_identifier, timeline, incarnation
             FROM $registry",
        );
        let select = if lock {
            format!("{select} FOR UPDATE")
        } else {
            select
        };
        let rows = self.update(&select, &[]);
        if rows.is_empty() {
            report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "this database is not a registry of nodes".to_owned(),
                None,
                Some(
                    "A superuser makes it one with SELECT snowflake_create_registry().".to_owned(),
                ),
            );
        }
        let row = rows.first();
        let number = |place| row.get::<i64>(place).or_report().unwrap_or(0);
        let moment = |place| {
            let at = row.get::<Timestamp>(place).or_report();
            at.map_or(Micros::MIN, to_micros)
        };
        let mut registry = Registry {
            length: number(1),
            longest: number(2),
            max_skew: number(3),
            horizon: moment(4),
            quarantine: moment(5),
            identity: Identity {
                system: number(6).cast_unsigned(),
                timeline: number(7) as u32,
                incarnation: number(8) as u32,
            },
        };
        if registry.look_back(clock::now(), here(), seen) {
            if !lock {
                // Another may be noticing it as well.
                return self.registry(true, seen);
            }
            self.keep(&registry);
        }
        registry
    }

    /// Keeps what the registry has become. The caller has locked it.
    fn keep(&mut self, registry: &Registry) {
        let update = self.sql(
            "UPDATE $registry SET quarantine = $1, system_identifier = $2, timeline = $3, incarnation = $4",
        );
        let identity = registry.identity;
        self.update(
            &update,
            &[
                timestamp(registry.quarantine).into(),
                identity.system.cast_signed().into(),
                i64::from(identity.timeline).into(),
                i64::from(identity.incarnation).into(),
            ],
        );
    }

    /// Grants a claim. The caller has locked the registry.
    fn grant(
        &mut self,
        registry: &Registry,
        now: Micros,
        width: i32,
        wanted: Option<Nodes>,
        asker: &Asker,
    ) -> Result<Grant, String> {
        let denied = |denial| words(registry, denial);
        registry.admit(now, asker.clock).map_err(denied)?;
        let nodes = match wanted {
            Some(nodes) => nodes,
            None => self.lowest_free(width, now)?,
        };
        let mut registry = *registry;
        if let Some(end) = self.forget_past(&nodes, now) {
            registry.horizon = registry.horizon.max(end);
        }
        let (ends, holder) = self.others(&nodes);
        let span = registry.claim(now, ends).map_err(|denial| match holder {
            Some(holder) => format!("{} held by {holder}", nodes.describe()),
            None => denied(denial),
        })?;
        let claim = self.insert(&nodes, span, asker);
        Ok(Grant { claim, nodes, span })
    }

    /// The lowest node of a width that nobody holds: the first one, or one behind a claim.
    fn lowest_free(&mut self, width: i32, now: Micros) -> Result<Nodes, String> {
        let all = Nodes::of_width(width);
        let last = *all.range.end();
        let select = self.sql(
            "WITH held AS (
                SELECT first_node, last_node FROM $grants WHERE node_bits = $1 AND slice_until > $3
             )
             SELECT node FROM (SELECT 0::bigint AS node UNION ALL SELECT last_node + 1 FROM held) candidate
             WHERE node <= $2 AND NOT EXISTS (
                 SELECT FROM held WHERE node BETWEEN first_node AND last_node
             )
             ORDER BY node LIMIT 1",
        );
        let rows = self.update(&select, &[width.into(), last.into(), timestamp(now).into()]);
        if rows.is_empty() {
            return Err(format!("all {} nodes of {width} bits are in use", last + 1));
        }
        let node = rows.first().get::<i64>(1).or_report().unwrap_or(0);
        Ok(Nodes {
            range: node..=node,
            ..all
        })
    }

    /// Deletes the claims on any of these nodes that are past, and keeps when the last of them ended.
    fn forget_past(&mut self, nodes: &Nodes, now: Micros) -> Option<Micros> {
        let delete = self.sql(
            "DELETE FROM $grants
             WHERE node_bits = $1 AND first_node <= $3 AND last_node >= $2 AND slice_until <= $4
             RETURNING slice_until",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let width = (nodes.width as i32).into();
        let rows = self.update(&delete, &[width, first, last, timestamp(now).into()]);
        let ends = rows.filter_map(|row| row.get::<Timestamp>(1).or_report().map(to_micros));
        let end = ends.max()?;
        let raise = self.sql("UPDATE $registry SET horizon = greatest(horizon, $1)");
        self.update(&raise, &[timestamp(end).into()]);
        Some(end)
    }

    /// When the claims on any of these nodes end, and who has the one that ends last.
    fn others(&mut self, nodes: &Nodes) -> (Vec<Micros>, Option<String>) {
        let select = self.sql(
            "SELECT slice_until, pg_catalog.format('%s until %s', holder,
                pg_catalog.to_char(slice_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS UTC'))
             FROM $grants
             WHERE node_bits = $1 AND first_node <= $3 AND last_node >= $2 ORDER BY slice_until DESC",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let rows = self.update(&select, &[(nodes.width as i32).into(), first, last]);
        let mut holder = None;
        let ends = rows
            .filter_map(|row| {
                holder = holder.take().or_else(|| row.get::<String>(2).or_report());
                row.get::<Timestamp>(1).or_report().map(to_micros)
            })
            .collect();
        (ends, holder)
    }

    fn insert(&mut self, nodes: &Nodes, span: Span, asker: &Asker) -> i64 {
        // Not counted on: a registry that has forgotten claims must not give their numbers again.
        let claim = (random::bits() >> 1).max(1).cast_signed();
        let insert = self.sql(
            "INSERT INTO $grants (claim, node_bits, first_node, last_node, holder, system_identifier, address,
                 since, slice_from, slice_until)
             VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.inet_client_addr(), $7, $7, $8)",
        );
        self.update(
            &insert,
            &[
                claim.into(),
                (nodes.width as i32).into(),
                (*nodes.range.start()).into(),
                (*nodes.range.end()).into(),
                asker.holder.as_str().into(),
                asker.system.into(),
                timestamp(span.from).into(),
                timestamp(span.until).into(),
            ],
        );
        claim
    }

    /// The slice of a claim, locked.
    fn held(&mut self, claim: i64, nodes: &Nodes) -> Option<Span> {
        let select = self.sql(
            "SELECT slice_from, slice_until FROM $grants
             WHERE claim = $1 AND node_bits = $2 AND first_node = $3 AND last_node = $4 FOR UPDATE",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let rows = self.update(
            &select,
            &[claim.into(), (nodes.width as i32).into(), first, last],
        );
        if rows.is_empty() {
            return None;
        }
        let row = rows.first();
        let moment = |place| row.get::<Timestamp>(place).or_report().map(to_micros);
        Some(Span {
            from: moment(1)?,
            until: moment(2)?,
        })
    }

    fn prolong(&mut self, claim: i64, span: Span) {
        let update = self
            .sql("UPDATE $grants SET slice_until = $2, renewals = renewals + 1 WHERE claim = $1");
        self.update(&update, &[claim.into(), timestamp(span.until).into()]);
    }
}
