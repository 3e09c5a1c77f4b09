//! The registry's state, one row of its tables: read, checked for a loss of what the registry knew, and written.

use crate::pg::backend::recovery;
use crate::pg::catalog::spi;
use crate::pg::catalog::spi::Row;
use crate::pg::error;
use crate::pg::error::OrReport;
use crate::pg::machine::{clock, random};
use crate::registry::identity;
use crate::registry::server::answer::{Limits, Requester, read_log_state};
use crate::registry::server::place;
use crate::registry::server::tables::{OpenTables, at, in_database, time};
use mint_core::{Micros, Registry, StateLoss};
use pgrx::datum::{DatumWithOid, Interval};
use pgrx::spi::SpiClient;

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

impl OpenTables<'_, '_> {
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
