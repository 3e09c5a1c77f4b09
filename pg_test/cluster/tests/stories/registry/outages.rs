//! Registries that are down, crash or wait. No node is granted twice.

use mint_cluster::load::sessions::{split, while_minting};
use mint_cluster::registry::members::{LEASE, WAIT, assert_refused, first_id, refused_for};
use mint_cluster::{Registry, Server, assert_unique, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";

/// An outage: members mint to the end of their leases, say why they stop, and continue when the registry has waited.
#[test]
fn without_the_registry_minting_continues_to_the_end_of_the_lease() {
    let registry = or_skip!(Registry::start("a registry that is down"));
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut ids = vec![first_id(&ada, NEXT).0];
    let mut session = ada.connect("postgres");
    registry.server.stop_immediate();
    let begun = Instant::now();
    let refusal = loop {
        match session.try_one(NEXT) {
            Ok(id) => ids.push(id),
            Err(refusal) => break refusal,
        }
        sleep(Duration::from_millis(5));
    };
    let lasted = begun.elapsed();
    let limits = LEASE * 2 / 3 - Duration::from_secs(1)..LEASE + Duration::from_secs(1);
    assert!(limits.contains(&lasted), "{lasted:?}");
    assert!(
        refusal.message.starts_with("node lease ended at "),
        "{refusal}"
    );
    assert_refused(&refusal, "ould not establish connection");
    let trouble: String = session.one("SELECT trouble FROM mint.leases");
    assert!(
        trouble.contains("could not establish connection"),
        "{trouble}"
    );
    // A member without any lease yet.
    assert_refused(&ben.refusal(NEXT), "ould not establish connection");
    registry.server.start_again();
    let begun = Instant::now();
    let told = refused_for(&ben, NEXT, "grants no new leases for another");
    told.assert_hint("Retry after that time");
    for member in [&ada, &ben] {
        ids.push(first_id(member, NEXT).0);
    }
    let after = begun.elapsed();
    let limits = WAIT - Duration::from_secs(2)..WAIT + Duration::from_secs(10);
    assert!(limits.contains(&after), "{after:?}");
    assert_unique([&ids]);
}

/// A registry that crashes and is back at once renews all leases within its wait, so that no session notices.
#[test]
fn a_crash_of_the_registry_costs_no_id() {
    let registry = or_skip!(Registry::start("a crash"));
    let members = ["ada", "ben"].map(|name| registry.auto(name));
    for member in &members {
        first_id(member, NEXT);
    }
    let mut bens = Vec::new();
    let mut records = while_minting(&members[0], 2, NEXT, || {
        bens = while_minting(&members[1], 2, NEXT, || {
            registry.server.crash();
            sleep(LEASE / 2);
            // Again within the wait, by one session: its postmaster and its start time are the same.
            registry.server.kill9_any();
            sleep(LEASE + Duration::from_secs(5));
        });
    });
    // The wait began again with the second crash.
    assert!(registry.ask().contains("wait"), "{}", registry.ask());
    records.extend(bens);
    let (ids, refusals) = split(records);
    assert!(refusals.is_empty(), "{}", refusals[0]);
    assert_unique(&ids);
    let rows: i64 = registry
        .connect()
        .one("SELECT count(*) FROM mint.registry_leases");
    assert_eq!(rows, 2, "each keeps its node");
}

/// Grants are on disk before they are told, whatever the settings of the server and the role. A session reads its own setting
/// between the call and COMMIT.
#[test]
fn a_grant_outlives_a_crash_of_a_registry_that_commits_asynchronously() {
    let builder = Server::build("asynchronous commits")
        .conf("synchronous_commit = off")
        .conf("wal_writer_delay = '10s'");
    let registry = or_skip!(Registry::start_with(builder));
    let ada = registry.auto("ada");
    let mut session = registry.connect();
    let call = mint_cluster::registry::members::request_sql(13, r#"{"grant": 7}"#);
    let seen: Vec<String> = session.column(&format!(
        "SELECT current_setting('synchronous_commit') FROM (SELECT {call} AS answer OFFSET 0) AS asked WHERE answer IS NOT NULL"
    ));
    assert_eq!(seen, ["on"]);
    assert_eq!(session.one::<String>("SHOW synchronous_commit"), "off");
    session.run("CREATE TABLE witness (); CHECKPOINT");
    first_id(&ada, NEXT);
    session.run("CREATE TABLE lost ()");
    registry.server.crash();
    let mut session = registry.connect();
    let kept: bool = session.one("SELECT to_regclass('lost') IS NULL");
    assert!(kept, "the crash lost nothing, so the story shows nothing");
    let holders = "SELECT holder FROM mint.registry_leases WHERE lease_until > now() ORDER BY 1";
    assert_eq!(session.column::<String>(holders), ["ada", "x"]);
}

/// A grant whose commit waits for a missing synchronous standby is not returned.
#[test]
fn a_grant_waits_for_the_synchronous_standby() {
    let registry = or_skip!(Registry::start("synchronous standby"));
    let ada = registry.auto("ada");
    let mut session = registry.connect();
    session.set_for_server("synchronous_standby_names", "'*'");
    let refusal = ada.refused(NEXT, "55000");
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    let _standby = registry.server.standby("standby");
    registry.server.until("the standby is synchronous", || {
        session.one("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
    });
    let (_, after) = first_id(&ada, NEXT);
    // Two requests, each of which can take three seconds on a busy machine.
    assert!(after < Duration::from_secs(8), "{after:?}");
}

/// DROP EXTENSION under load gives errors and no crash, and minting continues when the extension is back. It takes the
/// registry with it, and the next one waits.
#[test]
fn the_extension_is_dropped_under_load() {
    let registry = or_skip!(Registry::start("dropped"));
    let members = [registry.auto("ada"), registry.auto("ben")];
    let (ids, refusals) = split(while_minting(&members[0], 2, NEXT, || {
        first_id(&members[1], NEXT);
        let mut session = registry.connect();
        session.run("DROP EXTENSION pg_mint");
        refused_for(&members[1], NEXT, "extension \"pg_mint\" is not installed");
        session.run("CREATE EXTENSION pg_mint");
        refused_for(
            &members[1],
            NEXT,
            "permission denied for function registry_request",
        );
        session.run("GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member");
        refused_for(&members[1], NEXT, "is not a registry of nodes");
        session.run("SELECT mint.registry_create()");
        refused_for(&members[1], NEXT, "grants no new leases");
        registry.end_wait();
        for member in &members {
            first_id(member, NEXT);
        }
        let mut session = members[0].connect("postgres");
        session.run("DROP EXTENSION pg_mint");
        sleep(Duration::from_secs(1));
        session.run("CREATE EXTENSION pg_mint");
        first_id(&members[0], NEXT);
    }));
    let codes = ["55000", "42883", "42704", "42P01", "XX000"];
    for refusal in &refusals {
        assert!(codes.contains(&refusal.code.as_str()), "{refusal}");
    }
    assert_unique(&ids);
    for server in members.iter().chain([&registry.server]) {
        let log = server.log();
        assert!(!log.contains("terminated by signal"), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}
