//! The registry's tables: the leases it has granted, and its state.
//!
//! They are ordinary tables, which a restore or a DELETE by hand can change behind the registry's back. So each row
//! says which transaction of the registry wrote it, and the state has a digest of the numbers of all leases.

use crate::pg::backend::{guc, recovery, transaction};
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{extension, spi};
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp_saturating, to_micros};
use crate::pg::error;
use crate::pg::error::{OrReport, impossible, report};
use crate::pg::machine::{clock, random};
use crate::registry::identity;
use crate::registry::server::answer::{GrantedLease, Limits, Requester, read_log_state};
use crate::registry::server::nodes::{Holder, NodeRange};
use crate::registry::server::place;
use crate::registry::server::place::{Caller, RegistryTables};
use mint_core::{LeaseEnd, LeaseTerm, Micros, Registry, StateLoss};
use pgrx::datum::{DatumWithOid, Interval, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder};
use std::panic::AssertUnwindSafe;

/// The registry's tables, open in a transaction.
pub struct OpenTables<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
}

/// The registry's state, as its row has it.
pub struct RegistryState {
    pub registry: Registry,
    pub limits: Limits,
    /// The numbers of all leases, XORed, as the registry has left them.
    digest: i64,
    /// Whether the registry itself wrote the row.
    is_intact: bool,
}

/// Query for the registry's state, which [`state_of`] reads.
const STATE: &str = "SELECT lease, max_skew, horizon, quarantine,
        CASE WHEN database = $database THEN system_identifier ELSE 0 END,
        timeline, started, incarnation, leases_per_login, nodes_per_login, digest,
        xmin = written, restart_until
     FROM mint_registry.registry";

/// Query for the numbers of all leases, XORed, and whether the registry itself wrote all of them.
const DIGEST: &str = "SELECT coalesce(bit_xor(id), 0), coalesce(bool_and(xmin = written), true)
     FROM mint_registry.leases";

/// Fills the oid of this database into a statement.
fn in_database(text: &str) -> String {
    text.replace("$database", &format!("{}::oid", extension::database()))
}

/// Returns the registry as the next request for a new lease would make it, for monitoring: it is only read. None without its
/// row: then the next request says so. On a standby, as it is.
pub fn foresee(client: &SpiClient<'_>) -> Option<Registry> {
    let select = |query: &str| {
        let rows = client.select(&*in_database(query), None, &[]);
        rows.or_report()
    };
    let mut state = spi::read(select(STATE), state_of).pop()?;
    if !recovery::is_in_progress() {
        let digest = spi::read(select(DIGEST), |row| (row.need(1), row.need(2))).pop();
        let is_intact = state.is_intact && digest == Some((state.digest, true));
        let (now, here) = (clock::now(), read_log_state());
        let registry = &mut state.registry;
        registry.resume(now, here, is_intact);
        registry.detect_state_loss(now, here, is_intact, None, 0);
    }
    Some(state.registry)
}

/// Runs `work` with the tables of this database's registry open, if the user may.
pub fn with_tables<T>(caller: Caller, work: impl FnOnce(&mut OpenTables<'_, '_>) -> T) -> T {
    with_tables_in(&place::expect(), caller, work)
}

/// Does the same as [`with_tables`], with the tables of this registry.
pub fn with_tables_in<T>(
    place: &RegistryTables,
    caller: Caller,
    work: impl FnOnce(&mut OpenTables<'_, '_>) -> T,
) -> T {
    place.demand(caller);
    if !transaction::sees_commits() {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            "registry of nodes requires isolation level READ COMMITTED",
        )
        .detail("An older snapshot would not show leases that were granted in the meantime.")
        .hint("Use SET TRANSACTION ISOLATION LEVEL READ COMMITTED.")
        .raise();
    }
    // A lease must not be forgotten by a crash. Settings that also wait for standbys stay as they are.
    if transaction::commits_without_flush() {
        guc::set_local(c"synchronous_commit", c"on");
    }
    if let Caller::Member = caller {
        // Members ask again, so a request does not queue behind a lock for long.
        guc::set_local(c"lock_timeout", c"1s");
    }
    let in_tables = |client: &mut SpiClient<'_>| work(&mut OpenTables { client });
    refusing_busy(|| place.as_owner(in_tables))
}

/// Runs `work`, which locks tables that members can lock as well, and does not queue behind a lock for long.
pub fn without_queue<T>(work: impl FnOnce() -> T) -> T {
    refusing_busy(|| guc::with(&[(c"lock_timeout", c"1s")], work))
}

fn refusing_busy<T>(work: impl FnOnce() -> T) -> T {
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_when(Code::ERRCODE_LOCK_NOT_AVAILABLE, |_| refuse_busy())
        .execute()
}

#[cold]
fn refuse_busy() -> ! {
    report(
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        "registry of nodes is busy",
    )
    .detail("Another transaction has locked its tables, or rows of them.")
    .hint("End the transactions of other sessions that use the schema \"mint_registry\".")
    .raise()
}

/// Returns the arguments of a statement about nodes: `$1` is their width, `$2` the first and `$3` the last of them.
pub fn arguments<'a, const N: usize>(
    nodes: &NodeRange,
    further: [DatumWithOid<'a>; N],
) -> Vec<DatumWithOid<'a>> {
    let (first, last) = (*nodes.range.start(), *nodes.range.end());
    let nodes = [nodes.width.cast_signed().into(), first.into(), last.into()];
    nodes.into_iter().chain(further).collect()
}

/// Returns a time as the argument of a statement.
pub fn at(time: Micros) -> DatumWithOid<'static> {
    timestamp_saturating(time).into()
}

/// Returns a text as the argument of a statement.
pub fn text(text: &str) -> DatumWithOid<'static> {
    DecodedText(text.to_owned()).into()
}

/// Returns the time in a column, in microseconds since 1970.
pub fn time(row: &Row<'_>, column: usize) -> Micros {
    to_micros(row.need::<TimestampWithTimeZone>(column))
}

/// Returns a lease's times from a row that has them in its first two columns.
pub fn term_of(row: &Row<'_>) -> LeaseTerm {
    LeaseTerm {
        from: time(row, 1),
        until: time(row, 2),
    }
}

/// Returns the registry's state from its row.
fn state_of(row: &Row<'_>) -> RegistryState {
    let interval = |column| row.need::<Interval>(column).as_micros() as Micros;
    RegistryState {
        registry: Registry {
            length: interval(1),
            max_skew: interval(2),
            horizon: time(row, 3),
            quarantine: time(row, 4),
            restart_until: time(row, 13),
            identity: identity::from_numbers([5, 6, 7, 8].map(|column| row.need(column))),
        },
        limits: Limits {
            leases: row.need(9),
            nodes: row.need(10),
        },
        digest: row.need(11),
        is_intact: row.need(12),
    }
}

/// Returns whose nodes a row of leases has, of these nodes.
fn holder_of(row: &Row<'_>, wanted: &NodeRange) -> Holder {
    let (first, last): (i64, i64) = (row.need(1), row.need(2));
    Holder {
        name: row.need::<DecodedText>(3).0,
        nodes: NodeRange {
            range: first.max(*wanted.range.start())..=last.min(*wanted.range.end()),
            ..wanted.clone()
        },
        end: LeaseEnd {
            until: time(row, 4),
            free_from: time(row, 5),
        },
        is_reserved: row.need(6),
        is_assigned: row.need(7),
    }
}

impl OpenTables<'_, '_> {
    /// Fills oids into a statement; for `$transaction` what rows written now have in xmin; and for `$overlaps` the condition
    /// that a lease has any of the nodes of [`arguments`], in the form that the index serves.
    pub fn sql(&self, text: &str) -> String {
        let range = |width, first, last| {
            // As in sql/registry/tables.sql: else the index does not serve.
            let place = |node| {
                format!(
                    "{width}::numeric * 18446744073709551616::numeric
                        + {node}::numeric"
                )
            };
            let (first, last) = (place(first), place(last));
            format!("numrange({first}, {last}, '[]')")
        };
        let overlaps = format!(
            "{} && {}",
            range("node_bits", "first_node", "last_node"),
            range("$1", "$2", "$3")
        );
        let text = in_database(text).replace("$overlaps", &overlaps);
        if !text.contains("$transaction") {
            return text;
        }
        let transaction = format!("'{}'::xid", transaction::id());
        text.replace("$transaction", &transaction)
    }

    /// Runs a statement, which sees all that was committed before it. Returns whether it has returned any row.
    pub fn update(&mut self, text: &str, arguments: &[DatumWithOid<'_>]) -> bool {
        !self.rows(text, arguments, |_| ()).is_empty()
    }

    /// Runs a statement as [`OpenTables::update`]; returns what `read` makes of the rows.
    pub fn rows<T>(
        &mut self,
        text: &str,
        arguments: &[DatumWithOid<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Vec<T> {
        let rows = spi::update(self.client, &self.sql(text), arguments);
        spi::read(rows, read)
    }

    /// Runs [`OpenTables::rows`] with a query that always returns one row.
    pub fn one<T>(
        &mut self,
        text: &str,
        arguments: &[DatumWithOid<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> T {
        let row = self.rows(text, arguments, read).pop();
        row.unwrap_or_else(|| impossible("query without a row"))
    }

    /// Returns the registry's state, and the time by its clock at which it was checked for a loss of state. Locks the
    /// state, if requests must wait for each other.
    pub fn load_and_check_state(
        &mut self,
        lock: bool,
        member: Option<&Requester>,
    ) -> (RegistryState, Micros) {
        let mut state = self.load_state(lock);
        // Leases are inserted and deleted under the lock.
        let is_intact = state.is_intact && (!lock || self.digest() == (state.digest, true));
        let now = clock::now();
        let registry = &mut state.registry;
        let agrees = member.is_none_or(|member| registry.check_clock(now, member.clock).is_ok());
        let seen = member.and_then(|member| member.seen);
        if !agrees {
            return (state, now);
        }
        let (here, random) = (read_log_state(), random::bits() as u32);
        let is_resumed = registry.resume(now, here, is_intact);
        let loss = registry.detect_state_loss(now, here, is_intact, seen, random);
        if is_resumed || loss.is_some() {
            if !lock {
                // Another request can detect it as well.
                return self.load_and_check_state(true, member);
            }
            self.adopt();
            self.save_state(&state.registry);
            log_change(loss, member);
        }
        (state, now)
    }

    /// Returns the registry's state, and locks it if requests must wait for each other.
    pub fn load_state(&mut self, lock: bool) -> RegistryState {
        let lock = if lock { " FOR UPDATE" } else { "" };
        let state = self.rows(&format!("{STATE}{lock}"), &[], state_of).pop();
        state.unwrap_or_else(|| place::missing())
    }

    /// Returns the numbers of all leases, XORed, and whether the registry itself wrote all of them.
    fn digest(&mut self) -> (i64, bool) {
        self.one(DIGEST, &[], |row| (row.need(1), row.need(2)))
    }

    /// Accepts the leases that somebody else has written.
    fn adopt(&mut self) {
        let update = "UPDATE mint_registry.leases SET written = $transaction
             WHERE xmin <> written";
        self.update(update, &[]);
    }

    /// Writes the registry's state. The caller has locked it.
    pub fn save_state(&mut self, registry: &Registry) {
        let update = "UPDATE mint_registry.registry
             SET quarantine = $1, system_identifier = $2, timeline = $3, started = $4, incarnation = $5,
                 database = $database, written = $transaction, digest = $6, restart_until = $7";
        let identity = identity::to_numbers(registry.identity).map(DatumWithOid::from);
        let further = [self.digest().0.into(), at(registry.restart_until)];
        let values = [at(registry.quarantine)]
            .into_iter()
            .chain(identity)
            .chain(further);
        self.update(update, &values.collect::<Vec<_>>());
    }

    /// Writes that the numbers of leases, XORed, have changed by so much, and that the last one of those that were
    /// deleted ended then. The caller has locked the state.
    pub fn save_changes(&mut self, numbers: i64, end: Micros) {
        let update = "UPDATE mint_registry.registry
             SET digest = digest # $1, horizon = greatest(horizon, $2), written = $transaction";
        self.update(update, &[numbers.into(), at(end)]);
    }

    /// Returns the other leases and reservations of any of these nodes whose nodes are not free.
    pub fn holders(&mut self, nodes: &NodeRange, id: i64, now: Micros) -> Vec<Holder> {
        // An assigned node is never free, however long its server was away.
        let select = "SELECT first_node, last_node, holder,
                 CASE WHEN assigned THEN 'infinity'::timestamptz ELSE lease_until END,
                 free_from, NOT isfinite(free_from), assigned
             FROM mint_registry.leases
             WHERE $overlaps AND (assigned OR id <> $4)
                 AND free_from > $5
             ORDER BY first_node";
        let values = arguments(nodes, [id.into(), at(now)]);
        self.rows(select, &values, |row| holder_of(row, nodes))
    }

    /// Writes a new lease, in place of those of its nodes that have ended. The caller has locked the state.
    pub fn replace(&mut self, lease: &GrantedLease, member: &Requester, now: Micros) {
        let delete = "DELETE FROM mint_registry.leases
             WHERE $overlaps AND lease_until <= $4 AND NOT assigned
             RETURNING id, lease_until";
        let values = arguments(&lease.nodes, [at(now)]);
        let (mut numbers, mut end) = (lease.id, Micros::MIN);
        self.rows(delete, &values, |row| {
            numbers ^= row.need::<i64>(1);
            end = end.max(time(row, 2));
        });
        self.insert(lease, member);
        self.save_changes(numbers, end);
    }

    /// Inserts a lease that is granted to a member, or a reservation.
    fn insert(&mut self, lease: &GrantedLease, member: &Requester) {
        let insert = "INSERT INTO mint_registry.leases (node_bits, first_node, last_node, id, holder, login, system_identifier,
                 address, since, lease_from, lease_until, free_from, listed, written)
             VALUES ($1, $2, $3, $4, $5, $6, $7, inet_client_addr(), $8, $8, $9, $10,
                 $11::int8multirange, $transaction)";
        let further = [
            lease.id.into(),
            text(&member.name),
            member.login.clone().map(DecodedText).into(),
            member.system.into(),
            at(lease.span.from),
            at(lease.span.until),
            at(lease.free_from),
            text(&member.listed),
        ];
        self.update(insert, &arguments(&lease.nodes, further));
    }

    /// Returns the times of a lease, and locks it; none if there is no such lease, or somebody else has changed it.
    pub fn find_and_lock(&mut self, id: i64, nodes: &NodeRange) -> Option<LeaseTerm> {
        let select = "SELECT lease_from, lease_until FROM mint_registry.leases
             WHERE node_bits = $1 AND first_node = $2 AND last_node = $3 AND id = $4
                 AND xmin = written AND NOT assigned
             FOR UPDATE";
        self.rows(select, &arguments(nodes, [id.into()]), term_of)
            .pop()
    }

    /// Writes the times of a lease that is renewed.
    pub fn extend(&mut self, lease: &GrantedLease, member: &Requester) {
        let update = "UPDATE mint_registry.leases
             SET lease_from = $2, lease_until = $3, free_from = $4, listed = $5::int8multirange,
                 renewals = renewals + 1, written = $transaction
             WHERE id = $1";
        let LeaseTerm { from, until } = lease.span;
        let [from, until, free_from] = [from, until, lease.free_from].map(at);
        let listed = text(&member.listed);
        self.update(update, &[lease.id.into(), from, until, free_from, listed]);
    }
}

/// Tells the operator why no new leases are granted, or why they are.
fn log_change(loss: Option<StateLoss>, member: Option<&Requester>) {
    let why = match (loss, member) {
        (None, _) => {
            error::log("registry of nodes continues after a planned restart".to_owned());
            return;
        }
        (Some(StateLoss::Returned), _) => "it was started, promoted, restored or copied".to_owned(),
        (Some(StateLoss::Changed), _) => "its tables were changed by hand, or restored".to_owned(),
        (Some(StateLoss::Told), Some(Requester { name, login, .. })) => format!(
            "\"{name}\", connected as role \"{}\", has seen more of its history, or another one",
            login.as_deref().unwrap_or_default()
        ),
        (Some(StateLoss::Told), None) => String::new(),
    };
    error::log(format!("registry of nodes begins a quarantine: {why}"));
}
