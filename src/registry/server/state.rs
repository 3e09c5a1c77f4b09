//! The tables of the registry: their state is read, changed by the rules of the ring and written, one request after the
//! other. Only plain renewals, each of which locks its own row, run side by side.

use crate::pg::backend::guc;
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{extension, spi, tables};
use crate::pg::datum::json::JsonText;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp, timestamp_saturating, to_micros};
use crate::pg::error::{impossible, report};
use crate::pg::machine::{clock, random, server};
use crate::pg::worker::transaction::one_line;
use crate::registry::protocol::MemberRequest;
use crate::registry::server::memory;
use mint_core::registry::ring::{
    Refusal, RegistryRun, RingClocks, RingDemand, RingLease, RingMemory, RingPosition, RingRules,
    RingState,
};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

const RULES: RingRules = RingRules::STANDARD;

/// The registry of this database, opened for one request.
struct OpenRegistry<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
    run: RegistryRun,
    request: &'a MemberRequest,
}

/// Returns the place of the registry of this database: its system and its database.
pub fn place() -> String {
    format!("{}/{}", server::system_identifier(), extension::database())
}

/// Answers a request of a member.
///
/// # Errors
/// The reason why the registry grants nothing; if it cannot decide, it raises an error.
pub fn answer(request: &MemberRequest) -> Result<RingLease, Refusal> {
    // The tables could not keep it as it is, and would not be what the memory knows.
    if matches!(request.ring.demand, RingDemand::Renewal(lease) if timestamp(lease.from).is_none())
    {
        return Err(Refusal::Over);
    }
    // Members ask again, so a request does not queue behind a lock for long, nor at all where the whole fleet waits.
    let (timeout, wait) = match (request.ring.demand, memory::wait_left()) {
        (RingDemand::Grant(_), Some(left @ 1..)) => (c"1ms", Some(Refusal::Wait { left })),
        _ => (c"800ms", None),
    };
    let in_time = || {
        guc::with(&[(c"lock_timeout", timeout)], || {
            tables::with(["registry", "registry_leases"], |client, [_, leases]| {
                let run = memory::run(leases);
                let mut registry = OpenRegistry {
                    client,
                    run,
                    request,
                };
                registry
                    .renew_plainly()
                    .map_or_else(|| registry.answer(), Ok)
            })
        })
    };
    PgTryBuilder::new(AssertUnwindSafe(in_time))
        .catch_when(Code::ERRCODE_LOCK_NOT_AVAILABLE, |_| {
            Err(wait.unwrap_or_else(|| refuse_busy()))
        })
        .execute()
}

#[cold]
fn refuse_busy() -> ! {
    report(Code::ERRCODE_LOCK_NOT_AVAILABLE, "registry is busy")
        .detail("Another transaction has locked its tables, or rows of them.")
        .hint("End other transactions, also prepared ones, that use \"mint.registry_leases\", or check the synchronous standby that they wait for.")
        .raise()
}

/// Reads the clocks: under the locks, for which a request can have waited, and before all rows, which take a while.
fn clocks() -> RingClocks {
    RingClocks {
        wall: clock::now(),
        boot: clock::up(),
    }
}

impl OpenRegistry<'_, '_> {
    /// Answers under the lock of the whole registry.
    fn answer(&mut self) -> Result<RingLease, Refusal> {
        let lock = "LOCK TABLE mint.registry_leases IN EXCLUSIVE MODE";
        self.rows(lock, &[], |_| ());
        let (clocks, mut state) = (clocks(), self.load());
        let mut kept = memory::get();
        let before = state.digest;
        let (run, ring, random) = (self.run, &self.request.ring, random::bits());
        let answer = RULES.answer(&mut state, &mut kept, run, ring, clocks, random);
        if let Ok(lease) = &answer
            && state.digest != before
        {
            self.write(*lease);
        }
        let update = "UPDATE mint.registry SET run = $2, rings = $3 WHERE place = $1";
        let run = state.run.as_ref().map(json);
        self.rows(
            update,
            &[text(place()), run.into(), json(&state.rings).into()],
            |_| (),
        );
        if let Some(kept) = kept {
            memory::keep(kept);
        }
        answer
    }

    /// Renews a lease that needs no other row, and locks only its row; none if the request is not such a renewal.
    fn renew_plainly(&mut self) -> Option<RingLease> {
        let RingDemand::Renewal(RingLease { node, .. }) = self.request.ring.demand else {
            return None;
        };
        // First without a lock: a lock of the row keeps requests that must be alone from the table.
        self.load_plain(node, "")?;
        let (mut state, mut kept) = self.load_plain(node, " FOR UPDATE")?;
        let before = state.digest;
        let (run, ring, random) = (self.run, &self.request.ring, random::bits());
        let answer = RULES.answer(&mut state, &mut kept, run, ring, clocks(), random);
        let lease = answer.ok()?;
        self.write(lease);
        memory::keep_renewal(before ^ state.digest);
        Some(lease)
    }

    /// Returns the state with only the row of a node, and the memory, if the request is a plain renewal by them.
    fn load_plain(&mut self, node: u64, lock: &str) -> Option<(RingState, Option<RingMemory>)> {
        let condition = format!("AND node_bits = $2 AND node = $3 ORDER BY 4{lock}");
        let (_, rows) = self.load_rows(&condition, node);
        let kept = memory::get();
        let (run, rings) = self.load_registry()?;
        let state = RingState {
            digest: kept.map_or(0, |kept| kept.digest),
            run,
            rings,
            rows,
        };
        let is_plain = RULES.is_plain_renewal(&state, kept, self.run, &self.request.ring, clocks());
        is_plain.then_some((state, kept))
    }

    /// Returns the state; takes over the rows of another place if there are none of this one.
    fn load(&mut self) -> RingState {
        let mut found = self.load_registry();
        // The registry was created before the tables of the other place were restored beside it.
        let is_new = |(run, rings): &(Option<_>, BTreeMap<_, _>)| run.is_none() && rings.is_empty();
        if found.as_ref().is_none_or(is_new) {
            self.adopt();
            found = self.load_registry();
        }
        let (run, rings) = found.unwrap_or_else(|| refuse_missing());
        let (digest, rows) = self.load_rows("ORDER BY 4", 0);
        RingState {
            digest,
            run,
            rings,
            rows,
        }
    }

    fn load_registry(&mut self) -> Option<(Option<RegistryRun>, BTreeMap<u32, RingPosition>)> {
        let select = "SELECT run, rings FROM mint.registry WHERE place = $1";
        let read = |row: &Row<'_>| (row.get(1).map(parsed), parsed(row.need(2)));
        self.rows(select, &[text(place())], read).pop()
    }

    /// Copies the registry of another place, whose tables were restored or replicated to here: the one that was used
    /// last. Its own rows stay unchanged, as they can still be replicated.
    fn adopt(&mut self) {
        let copy = "WITH other AS (
                SELECT r.place, r.run, r.rings FROM mint.registry AS r WHERE r.place <> $1
                ORDER BY (
                    SELECT max(l.lease_until) FROM mint.registry_leases AS l
                    WHERE l.place = r.place AND l.lease_until < clock_timestamp() + interval '1 day'
                ) DESC NULLS LAST LIMIT 1
            ), copied AS (
                INSERT INTO mint.registry_leases (place, node_bits, node, number, holder, lease_from, lease_until)
                SELECT $1, l.node_bits, l.node, l.number, l.holder, l.lease_from, l.lease_until
                FROM mint.registry_leases AS l JOIN other ON other.place = l.place
                ON CONFLICT (place, node_bits, node) DO NOTHING
            )
            INSERT INTO mint.registry (place, run, rings) SELECT $1, other.run, other.rings FROM other
            ON CONFLICT (place) DO UPDATE SET run = excluded.run, rings = excluded.rings";
        self.rows(copy, &[text(place())], |_| ());
    }

    /// Returns the digest of the rows, and the rows of the width, by a further condition. A row that keeps a node out of
    /// the ring does so at every place: a registry that moves takes it along.
    fn load_rows(&mut self, condition: &str, node: u64) -> (u64, BTreeMap<u64, RingLease>) {
        let select = format!(
            "SELECT node, number, lease_from, lease_until, place = $1, node_bits = $2 FROM mint.registry_leases
             WHERE (place = $1 OR lease_until = 'infinity') {condition}"
        );
        let time = |row: &Row<'_>, column| to_micros(row.need::<TimestampWithTimeZone>(column));
        let (mut digest, mut rows) = (0, BTreeMap::new());
        let read = |row: &Row<'_>| {
            let lease = RingLease {
                node: row.need::<i64>(1).cast_unsigned(),
                number: row.need(2),
                from: time(row, 3),
                until: time(row, 4),
            };
            if row.need(5) {
                digest ^= lease.hash();
            }
            if row.need(6) {
                rows.insert(lease.node, lease);
            }
        };
        let node = node.cast_signed().into();
        self.rows(&select, &[text(place()), self.width(), node], read);
        (digest, rows)
    }

    fn width(&self) -> DatumWithOid<'static> {
        // A layout has at most 31 bits of shard, and other widths were refused before anything was written.
        i32::try_from(self.request.ring.width)
            .unwrap_or(i32::MAX)
            .into()
    }

    fn write(&mut self, lease: RingLease) {
        let upsert = "INSERT INTO mint.registry_leases AS l
                (place, node_bits, node, number, holder, lease_from, lease_until)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (place, node_bits, node) DO UPDATE SET number = excluded.number, holder = excluded.holder,
                lease_from = excluded.lease_from, lease_until = excluded.lease_until";
        let values = [
            text(place()),
            self.width(),
            lease.node.cast_signed().into(),
            lease.number.into(),
            text(one_line(&self.request.holder)),
            timestamp_saturating(lease.from).into(),
            timestamp_saturating(lease.until).into(),
        ];
        self.rows(upsert, &values, |_| ());
    }

    /// Runs a statement on the tables, and returns the results of `read` for its rows.
    fn rows<T>(
        &mut self,
        statement: &str,
        values: &[DatumWithOid<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Vec<T> {
        spi::read(spi::update(self.client, statement, values), read)
    }
}

#[cold]
fn refuse_missing() -> ! {
    let database = extension::name_of_own_database();
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("database \"{database}\" is not a registry of nodes"),
    )
    .hint("Use mint.registry_create() in that database, or correct the foreign server.")
    .raise()
}

fn text(text: String) -> DatumWithOid<'static> {
    DecodedText(text).into()
}

fn json<T: Serialize>(value: &T) -> JsonText {
    JsonText(serde_json::to_string(value).unwrap_or_else(|_| impossible("state that is not JSON")))
}

/// Returns the value of a column that only the registry writes. Raises an error if somebody else has written it.
fn parsed<T: DeserializeOwned>(JsonText(text): JsonText) -> T {
    serde_json::from_str(&text).unwrap_or_else(|_| {
        report(
            Code::ERRCODE_DATA_CORRUPTED,
            "table \"mint.registry\" was changed by hand",
        )
        .hint("Use UPDATE mint.registry SET run = NULL, rings = '{}'.")
        .raise()
    })
}
