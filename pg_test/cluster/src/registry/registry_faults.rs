//! Faults of the registry of a fleet, and of the network before it.

use crate::faults::faults;
use crate::registry::crowd::ask_at_once;
use crate::registry::fleet::Fleet;
use crate::registry::members::{LEASE, create_registry};
use crate::registry::proxy::{Passing, Proxy, Spoiling};
use crate::server::process::Server;
use std::thread::sleep;
use std::time::{Duration, Instant};

faults! {
    /// A fault of the registry, or of the network between it and all members.
    RegistryFault {
        Restart: "the registry crashes and starts again at once",
        CrashInWait: "the registry crashes, and again within its wait",
        Down: "the registry is down for longer than a lease",
        SmartStop: "a smart shutdown of the registry, and a start",
        Freeze: "the registry is frozen for longer than a lease",
        StepForward: "the registry's clock steps by +100 s",
        StepBack: "the registry's clock steps by -100 s",
        Promotion: "a standby of the registry is promoted that lacks the last grants",
        Restored: "an older copy of the registry takes its place",
        RestoredBehind: "an older copy of the registry takes its place, with its clock 100 s behind",
        SplitBrain: "an older copy of the registry runs beside it for a minute",
        MovedAway: "the registry is dumped and restored on another server",
        Moved: "all members are led to another registry",
        Remade: "the registry is dropped and created again",
        TablesRestored: "the registry's tables are restored over themselves",
        TableEmptied: "the registry's leases are truncated",
        Locked: "a transaction locks the registry's tables for longer than a lease",
        NoLogin: "the role of members may not log in for longer than a lease",
        StandbyGone: "the registry waits for a synchronous standby for longer than a lease",
        Crowd: "80 servers ask for nodes at once",
        HalfOpen: "connections to the registry become half open",
        Unreachable: "the registry cannot be reached for longer than a lease",
        HalfAnswer: "the ends of the registry's answers are lost for longer than a lease",
        Slow: "the network delays each packet by 300 ms",
        AnswerLost: "the registry's answer to one renewal of each member is lost",
        AnswerCut: "the connection is lost with the answer to one renewal",
        AnswerHalf: "the connection is lost within the answer to one renewal",
        AnswerLate: "the answer to one renewal is too late",
        AnswerTwice: "the answer to one renewal arrives twice",
    }
}

/// The most sessions that a member may have: one, and one that is being canceled.
const SESSIONS: usize = 2;
/// The time in which copies of a registry live side by side.
const SIDE_BY_SIDE: Duration = Duration::from_secs(60);

impl RegistryFault {
    /// Inflicts the fault. Returns when it is over.
    pub(super) fn strike(self, fleet: &mut Fleet) {
        let longer = fleet.longer();
        let server = &fleet.registry.server;
        match self {
            Self::Restart => server.crash(),
            Self::CrashInWait => {
                for _ in 0..2 {
                    server.kill9_any();
                    sleep(LEASE / 3);
                }
            }
            Self::Down => {
                server.stop_immediate();
                sleep(longer);
                server.start_again();
            }
            Self::SmartStop => {
                let begun = Instant::now();
                server.stop_smart();
                let took = begun.elapsed();
                let limit = Duration::from_secs(20);
                assert!(took < limit, "members keep their sessions: {took:?}");
                server.start_again();
            }
            Self::Freeze => {
                let frozen = server.freeze();
                sleep(longer);
                drop(frozen);
            }
            Self::StepForward => step(server, "+100", longer),
            Self::StepBack => step(server, "-100", longer),
            Self::Promotion => promote(fleet),
            Self::Restored => restore(fleet, "+0"),
            Self::RestoredBehind => restore(fleet, "-100"),
            Self::SplitBrain => split(fleet),
            Self::MovedAway => move_away(fleet),
            Self::Moved => move_members(fleet),
            Self::Remade => {
                let mut admin = fleet.registry.connect();
                admin.run("DROP EXTENSION pg_mint CASCADE; CREATE EXTENSION pg_mint");
                create_registry(&mut admin);
            }
            Self::TablesRestored => restore_tables(fleet),
            Self::TableEmptied => fleet
                .registry
                .connect()
                .run("TRUNCATE mint.registry_leases"),
            Self::Locked => {
                let mut admin = fleet.registry.connect();
                admin.run("BEGIN; LOCK TABLE mint.registry, mint.registry_leases");
                assert_few_sessions(fleet, longer);
                admin.run("ROLLBACK");
            }
            Self::NoLogin => {
                let mut admin = fleet.registry.connect();
                let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'member'";
                admin.run(&format!("ALTER ROLE member NOLOGIN; {end}"));
                sleep(longer);
                admin.run("ALTER ROLE member LOGIN");
            }
            Self::StandbyGone => {
                let mut admin = fleet.registry.connect();
                admin.set_for_server("synchronous_standby_names", "'gone'");
                assert_few_sessions(fleet, longer);
                admin.set_for_server("synchronous_standby_names", "''");
            }
            Self::Crowd => {
                let answers = ask_at_once(&fleet.registry, 80, 13);
                let is_lease = |answer: &String| answer.contains("lease");
                assert!(answers.iter().all(is_lease), "{answers:?}");
            }
            Self::HalfOpen => {
                fleet.proxies.iter().for_each(Proxy::silence);
                sleep(longer);
                fleet.proxies.iter().for_each(Proxy::cut_silent);
            }
            Self::Unreachable => pass(fleet, Passing::Nothing, longer),
            Self::HalfAnswer => pass(fleet, Passing::AllButTheEnd, longer),
            Self::Slow => pass(fleet, Passing::Slowly, longer),
            Self::AnswerLost => spoil(fleet, Spoiling::Lost),
            Self::AnswerCut => spoil(fleet, Spoiling::Cut),
            Self::AnswerHalf => spoil(fleet, Spoiling::Half),
            Self::AnswerLate => spoil(fleet, Spoiling::Late),
            Self::AnswerTwice => spoil(fleet, Spoiling::Twice),
        }
    }
}

/// Sets the registry's clock for a while.
fn step(server: &Server, offset: &str, time: Duration) {
    server.set_clock(offset);
    sleep(time);
    server.set_clock("+0");
}

/// Spoils one answer to a renewal of each member.
fn spoil(fleet: &Fleet, spoiling: Spoiling) {
    fleet.proxies.iter().for_each(|proxy| proxy.spoil(spoiling));
    fleet
        .registry
        .server
        .until("an answer of each is spoiled", || {
            fleet.proxies.iter().all(Proxy::has_spoiled)
        });
    // A lease that the registry has committed with it would have ended.
    sleep(LEASE);
}

fn pass(fleet: &Fleet, passing: Passing, time: Duration) {
    fleet.let_pass(passing);
    sleep(time);
    fleet.let_pass(Passing::All);
}

/// Grants leases that an older state of the registry does not know: half of the members are restarted.
fn grant_more(fleet: &Fleet) {
    let half = fleet.members.len() / 2;
    fleet.members[..half].iter().for_each(Server::restart);
    fleet.wait_for_renewals();
}

fn promote(fleet: &mut Fleet) {
    let standby = fleet.registry.server.standby("the registry's standby");
    fleet.registry.server.wait_for(&standby);
    // The standby does not learn of what happens from here on.
    standby.stop_receiving();
    grant_more(fleet);
    fleet.registry.server.stop_immediate();
    standby.promote();
    fleet.registry.move_to(standby);
}

fn restore(fleet: &mut Fleet, clock: &str) {
    let copy = fleet.registry.server.copied("the registry's old copy");
    grant_more(fleet);
    fleet.registry.server.stop_immediate();
    copy.set_clock(clock);
    copy.start_again();
    fleet.registry.move_to(copy);
    if clock != "+0" {
        sleep(LEASE / 3);
        fleet.registry.server.set_clock("+0");
    }
}

/// New connections reach the copy, and those of the first half of the members are made again.
fn split(fleet: &mut Fleet) {
    let copy = fleet.registry.server.copied("a copy of the registry");
    grant_more(fleet);
    copy.start_again();
    let before = fleet.registry.switch_to(copy);
    let half = fleet.members.len() / 2;
    fleet.proxies[..half].iter().for_each(Proxy::cut);
    sleep(SIDE_BY_SIDE);
    // Newcomers ask on both sides.
    fleet.members[half - 1].restart();
    sleep(LEASE);
    before.stop_immediate();
}

/// The dump has no grant of what follows, and both servers grant until the last member has moved.
fn move_away(fleet: &mut Fleet) {
    let database = fleet.registry.database.clone();
    let dump = fleet.registry.server.dump("postgres", &database);
    grant_more(fleet);
    let builder = Server::build_with_clock("another server").distinct();
    let next = builder.start_empty();
    next.run("CREATE ROLE member LOGIN");
    if database != "postgres" {
        next.create_database(&database);
    }
    next.restore("postgres", &database, &dump);
    let before = fleet.registry.switch_to(next);
    for proxy in &fleet.proxies {
        proxy.cut();
        sleep(SIDE_BY_SIDE / 10);
    }
    before.stop_immediate();
}

/// As a restore of data only does, over the tables as they are.
fn restore_tables(fleet: &Fleet) {
    let mut admin = fleet.registry.connect();
    admin.run(
        "CREATE TEMP TABLE old_registry AS TABLE mint.registry;
         CREATE TEMP TABLE old_leases AS TABLE mint.registry_leases",
    );
    grant_more(fleet);
    admin.run(
        "TRUNCATE mint.registry, mint.registry_leases;
         INSERT INTO mint.registry TABLE old_registry;
         INSERT INTO mint.registry_leases TABLE old_leases",
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
    if !server.one::<bool>(&is_there) {
        server.create_database(next);
    }
    create_registry(&mut server.connect(next));
    let before = std::mem::replace(&mut fleet.registry.database, next.to_owned());
    for member in fleet.members.iter() {
        member.run(&format!(
            "ALTER SERVER registry OPTIONS (SET dbname '{next}')"
        ));
    }
    let mut admin = fleet.registry.server.connect(&before);
    admin.run("TRUNCATE mint.registry, mint.registry_leases");
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
