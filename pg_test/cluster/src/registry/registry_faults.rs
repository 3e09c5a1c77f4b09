//! Faults of the registry of a fleet, and of the network before it.

use crate::registry::fleet::{Fleet, now};
use crate::registry::members::create_registry_in_quarantine;
use crate::registry::proxy::{Passing, Proxy, Spoiling};
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A fault of the registry, or of the network between it and all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegistryFault {
    /// It crashes and starts again at once.
    Restart,
    /// It crashes, and comes back when all leases have ended.
    Down,
    /// It stands still for longer than a lease.
    Freeze,
    /// A standby is promoted that lacks a change of settings, and the last grants.
    Promotion,
    /// An older copy of its files takes its place, which lacks the same, and exactly one restart.
    Restored,
    /// It is dropped and made again after such a change.
    Remade,
    /// Its tables get back the rows that they had earlier.
    TablesRestored,
    /// Its leases are lost.
    TableEmptied,
    /// All members are led to another one.
    Moved,
    /// A transaction locks its tables for longer than a lease.
    Locked,
    /// It waits for a synchronous standby that is gone, for longer than a lease.
    StandbyGone,
    /// No packet passes any more on the connections that there are.
    HalfOpen,
    /// No packet passes for longer than a lease.
    Unreachable,
    /// The last bytes of each answer are missing, for longer than a lease.
    HalfAnswer,
    /// Each piece of a message takes a while.
    Slow,
    /// One answer to a renewal of each member does not arrive as it was sent.
    Answer(Spoiling),
    /// An older copy of its files takes its place, which lacks one restart and nothing else.
    LacksRestart,
    /// It is stopped when its clients have left, and started again.
    SmartStop,
    /// It is restarted after preparation.
    PlannedRestart,
}

/// How long after a lease its nodes are free: the default of `max_skew`, and a little.
const SKEW: Duration = Duration::from_millis(2_600);
/// How many sessions of members there may be for each of them: one, and one that is being canceled.
const SESSIONS: usize = 2;

/// Whether a restart can be prepared.
const PREPARES: &str = "SELECT to_regproc('mint.registry_prepare_restart') IS NOT NULL";

impl RegistryFault {
    /// Each fault once.
    pub const ALL: [Self; 23] = [
        Self::Restart,
        Self::Down,
        Self::Freeze,
        Self::Promotion,
        Self::Restored,
        Self::Remade,
        Self::TablesRestored,
        Self::TableEmptied,
        Self::Moved,
        Self::Locked,
        Self::StandbyGone,
        Self::HalfOpen,
        Self::Unreachable,
        Self::HalfAnswer,
        Self::Slow,
        Self::Answer(Spoiling::Lost),
        Self::Answer(Spoiling::Cut),
        Self::Answer(Spoiling::Half),
        Self::Answer(Spoiling::Late),
        Self::Answer(Spoiling::Twice),
        Self::LacksRestart,
        Self::SmartStop,
        Self::PlannedRestart,
    ];

    /// Returns whether the registry begins a quarantine.
    pub(super) fn begins_quarantine(self) -> bool {
        !matches!(
            self,
            Self::Freeze
                | Self::Locked
                | Self::StandbyGone
                | Self::HalfOpen
                | Self::Unreachable
                | Self::HalfAnswer
                | Self::Slow
                | Self::Answer(_)
                | Self::PlannedRestart
        )
    }

    /// Inflicts the fault. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet) {
        let longer = fleet.longer();
        match self {
            Self::Restart => {
                fleet.registry.server.stop_immediate();
                fleet.registry.server.start_again();
            }
            Self::Down => {
                fleet.registry.server.stop_immediate();
                sleep(longer);
                fleet.registry.server.start_again();
            }
            Self::Freeze => {
                let frozen = fleet.registry.server.freeze();
                sleep(longer);
                drop(frozen);
            }
            Self::Promotion => promote(fleet),
            Self::Restored => restore(fleet),
            Self::Remade => remake(fleet),
            Self::TablesRestored => restore_tables(fleet),
            Self::TableEmptied => {
                let mut admin = fleet.registry.connect();
                admin.run("TRUNCATE mint_registry.leases");
                fleet.assign_nodes();
            }
            Self::Moved => move_members(fleet),
            Self::Locked => lock(fleet, longer),
            Self::StandbyGone => wait_for_standby(fleet, longer),
            Self::HalfOpen => {
                fleet.proxies.iter().for_each(Proxy::silence);
                sleep(longer);
                fleet.proxies.iter().for_each(Proxy::cut_silent);
            }
            Self::Unreachable => {
                fleet.let_pass(Passing::Nothing);
                sleep(longer);
                fleet.let_pass(Passing::All);
            }
            Self::HalfAnswer => {
                fleet.let_pass(Passing::AllButTheEnd);
                sleep(longer);
                fleet.let_pass(Passing::All);
            }
            Self::Slow => {
                fleet.let_pass(Passing::Slowly);
                sleep(longer);
                fleet.let_pass(Passing::All);
            }
            Self::Answer(spoiling) => spoil(fleet, spoiling),
            Self::LacksRestart => lose_restart(fleet),
            Self::SmartStop => {
                let server = &fleet.registry.server;
                let begun = Instant::now();
                server.stop_smart();
                let took = begun.elapsed();
                assert!(
                    took < Duration::from_secs(20),
                    "members keep their sessions: {took:?}"
                );
                server.start_again();
            }
            Self::PlannedRestart => {
                let mut admin = fleet.registry.connect();
                if admin.one::<bool>(PREPARES) {
                    admin.run("SELECT mint.registry_prepare_restart()");
                }
                drop(admin);
                fleet.registry.server.restart();
            }
        }
    }
}

/// Lengthens leases, and waits until all members have longer ones, and those from before would have ended. So what does
/// not know of it takes their nodes for free.
fn lengthen(fleet: &Fleet) {
    let begun = Instant::now();
    let mut admin = fleet.registry.connect();
    let longer = (fleet.registry.lease * 2).min(Duration::from_secs(60));
    let then = now(&mut admin);
    admin.run(&format!(
        "SELECT mint.registry_create('{} s')",
        longer.as_secs()
    ));
    fleet.registry.server.until("leases are longer", || {
        fleet.renewed(&mut admin, &then, longer) == fleet.members.len()
    });
    sleep((fleet.registry.lease + SKEW).saturating_sub(begun.elapsed()));
}

fn promote(fleet: &mut Fleet) {
    let standby = fleet.registry.server.standby("the registry's standby");
    fleet.registry.server.wait_for(&standby);
    // The standby does not learn of what happens from here on.
    standby.stop_receiving();
    lengthen(fleet);
    fleet.registry.server.stop_immediate();
    standby.promote();
    fleet.registry.move_to(standby);
}

fn restore(fleet: &mut Fleet) {
    let copy = fleet.registry.server.copied("the registry's old copy");
    lengthen(fleet);
    // Members hear of it when they renew their leases, which are twice as long now.
    fleet.registry.server.restart();
    sleep(fleet.registry.lease);
    fleet.registry.server.stop_immediate();
    copy.start_again();
    fleet.registry.move_to(copy);
}

/// Spoils one answer to a renewal of each member, and waits until what the registry has committed with it would have ended.
fn spoil(fleet: &Fleet, spoiling: Spoiling) {
    fleet.proxies.iter().for_each(|proxy| proxy.spoil(spoiling));
    fleet
        .registry
        .server
        .until("an answer of each is spoiled", || {
            fleet.proxies.iter().all(Proxy::has_spoiled)
        });
    sleep(fleet.registry.lease);
}

/// Waits until all members have renewed their leases after now.
fn wait_for_renewals(fleet: &Fleet) {
    let mut admin = fleet.registry.connect();
    let then = now(&mut admin);
    fleet.registry.server.until("all members renew", || {
        fleet.renewed(&mut admin, &then, fleet.registry.lease) == fleet.members.len()
    });
}

fn lose_restart(fleet: &mut Fleet) {
    let copy = fleet.registry.server.copied("the registry's backup");
    fleet.registry.server.restart();
    wait_for_renewals(fleet);
    fleet.registry.server.stop_immediate();
    copy.start_again();
    fleet.registry.move_to(copy);
}

fn remake(fleet: &Fleet) {
    lengthen(fleet);
    let mut admin = fleet.registry.connect();
    admin.run(
        "DROP EXTENSION pg_mint CASCADE; DROP SCHEMA mint_registry CASCADE; CREATE EXTENSION pg_mint",
    );
    create_registry_in_quarantine(&mut admin, fleet.registry.lease.as_secs());
    fleet.assign_nodes();
}

/// As a restore of data only does, over the tables as they are.
fn restore_tables(fleet: &Fleet) {
    let mut admin = fleet.registry.connect();
    admin.run(
        "CREATE TEMP TABLE old_registry AS TABLE mint_registry.registry;
         CREATE TEMP TABLE old_leases AS TABLE mint_registry.leases",
    );
    lengthen(fleet);
    // Requests lock the registry before its leases.
    admin.run(
        "TRUNCATE mint_registry.registry, mint_registry.leases;
         INSERT INTO mint_registry.registry TABLE old_registry;
         INSERT INTO mint_registry.leases TABLE old_leases",
    );
}

/// Leads all members to a registry in another database, and drops the one that they had.
fn move_members(fleet: &mut Fleet) {
    let next = match fleet.registry.database.as_str() {
        "postgres" => "second",
        _ => "postgres",
    };
    let server = &fleet.registry.server;
    let is_there = format!("SELECT EXISTS (SELECT FROM pg_database WHERE datname = '{next}')");
    if !server.connect("postgres").one::<bool>(&is_there) {
        server.create_database(next);
    }
    create_registry_in_quarantine(&mut server.connect(next), fleet.registry.lease.as_secs());
    let before = std::mem::replace(&mut fleet.registry.database, next.to_owned());
    fleet.assign_nodes();
    for member in &fleet.members {
        member.connect("postgres").run(&format!(
            "ALTER SERVER registry OPTIONS (SET dbname '{next}')"
        ));
    }
    let mut admin = fleet.registry.server.connect(&before);
    admin.run("DROP SCHEMA mint_registry CASCADE");
}

fn lock(fleet: &Fleet, time: Duration) {
    let mut admin = fleet.registry.connect();
    admin.run("BEGIN; LOCK TABLE mint_registry.registry, mint_registry.leases");
    assert_few_sessions(fleet, time);
    admin.run("ROLLBACK");
}

fn wait_for_standby(fleet: &Fleet, time: Duration) {
    let mut admin = fleet.registry.connect();
    admin.set_for_server("synchronous_standby_names", "'gone'");
    assert_few_sessions(fleet, time);
    admin.set_for_server("synchronous_standby_names", "''");
}

/// Asserts for a while that members do not use up the registry's connections.
#[track_caller]
fn assert_few_sessions(fleet: &Fleet, time: Duration) {
    let mut admin = fleet.registry.connect();
    let begun = Instant::now();
    let limit = fleet.members.len() * SESSIONS;
    while begun.elapsed() < time {
        let sessions: i64 =
            admin.one("SELECT count(*) FROM pg_stat_activity WHERE usename = 'member'");
        assert!(
            usize::try_from(sessions).is_ok_and(|sessions| sessions <= limit),
            "{sessions} sessions of {} members",
            fleet.members.len()
        );
        sleep(Duration::from_millis(50));
    }
}

impl fmt::Display for RegistryFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Restart => "the registry crashes and starts again at once",
            Self::Down => "the registry is down for longer than a lease",
            Self::Freeze => "the registry is frozen for longer than a lease",
            Self::Promotion => {
                "a standby of the registry is promoted that lacks the last grants and longer leases"
            }
            Self::Restored => "an older copy of the registry takes its place, which lacks one restart, with shorter leases",
            Self::Remade => "the registry is created again, with shorter leases",
            Self::TablesRestored => "the registry's tables are restored over themselves",
            Self::TableEmptied => "the registry's leases are truncated",
            Self::Moved => "all members are led to another registry",
            Self::Locked => "a transaction locks the registry's tables for longer than a lease",
            Self::StandbyGone => {
                "the registry waits for a synchronous standby for longer than a lease"
            }
            Self::HalfOpen => "connections to the registry become half open",
            Self::Unreachable => "the registry cannot be reached for longer than a lease",
            Self::HalfAnswer => {
                "the ends of the registry's answers are lost for longer than a lease"
            }
            Self::Slow => "the network delays each packet by 300 ms",
            Self::Answer(Spoiling::Lost) => {
                "the registry's answer to one renewal of each member is lost"
            }
            Self::Answer(Spoiling::Cut) => "the connection is lost with the answer to one renewal",
            Self::Answer(Spoiling::Half) => {
                "the connection is lost within the answer to one renewal"
            }
            Self::Answer(Spoiling::Late) => "the answer to one renewal is too late",
            Self::Answer(Spoiling::Twice) => "the answer to one renewal arrives twice",
            Self::LacksRestart => {
                "an older copy of the registry takes its place that lacks exactly one restart"
            }
            Self::SmartStop => "a smart shutdown of the registry, and a start",
            Self::PlannedRestart => "a planned restart of the registry",
        })
    }
}
