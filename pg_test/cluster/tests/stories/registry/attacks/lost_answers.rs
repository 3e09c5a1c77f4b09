//! Answers of the registry that do not arrive as they were sent, after it has written what they say. While a lease lasts, they
//! cost no id: neither with any node, nor with a number, nor with an assigned one.

use super::assigned_server::{
    ASSIGN, NEXT, ask_again, assert_mints_as, built, errors, start, wait_for_renewals,
    while_minting,
};
use mint_cluster::registry::members::first_id;
use mint_cluster::registry::proxy::{Passing, Proxy, Spoiling};
use mint_cluster::{Registry, Server, assert_unique, say};
use std::thread::sleep;
use std::time::Duration;

/// Leases that outlast some requests without an answer, and so long that one which is given up is missed.
const LEASE: u64 = 20;

/// Leads a member to its registry by a proxy of its own.
fn led(registry: &Registry, member: &Server) -> Proxy {
    let proxy = Proxy::start(registry.socket());
    proxy.lead(member);
    proxy
}

#[test]
fn a_spoiled_answer_to_a_renewal_costs_no_id() {
    let Some(registry) = Registry::start("spoiled renewals", LEASE) else {
        return;
    };
    registry.connect().run(ASSIGN);
    let members = [
        registry.admit(built()),
        registry.auto("ben"),
        registry.admit(Server::build("eve").conf("pg_mint.node = '5'")),
    ];
    let proxies = [0, 1, 2].map(|number| led(&registry, &members[number]));
    for member in &members {
        first_id(member, NEXT);
    }
    let servers = [0, 1, 2].map(|number| &members[number]);
    let (answers, gaps) = while_minting(&servers, || {
        for spoiling in Spoiling::ALL {
            proxies.iter().for_each(|proxy| proxy.spoil(spoiling));
            members.iter().for_each(ask_again);
            registry.server.until("an answer of each is spoiled", || {
                proxies.iter().all(Proxy::has_spoiled)
            });
            // A member that gets no answer gives up, and asks again. Meanwhile the registry's end of the lease is later than
            // the one that the member knows.
            let gives_up = [Spoiling::Lost, Spoiling::Late].contains(&spoiling);
            let time = if gives_up {
                registry.lease
            } else {
                registry.lease / 8
            };
            sleep(time);
        }
    });
    say(format!("longest times without ids: {gaps:?}"));
    assert_eq!(errors(&answers), "", "{gaps:?}");
    assert!(
        gaps.iter().all(|&gap| gap < Duration::from_secs(2)),
        "{gaps:?}"
    );
    assert_unique(&answers.ids);
}

/// An error of the registry ends what a server mints without a lease, and not the lease that it has.
#[test]
fn an_error_after_a_silence_costs_no_id_of_a_lease() {
    let Some((registry, ada, _)) = start("an error after a silence", 12, built()) else {
        return;
    };
    let proxy = led(&registry, &ada);
    wait_for_renewals(&ada, 1);
    let mut admin = registry.connect();
    let (answers, gaps) = while_minting(&[&ada], || {
        proxy.let_pass(Passing::Nothing);
        ada.until("it has no answer", || ada.log().contains("without a lease"));
        admin.run("ALTER ROLE member CONNECTION LIMIT 0");
        proxy.let_pass(Passing::All);
        proxy.cut();
        sleep(Duration::from_millis(2_500));
        admin.run("ALTER ROLE member CONNECTION LIMIT -1");
        wait_for_renewals(&ada, 2);
    });
    let log = ada.log();
    assert!(log.contains("too many connections for role"), "{log}");
    assert_eq!(errors(&answers), "", "{gaps:?}");
    assert!(gaps[0] < Duration::from_secs(1), "{gaps:?}");
    assert_unique(&answers.ids);
}

/// The registry has leased the node, and the server does not know.
#[test]
fn a_spoiled_answer_to_the_first_request_is_asked_again() {
    let Some(registry) = Registry::start("spoiled grants", LEASE) else {
        return;
    };
    let node = registry.connect().one(ASSIGN);
    let ada = registry.admit(built());
    let proxy = led(&registry, &ada);
    for spoiling in Spoiling::ALL {
        proxy.spoil(spoiling);
        let (id, after) = first_id(&ada, NEXT);
        say(format!("{spoiling:?}: the first id after {after:?}"));
        assert!(proxy.has_spoiled(), "{spoiling:?}");
        // One request without an answer, and the next one.
        assert!(after < Duration::from_secs(7), "{spoiling:?}: {after:?}");
        assert!(assert_mints_as(&ada, node) > id);
        // Without an answer it can mint without a lease, and then has none to release.
        let mut session = ada.connect("postgres");
        ada.until("it has a lease", || {
            session.one("SELECT bool_and(held AND trouble IS NULL) FROM mint.leases")
        });
        drop(session);
        ada.stop_fast();
        ada.start_again();
    }
}

/// The server ends after the registry has committed a grant or a renewal of which it does not know. It waits at most until
/// the end of that lease.
#[test]
fn a_crash_between_a_request_and_its_answer_is_survived() {
    let Some(registry) = Registry::start("crashes before an answer", 5) else {
        return;
    };
    let node = registry.connect().one(ASSIGN);
    let ada = registry.admit(built());
    let proxy = led(&registry, &ada);
    let mut ids = Vec::new();
    for round in 0..4 {
        if round > 0 {
            ids.push(assert_mints_as(&ada, node));
        }
        proxy.spoil(Spoiling::Lost);
        ask_again(&ada);
        let mut session = ada.connect("postgres");
        ada.until("an answer is lost", || {
            let _ = session.try_run("SET pg_mint.max_wait = '100ms'");
            let _ = session.try_one::<i64>(NEXT);
            proxy.has_spoiled()
        });
        drop(session);
        ada.stop_immediate();
        ada.start_again();
        let (id, after) = first_id(&ada, NEXT);
        assert!(after < registry.takeover(), "{after:?}");
        ids.push(id);
    }
    assert_unique([&ids]);
}
