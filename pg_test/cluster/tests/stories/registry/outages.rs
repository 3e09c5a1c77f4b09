//! Registries that are down, forget what they granted, or cannot be reached. No node is granted twice.

use mint_cluster::load::sessions::{split, while_minting};
use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, assert_ascending, assert_unique, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const NEXT_5: &str = "SELECT snowflake_next_id(5)";
/// As long as the longest lease and the largest skew, whatever the leases of the story are.
const QUARANTINE: Duration = Duration::from_secs(70);
const FORGOTTEN: &str = "registry is in quarantine and grants no new leases";

fn renewals(session: &mut Session) -> i64 {
    session.one("SELECT coalesce(max(renewals), 0) FROM mint.leases WHERE held")
}

fn in_quarantine(registry: &Registry) -> bool {
    registry
        .connect()
        .one("SELECT quarantine > clock_timestamp() FROM mint_registry.registry")
}

#[test]
fn without_the_registry_minting_continues_to_the_end_of_the_lease() {
    let Some(registry) = Registry::start("a registry that is down", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT)];
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
    say(format!(
        "with the registry down, minted for {lasted:?}, then: {refusal}"
    ));
    assert!(
        lasted > registry.lease * 2 / 3 - Duration::from_millis(300),
        "{lasted:?}"
    );
    assert!(
        lasted < registry.lease + Duration::from_millis(500),
        "{lasted:?}"
    );
    assert!(
        refusal.message.starts_with("node lease ended at "),
        "{refusal}"
    );
    assert_refused(&refusal, "could not establish connection");
    let trouble: String = session.one("SELECT trouble FROM mint.leases");
    assert!(
        trouble.contains("could not establish connection"),
        "{trouble}"
    );
    // A member without any lease yet.
    assert_refused(
        &ben.connect("postgres").refusal(NEXT),
        "could not establish connection",
    );

    registry.server.start_again();
    registry.end_quarantine();
    let (id, after) = first_id(&ada, NEXT);
    say(format!("minted {after:?} after the registry came back"));
    assert!(after < Duration::from_secs(4), "{after:?}");
    ids.push(id);
    ids.push(session.one(NEXT));
    assert_unique([&ids]);
    let (id, _) = first_id(&ben, NEXT);
    assert!(!ids.contains(&id));
}

/// A registry that hangs accepts connections and does not answer.
#[test]
fn no_session_waits_for_ever_for_a_registry_that_hangs() {
    let Some(registry) = Registry::start("a registry that hangs", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    let first: i64 = session.one(NEXT);
    let frozen = registry.server.freeze();
    let refusals = [ben.connect("postgres").refusal(NEXT), {
        sleep(registry.lease);
        session.refusal(NEXT)
    }];
    drop(frozen);
    for refusal in refusals {
        assert_eq!(refusal.code, "55000", "{refusal}");
        assert!(refusal.after < Duration::from_secs(6), "{refusal}");
        say(format!("a registry that hangs: {refusal}"));
    }
    let (id, after) = first_id(&ada, NEXT);
    assert!(after < Duration::from_secs(4), "{after:?}");
    assert_ascending(&[first, id]);
    first_id(&ben, NEXT);
}

/// The registry commits its grants synchronously, even where the server is set to asynchronous commit.
#[test]
fn a_grant_outlives_a_crash_of_a_registry_that_commits_asynchronously() {
    let builder = Server::build("asynchronous commits")
        .conf("synchronous_commit = off")
        .conf("wal_writer_delay = '10s'");
    let Some(registry) = Registry::start_with(builder, 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
    let mut session = registry.connect();
    // An ordinary transaction is lost, as it was not committed synchronously.
    session.run("CREATE TABLE witness (); CHECKPOINT");
    let mut ids: Vec<i64> = vec![ada.connect("postgres").one(NEXT_5)];
    session.run("CREATE TABLE lost ()");
    registry.server.stop_immediate();
    registry.server.start_again();
    let mut session = registry.connect();
    let kept: bool = session.one("SELECT to_regclass('lost') IS NULL");
    assert!(
        kept,
        "nothing was lost by the crash, so the story shows nothing"
    );
    let holders: Vec<String> = session.column("SELECT holder FROM mint_registry.nodes WHERE held");
    assert_eq!(holders, ["ada"]);
    assert_refused(&ben.connect("postgres").refusal(NEXT_5), FORGOTTEN);
    ada.stop_immediate();
    registry.end_quarantine();
    ids.push(first_id(&ben, NEXT_5).0);
    assert_ascending(&ids);
}

/// The standby has not replayed the last grants and waits until they have ended. Ending that quarantine early grants a
/// node twice.
#[test]
fn a_promoted_registry_waits_until_grants_it_may_have_forgotten_end() {
    for early in [false, true] {
        let Some(mut registry) = Registry::start("a promoted registry", 5) else {
            return;
        };
        let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
        let standby = registry.server.standby("standby");
        registry.server.wait_for(&standby);
        standby.stop_receiving();
        let mut session = ada.connect("postgres");
        let mut ids: Vec<i64> = vec![session.one(NEXT_5)];
        let until: String = session.one("SELECT lease_until::text FROM mint.leases");
        // The member would report its lease.
        let frozen = ada.freeze();
        registry.server.stop_immediate();
        standby.promote();
        registry.move_to(standby);
        let known: i64 = registry
            .connect()
            .one("SELECT count(*) FROM mint_registry.leases");
        assert_eq!(
            known, 0,
            "the standby has replayed the grant, so nothing was lost"
        );

        let mut other = ben.connect("postgres");
        let refusal = other.refusal(NEXT_5);
        say(format!("a promoted registry: {refusal}"));
        assert_refused(&refusal, FORGOTTEN);
        if early {
            registry
                .connect()
                .run("SELECT mint.registry_end_quarantine()");
        }
        let (id, after) = first_id(&ben, NEXT_5);
        ids.push(id);
        let from: f64 = other.one(&format!(
            "SELECT extract(epoch FROM lease_from - '{until}'::timestamptz)::float8 FROM mint.leases"
        ));
        drop(frozen);
        say(format!(
            "granted after {after:?}, {from:.1} s after the forgotten lease"
        ));
        if early {
            assert!(
                from < 0.0,
                "ended early, the quarantine protected from nothing: {from}"
            );
        } else {
            assert!(
                from >= 0.0,
                "two servers have leases of a node at once: {from}"
            );
            assert!(after < QUARANTINE + Duration::from_secs(5), "{after:?}");
            assert_ascending(&ids);
        }
    }
}

/// A restored copy of the registry's files has the same identity and less history.
#[test]
fn a_registry_restored_from_its_files_is_told_to_wait_or_notices() {
    for told in [true, false] {
        // A lease that outlasts the change of servers on a busy machine: it must be renewed in quarantine.
        let Some(mut registry) = Registry::start("a restored registry", 10) else {
            return;
        };
        let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
        let copy = registry.server.copied("an old copy");
        let mut session = ada.connect("postgres");
        let mut ids: Vec<i64> = vec![session.one(NEXT_5)];
        if !told {
            // The registry's WAL position advances, and a renewal tells the member.
            registry.connect().run("SELECT pg_switch_wal()");
            let before = renewals(&mut session);
            ada.until("renewals", || renewals(&mut session) > before);
        }
        registry.server.stop_immediate();
        copy.start_again();
        if told {
            copy.connect("postgres")
                .run("SELECT mint.registry_begin_quarantine()");
        }
        registry.move_to(copy);
        if !told {
            assert!(!in_quarantine(&registry));
            // The registry notices by the member's request.
            registry
                .server
                .until("the registry notices", || in_quarantine(&registry));
        }
        let refusal = ben.connect("postgres").refusal(NEXT_5);
        assert_refused(&refusal, FORGOTTEN);
        ids.push(session.one(NEXT_5));
        // Once the lease is recorded, nothing is forgotten any more.
        let held = "SELECT EXISTS (SELECT FROM mint_registry.nodes WHERE holder = 'ada' AND held)";
        ada.until("the lease is recorded", || registry.connect().one(held));
        let frozen = ada.freeze();
        registry.end_quarantine();
        let (id, after) = first_id(&ben, NEXT_5);
        assert!(after < registry.takeover(), "{after:?}");
        ids.push(id);
        drop(frozen);
        assert_ascending(&ids);
        // The member tries its connection to the old registry first.
        ada.until("the lease is found lost", || {
            let refusal = session.refusal(NEXT_5);
            refusal.detail.contains("is leased by \"ben\" until")
        });
    }
}

/// pg_dump moves the registry to another server or to another database.
#[test]
fn a_registry_restored_from_a_dump_begins_in_quarantine() {
    let Some(mut registry) = Registry::start("a dumped registry", 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
    registry
        .connect()
        .run("SELECT mint.registry_reserve(13, 9, 9, 'static')");
    let dump = registry.server.dump("postgres", "postgres");
    let mut ids: Vec<i64> = vec![ada.connect("postgres").one(NEXT_5)];

    let other = Server::build("another server")
        .distinct()
        .start_beside(&registry.server);
    let mut session = other.connect("postgres");
    session.run("DROP EXTENSION pg_mint; CREATE ROLE member LOGIN");
    drop(session);
    other.restore("postgres", "postgres", &dump);
    registry.server.stop_fast();
    registry.move_to(other);
    assert_refused(&ben.connect("postgres").refusal(NEXT_5), FORGOTTEN);
    ada.stop_immediate();
    registry.end_quarantine();
    ids.push(first_id(&ben, NEXT_5).0);
    assert_ascending(&ids);
    let holders: Vec<String> = registry
        .connect()
        .column("SELECT holder FROM mint_registry.nodes WHERE held");
    assert_eq!(holders, ["ben", "static"]);

    // A registry that was dropped on the same server, and restored from the old dump, has forgotten grants as well.
    ada.start_again();
    let mut session = registry.connect();
    session.run("DROP EXTENSION pg_mint; DROP SCHEMA mint_registry CASCADE");
    registry.server.restore("postgres", "postgres", &dump);
    let refusal = ada.connect("postgres").refusal(NEXT_5);
    assert_refused(&refusal, FORGOTTEN);
}

#[test]
fn a_registry_that_may_not_see_the_latest_grants_refuses() {
    let Some(registry) = Registry::start("isolation", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = registry.connect();
    for level in ["repeatable read", "serializable"] {
        session.run(&format!(
            "ALTER ROLE member SET default_transaction_isolation = '{level}'"
        ));
        let refusal = ada.connect("postgres").refusal(NEXT);
        assert_refused(&refusal, "requires isolation level READ COMMITTED");
    }
    session.run("ALTER ROLE member SET default_transaction_isolation = 'read committed'");
    first_id(&ada, NEXT);
}

/// A grant whose commit waits for a missing synchronous standby is not returned.
#[test]
fn a_grant_waits_for_the_synchronous_standby() {
    let Some(registry) = Registry::start("synchronous standby", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = registry.connect();
    session.set_for_server("synchronous_standby_names", "'*'");
    let refusal = ada.connect("postgres").refusal(NEXT);
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    let _standby = registry.server.standby("standby");
    // A standby accepts connections before its walreceiver has one.
    registry.server.until("the standby is synchronous", || {
        session.one("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
    });
    let (_, after) = first_id(&ada, NEXT);
    // Two requests, each of which can take three seconds on a busy machine.
    assert!(after < Duration::from_secs(8), "{after:?}");
}

/// DROP EXTENSION under load gives errors and no crash, and minting continues when the extension is back.
#[test]
fn the_extension_is_dropped_under_load() {
    let Some(registry) = Registry::start("dropped", 5) else {
        return;
    };
    let members = [registry.auto("ada"), registry.auto("ben")];
    let (ids, refusals) = split(while_minting(&members[0], 2, NEXT, || {
        let (id, _) = first_id(&members[1], NEXT);
        assert!(id > 0);
        sleep(Duration::from_millis(500));
        let mut session = registry.connect();
        session.run("DROP EXTENSION pg_mint");
        sleep(registry.lease * 2);
        let refusal = members[1].connect("postgres").refusal(NEXT);
        say(format!("dropped on the registry: {refusal}"));
        assert_refused(
            &refusal,
            "extension \"pg_mint\" is not installed in the database",
        );
        // The tables are no part of the extension: the registry still knows who holds which node.
        session.run("CREATE EXTENSION pg_mint");
        let says = |words: &str| {
            members[1].until(words, || {
                let answer = members[1].connect("postgres").try_one::<i64>(NEXT);
                answer.is_err_and(|refusal| refusal.detail.contains(words))
            });
        };
        for member in &members {
            first_id(member, NEXT);
        }
        session.run("REVOKE INSERT ON mint_registry.nodes FROM member");
        says("permission denied for view nodes");
        sleep(registry.lease * 2);
        session.run("SELECT mint.registry_drop()");
        says("is not a registry of nodes");
        session.run(
            "SELECT mint.registry_create('5 s'), mint.registry_end_quarantine(); GRANT INSERT ON mint_registry.nodes TO member",
        );
        for member in &members {
            first_id(member, NEXT);
        }
        let mut session = members[0].connect("postgres");
        session.run("DROP EXTENSION pg_mint");
        sleep(registry.lease);
        session.run("CREATE EXTENSION pg_mint");
        first_id(&members[0], NEXT);
        sleep(Duration::from_millis(300));
    }));
    let codes = ["55000", "42883", "42704", "42P01", "XX000"];
    for refusal in &refusals {
        assert!(codes.contains(&refusal.code.as_str()), "{refusal}");
    }
    assert!(!refusals.is_empty());
    assert_unique(&ids);
    for server in members.iter().chain([&registry.server]) {
        let log = server.log();
        assert!(!log.contains("terminated by signal"), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}
