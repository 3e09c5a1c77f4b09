//! The registry's tables: the leases it has granted, and its state.

use crate::pg::backend::statement;
use crate::pg::catalog::extension;
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp, to_micros};
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use crate::registry::identity;
use crate::registry::server::place;
use crate::registry::server::place::{Caller, Place};
use crate::registry::server::request::{GrantedLease, Holder, Member, Nodes, read_log_state};
use mint_core::{LeaseTerm, Micros, Registry};
use pgrx::datum::{DatumWithOid, Interval, TimestampWithTimeZone};
use pgrx::spi::{SpiClient, SpiTupleTable};
use pgrx::{PgSqlErrorCode as Code, Spi, pg_sys};

/// The registry's tables, open in a transaction.
pub struct Tables<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
    /// The table of the registry's state.
    registry: pg_sys::Oid,
}

/// Runs `work` with the tables of this database's registry open, if the user may.
pub fn with_tables<T>(caller: Caller, work: impl FnOnce(&mut Tables<'_, '_>) -> T) -> T {
    with_tables_in(&place::expect(), caller, work)
}

/// As [`with_tables`], with the tables of this registry.
pub fn with_tables_in<T>(
    place: &Place,
    caller: Caller,
    work: impl FnOnce(&mut Tables<'_, '_>) -> T,
) -> T {
    place.demand(caller);
    if !statement::sees_commits() {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            "registry of nodes requires isolation level READ COMMITTED",
        )
        .detail("An older snapshot would not show leases that were granted in the meantime.")
        .hint("Use SET TRANSACTION ISOLATION LEVEL READ COMMITTED.")
        .raise();
    }
    let registry = place.registry();
    let in_tables = |client: &mut SpiClient<'_>| {
        // A lease must not be forgotten by a crash. Settings that also wait for standbys stay as they are.
        let durable = "SELECT pg_catalog.set_config('synchronous_commit'::pg_catalog.text, 'on'::pg_catalog.text, true)
            WHERE pg_catalog.current_setting('synchronous_commit'::pg_catalog.text)
                OPERATOR(pg_catalog.=) ANY ('{off,local}'::pg_catalog.text[])";
        client.update(durable, None, &[]).or_report();
        work(&mut Tables { client, registry })
    };
    place.as_owner(|| Spi::connect_mut(in_tables))
}

/// The arguments of a statement about nodes: `$1` is their width, `$2` the first and `$3` the last of them.
pub fn arguments<'a, const N: usize>(
    nodes: &Nodes,
    further: [DatumWithOid<'a>; N],
) -> Vec<DatumWithOid<'a>> {
    let (first, last) = (*nodes.range.start(), *nodes.range.end());
    let nodes = [nodes.width.cast_signed().into(), first.into(), last.into()];
    nodes.into_iter().chain(further).collect()
}

/// Returns a lease's times from a row that has them in its first two columns.
fn span_of(row: &SpiTupleTable<'_>) -> Option<LeaseTerm> {
    let time = |column| row.get(column).or_report().map(to_micros);
    Some(LeaseTerm {
        from: time(1)?,
        until: time(2)?,
    })
}

/// Returns the registry's state from its row.
fn registry_of(row: &SpiTupleTable<'_>) -> Registry {
    let interval = |column| {
        let interval = row.get::<Interval>(column).or_report();
        interval.map_or(0, |interval| interval.as_micros() as Micros)
    };
    let time = |column| {
        let time = row.get::<TimestampWithTimeZone>(column).or_report();
        time.map_or(Micros::MIN, to_micros)
    };
    let number = |column| row.get(column).or_report().unwrap_or(0);
    Registry {
        length: interval(1),
        longest: interval(2),
        max_skew: interval(3),
        horizon: time(4),
        quarantine: time(5),
        identity: identity::from_numbers([6, 7, 8, 9].map(number)),
    }
}

impl<'conn> Tables<'_, 'conn> {
    /// Fills oids into a statement; and for `$overlaps` the condition that a lease has any of the nodes of [`arguments`],
    /// in the form that the index serves.
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
        let overlaps = format!(
            "{} OPERATOR(pg_catalog.&&) {}",
            range("node_bits", "first_node", "last_node"),
            range("$1", "$2", "$3")
        );
        text.replace("$database", &oid(extension::database()))
            .replace("$relation", &oid(self.registry.to_u32()))
            .replace("$overlaps", &overlaps)
    }

    /// Runs a statement, which sees all that was committed before it.
    pub fn update(&mut self, text: &str, arguments: &[DatumWithOid<'_>]) -> SpiTupleTable<'conn> {
        let statement = charset::encode_for_pgrx(self.sql(text));
        self.client.update(&statement, None, arguments).or_report()
    }

    /// Returns the registry's state, and the time by its clock at which it was checked for a loss of state. Locks the
    /// state, if requests must wait for each other.
    pub fn load_and_check_state(
        &mut self,
        lock: bool,
        member: Option<&Member>,
    ) -> (Registry, Micros) {
        let mut registry = self.load_state(lock);
        let now = clock::now();
        let agrees = member.is_none_or(|member| registry.check_clock(now, member.clock).is_ok());
        let seen = member.and_then(|member| member.seen);
        if agrees && registry.detect_state_loss(now, read_log_state(), seen) {
            if !lock {
                // Another request may detect it as well.
                return self.load_and_check_state(true, member);
            }
            self.save_state(&registry);
        }
        (registry, now)
    }

    /// Returns the registry's state, and locks it if requests must wait for each other.
    pub fn load_state(&mut self, lock: bool) -> Registry {
        let select = "SELECT lease, longest_lease, max_skew, horizon, quarantine,
                CASE WHEN relation OPERATOR(pg_catalog.=) tableoid AND database OPERATOR(pg_catalog.=) $database
                     THEN system_identifier END,
                timeline, started, incarnation
             FROM mint_registry.registry";
        let lock = if lock { " FOR UPDATE" } else { "" };
        let rows = self.update(&format!("{select}{lock}"), &[]);
        if rows.is_empty() {
            place::missing();
        }
        registry_of(&rows.first())
    }

    /// Writes the registry's state. The caller has locked it.
    pub fn save_state(&mut self, registry: &Registry) {
        let update = "UPDATE mint_registry.registry
             SET quarantine = $1, system_identifier = $2, timeline = $3, started = $4, incarnation = $5,
                 relation = tableoid, database = $database";
        let [system, timeline, start, incarnation] =
            identity::to_numbers(registry.identity).map(DatumWithOid::from);
        let quarantine = timestamp(registry.quarantine).into();
        self.update(update, &[quarantine, system, timeline, start, incarnation]);
    }

    /// Deletes the leases of any of these nodes that have ended, and records when the last of them did.
    pub fn delete_ended(&mut self, nodes: &Nodes, now: Micros) -> Option<Micros> {
        let delete = "DELETE FROM mint_registry.leases
             WHERE $overlaps AND lease_until OPERATOR(pg_catalog.<=) $4::pg_catalog.timestamptz
             RETURNING lease_until";
        let rows = self.update(delete, &arguments(nodes, [timestamp(now).into()]));
        let ends = rows.filter_map(|row| row.get(1).or_report().map(to_micros));
        let end = ends.max()?;
        let raise = "UPDATE mint_registry.registry SET horizon = $1::pg_catalog.timestamptz
             WHERE horizon OPERATOR(pg_catalog.<) $1::pg_catalog.timestamptz";
        self.update(raise, &[timestamp(end).into()]);
        Some(end)
    }

    /// Returns when the other leases of any of these nodes end, and the holder of the one that ends last.
    pub fn other_leases(&mut self, nodes: &Nodes, id: i64) -> (Vec<Micros>, Option<Holder>) {
        let select =
            "SELECT lease_until, holder, pg_catalog.isfinite(lease_until) FROM mint_registry.leases
             WHERE $overlaps AND id OPERATOR(pg_catalog.<>) $4::pg_catalog.int8
             ORDER BY lease_until DESC";
        let rows = self.update(select, &arguments(nodes, [id.into()]));
        let mut holder = None;
        let ends = rows.filter_map(|row| {
            let until = row.get(1).or_report().map(to_micros)?;
            let DecodedText(name) = row.get(2).or_report()?;
            let is_finite = row.get::<bool>(3).or_report()?;
            holder.get_or_insert(Holder {
                name,
                until: is_finite.then_some(until),
            });
            Some(until)
        });
        (ends.collect(), holder)
    }

    /// Inserts a lease that is granted to a member.
    pub fn insert(&mut self, lease: &GrantedLease, member: &Member) {
        let insert = "INSERT INTO mint_registry.leases (node_bits, first_node, last_node, id, holder, system_identifier, address,
                 since, lease_from, lease_until)
             VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.inet_client_addr(), $7, $7, $8)";
        let further = [
            lease.id.into(),
            DecodedText(member.name.clone()).into(),
            member.system.into(),
            timestamp(lease.span.from).into(),
            timestamp(lease.span.until).into(),
        ];
        self.update(insert, &arguments(&lease.nodes, further));
    }

    /// Returns the times of a lease, and locks it.
    pub fn find_and_lock(&mut self, id: i64, nodes: &Nodes) -> Option<LeaseTerm> {
        let select = "SELECT lease_from, lease_until FROM mint_registry.leases
             WHERE node_bits OPERATOR(pg_catalog.=) $1::pg_catalog.int4
                 AND first_node OPERATOR(pg_catalog.=) $2::pg_catalog.int8
                 AND last_node OPERATOR(pg_catalog.=) $3::pg_catalog.int8
                 AND id OPERATOR(pg_catalog.=) $4::pg_catalog.int8
             FOR UPDATE";
        let rows = self.update(select, &arguments(nodes, [id.into()]));
        if rows.is_empty() {
            return None;
        }
        span_of(&rows.first())
    }

    /// Writes the times of a lease that is renewed.
    pub fn extend(&mut self, lease: &GrantedLease) {
        let update = "UPDATE mint_registry.leases
             SET lease_from = $2, lease_until = $3, renewals = renewals OPERATOR(pg_catalog.+) 1::pg_catalog.int8
             WHERE id OPERATOR(pg_catalog.=) $1::pg_catalog.int8";
        let [from, until] = [lease.span.from, lease.span.until].map(timestamp);
        self.update(update, &[lease.id.into(), from.into(), until.into()]);
    }
}
