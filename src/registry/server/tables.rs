//! The registry's tables: the grants of nodes, and the registry's state.

use crate::pg::backend::statement;
use crate::pg::catalog::{extension, privilege, tables};
use crate::pg::charset;
use crate::pg::datum::text::Words;
use crate::pg::datum::timestamp::{timestamp, to_micros};
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use crate::registry::server::request::{Asker, Grant, Nodes, here};
use mint_core::{Identity, Micros, Registry, Span};
use pgrx::datum::TimestampWithTimeZone as Timestamp;
use pgrx::spi::{SpiClient, SpiTupleTable};
use pgrx::{PgSqlErrorCode as Code, Spi, pg_sys};

/// The registry's tables, open in a transaction.
pub struct Tables<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
    schema: String,
}

/// Opens the tables.
pub fn with_tables<T>(work: impl FnOnce(&mut Tables<'_, '_>) -> T) -> T {
    if !statement::sees_commits() {
        report(
            Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
            "the registry of nodes needs transactions of isolation level READ COMMITTED",
        )
        .detail("An older snapshot would not show what was granted meanwhile.")
        .raise();
    }
    let schema = tables::schema().unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_OBJECT,
            "extension \"pg_mint\" is not installed in this database",
        )
        .raise()
    });
    // Nothing that the owner of the database has made may run as the superuser that keeps the registry.
    let in_tables = |client: &mut SpiClient<'_>| {
        // A grant that a crash could forget is none. What waits for standbys goes on to do so.
        let durable = "SELECT pg_catalog.set_config('synchronous_commit'::pg_catalog.text, 'on'::pg_catalog.text, true)
            WHERE pg_catalog.current_setting('synchronous_commit'::pg_catalog.text)
                OPERATOR(pg_catalog.=) ANY ('{off,local}'::pg_catalog.text[])";
        client.update(durable, None, &[]).or_report();
        work(&mut Tables { client, schema })
    };
    privilege::guarded(|| tables::bound_to_tables(|| Spi::connect_mut(in_tables)))
}

type Arguments<'a> = [pgrx::datum::DatumWithOid<'a>];

impl<'conn> Tables<'_, 'conn> {
    /// A statement with the names of the tables in it, and the condition that a claim has any of the nodes `$2` to `$3`
    /// of `$1` bits, as the index knows it.
    pub fn sql(&self, text: &str) -> String {
        let range = |width, first, last| {
            // As in sql/registry/tables.sql: else the index does not serve.
            let place = |node| {
                format!(
                    "{width}::pg_catalog.numeric OPERATOR(pg_catalog.*) 18446744073709551616::pg_catalog.numeric
                        OPERATOR(pg_catalog.+) {node}::pg_catalog.numeric"
                )
            };
            let (first, last) = (place(first), place(last));
            format!("pg_catalog.numrange({first}, {last}, '[]'::pg_catalog.text)")
        };
        let oid = |oid: u32| format!("{oid}::pg_catalog.oid");
        let registry = extension::find(c"pg_mint_registry").map_or(0, pg_sys::Oid::to_u32);
        let claimed = range("node_bits", "first_node", "last_node");
        let overlaps = format!(
            "{claimed} OPERATOR(pg_catalog.&&) {}",
            range("$1", "$2", "$3")
        );
        tables::with_tables_of(&self.schema, text)
            .replace("$database", &oid(extension::database()))
            .replace("$relation", &oid(registry))
            .replace("$overlaps", &overlaps)
    }

    /// Runs a statement, which sees all that was committed before it.
    pub fn update(&mut self, statement: &str, arguments: &Arguments<'_>) -> SpiTupleTable<'conn> {
        let statement = charset::carried(statement.to_owned());
        self.client.update(&statement, None, arguments).or_report()
    }

    /// The registry as it is, and its clock when it looked back. Locked, if claims must wait for each other.
    pub fn load_and_check_state(
        &mut self,
        lock: bool,
        asker: Option<&Asker>,
    ) -> (Registry, Micros) {
        let select = self.sql(
            "SELECT (pg_catalog.extract('epoch'::pg_catalog.text, slice) OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8,
                (pg_catalog.extract('epoch'::pg_catalog.text, longest_slice) OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8,
                (pg_catalog.extract('epoch'::pg_catalog.text, max_skew) OPERATOR(pg_catalog.*) 1000000::pg_catalog.numeric)::pg_catalog.int8,
                horizon, quarantine,
                CASE WHEN relation OPERATOR(pg_catalog.=) tableoid AND database OPERATOR(pg_catalog.=) $database
                     THEN system_identifier END,
                timeline, started, incarnation
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
                "this database is not a registry of nodes",
            )
            .hint("A superuser makes it one with SELECT snowflake_create_registry().")
            .raise();
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
                start: number(8),
                incarnation: number(9) as u32,
            },
        };
        let now = clock::now();
        let agrees = asker.is_none_or(|asker| registry.compare(now, asker.clock).is_ok());
        let seen = asker.and_then(|asker| asker.seen);
        if agrees && registry.detect_state_loss(now, here(), seen) {
            if !lock {
                // Another may be noticing it as well.
                return self.load_and_check_state(true, asker);
            }
            self.keep(&registry);
        }
        (registry, now)
    }

    /// Keeps what the registry has become. The caller has locked it.
    pub fn keep(&mut self, registry: &Registry) {
        let update = self.sql(
            "UPDATE $registry
             SET quarantine = $1, system_identifier = $2, timeline = $3, started = $4, incarnation = $5,
                 relation = tableoid, database = $database",
        );
        let identity = registry.identity;
        self.update(
            &update,
            &[
                timestamp(registry.quarantine).into(),
                identity.system.cast_signed().into(),
                i64::from(identity.timeline).into(),
                identity.start.into(),
                i64::from(identity.incarnation).into(),
            ],
        );
    }

    /// Deletes the claims on any of these nodes that are past, and keeps when the last of them ended.
    pub fn forget_past(&mut self, nodes: &Nodes, now: Micros) -> Option<Micros> {
        let delete = self.sql(
            "DELETE FROM $grants
             WHERE $overlaps AND slice_until OPERATOR(pg_catalog.<=) $4::pg_catalog.timestamptz
             RETURNING slice_until",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let width = (nodes.width as i32).into();
        let rows = self.update(&delete, &[width, first, last, timestamp(now).into()]);
        let ends = rows.filter_map(|row| row.get::<Timestamp>(1).or_report().map(to_micros));
        let end = ends.max()?;
        let raise = self.sql(
            "UPDATE $registry SET horizon = $1::pg_catalog.timestamptz
             WHERE horizon OPERATOR(pg_catalog.<) $1::pg_catalog.timestamptz",
        );
        self.update(&raise, &[timestamp(end).into()]);
        Some(end)
    }

    /// When the other claims on any of these nodes end, and the holder of the one that ends last.
    pub fn others(&mut self, nodes: &Nodes, claim: i64) -> (Vec<Micros>, Option<String>) {
        let select = self.sql(
            "SELECT slice_until, holder OPERATOR(pg_catalog.||) CASE WHEN pg_catalog.isfinite(slice_until)
                 THEN pg_catalog.to_char(pg_catalog.timezone('UTC'::pg_catalog.text, slice_until),
                     '\" until \"YYYY-MM-DD HH24:MI:SS.MS UTC'::pg_catalog.text)
                 ELSE ''::pg_catalog.text END
             FROM $grants
             WHERE $overlaps AND claim OPERATOR(pg_catalog.<>) $4::pg_catalog.int8
             ORDER BY slice_until DESC",
        );
        let [first, last] = [nodes.range.start(), nodes.range.end()].map(|&node| node.into());
        let width = (nodes.width as i32).into();
        let rows = self.update(&select, &[width, first, last, claim.into()]);
        let mut holder = None;
        let ends = rows
            .filter_map(|row| {
                holder = holder
                    .take()
                    .or_else(|| row.get::<Words>(2).or_report().map(|name| name.0));
                row.get::<Timestamp>(1).or_report().map(to_micros)
            })
            .collect();
        (ends, holder)
    }

    pub fn insert(&mut self, grant: &Grant, asker: &Asker) {
        let insert = self.sql(
            "INSERT INTO $grants (claim, node_bits, first_node, last_node, holder, system_identifier, address,
                 since, slice_from, slice_until)
             VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.inet_client_addr(), $7, $7, $8)",
        );
        let Grant { claim, nodes, span } = grant;
        self.update(
            &insert,
            &[
                (*claim).into(),
                (nodes.width as i32).into(),
                (*nodes.range.start()).into(),
                (*nodes.range.end()).into(),
                Words(asker.holder.clone()).into(),
                asker.system.into(),
                timestamp(span.from).into(),
                timestamp(span.until).into(),
            ],
        );
    }

    /// The slice of a claim, locked.
    pub fn held(&mut self, claim: i64, nodes: &Nodes) -> Option<Span> {
        let select = self.sql(
            "SELECT slice_from, slice_until FROM $grants
             WHERE claim OPERATOR(pg_catalog.=) $1::pg_catalog.int8
                 AND node_bits OPERATOR(pg_catalog.=) $2::pg_catalog.int4
                 AND first_node OPERATOR(pg_catalog.=) $3::pg_catalog.int8
                 AND last_node OPERATOR(pg_catalog.=) $4::pg_catalog.int8
             FOR UPDATE",
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

    pub fn prolong(&mut self, grant: &Grant) {
        let update = self.sql(
            "UPDATE $grants
             SET slice_from = $2, slice_until = $3, renewals = renewals OPERATOR(pg_catalog.+) 1::pg_catalog.int8
             WHERE claim OPERATOR(pg_catalog.=) $1::pg_catalog.int8",
        );
        let Grant { claim, span, .. } = grant;
        let [from, until] = [span.from, span.until].map(timestamp);
        self.update(&update, &[(*claim).into(), from.into(), until.into()]);
    }
}
