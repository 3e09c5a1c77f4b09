//! What must not take ids from a server with an assigned node: its other settings, a full disk, and an outage within the limit.

use super::super::shard;
use super::assigned_server::{
    ASSIGN, NEXT, assert_mints_as, assert_mints_nothing, built, errors, set, start, while_minting,
};
use mint_cluster::registry::members::first_id;
use mint_cluster::{Registry, assert_unique, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The node is listed so that it can be passed as a shard, among others.
#[test]
fn listing_the_assigned_node_is_without_effect() {
    let Some((registry, ada, node)) = start("a listed node", 5, built()) else {
        return;
    };
    for list in [format!("5, {node}"), format!("5, 8000-{node}")] {
        set(&ada, "pg_mint.nodes", &format!("'{list}'"));
        let mut session = ada.connect("postgres");
        session.one::<i64>("SELECT snowflake_next_id(5)");
        let mut fives: Vec<i64> = Vec::new();
        let (answers, gaps) = while_minting(&[&ada], || {
            let begun = Instant::now();
            while begun.elapsed() < registry.lease * 2 {
                fives.push(session.one("SELECT snowflake_next_id(5)"));
                fives.push(session.one(&format!("SELECT snowflake_next_id({node})")));
                sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(errors(&answers), "", "{list}: {gaps:?}");
        assert_eq!(shard(&mut session, answers.ids[0][0]), node);
        assert_unique(answers.ids.iter().chain([&fives]));
    }
}

#[test]
fn a_change_from_any_node_to_the_assigned_one_costs_no_call() {
    let Some(registry) = Registry::start("a change to an assigned node", 5) else {
        return;
    };
    let node: i64 = registry.connect().one(ASSIGN);
    let ada = registry.auto("ada");
    first_id(&ada, NEXT);
    let (answers, _) = while_minting(&[&ada], || {
        for kind in ["'assigned'", "'auto'", "'assigned'"] {
            set(&ada, "pg_mint.node", kind);
            sleep(Duration::from_secs(2));
        }
    });
    assert_eq!(errors(&answers), "");
    assert_unique(&answers.ids);
    assert_mints_as(&ada, node);
}

/// Counted from the last lease, not from what was written some time ago.
#[test]
fn an_outage_within_the_limit_costs_nothing_and_ends_at_the_limit() {
    const LIMIT: Duration = Duration::from_secs(15);
    let ada = built().conf("pg_mint.registry_max_outage = '15s'");
    let Some((registry, ada, node)) = start("a short limit", 5, ada) else {
        return;
    };
    // Longer than the limit since the first lease.
    sleep(LIMIT + Duration::from_secs(2));
    registry.server.stop_immediate();
    let begun = Instant::now();
    let mut session = ada.connect("postgres");
    let mut last = Duration::ZERO;
    let mut refused = 0;
    while begun.elapsed() < LIMIT + Duration::from_secs(8) {
        match session.try_one::<i64>(NEXT) {
            Ok(_) => last = begun.elapsed(),
            Err(_) => refused += usize::from(begun.elapsed() < LIMIT - registry.lease),
        }
        sleep(Duration::from_millis(50));
    }
    say(format!("the last id {last:?} after the registry was gone"));
    assert_eq!(refused, 0, "errors within the limit");
    assert!(last > LIMIT - registry.lease / 2, "{last:?}");
    assert!(
        last < LIMIT + registry.lease + Duration::from_secs(1),
        "{last:?}"
    );
    assert_mints_nothing(&ada, Duration::from_secs(2));
    registry.server.start_again();
    registry.end_quarantine();
    assert_mints_as(&ada, node);
}

/// The registry grants and renews leases, which the server cannot write down.
#[test]
fn a_full_disk_costs_no_id_while_the_registry_renews() {
    let Some((_registry, ada, node)) = start("a full disk", 5, built().on_disk()) else {
        return;
    };
    if !ada.has_disk() {
        return;
    }
    ada.connect("postgres").run("CHECKPOINT");
    let (answers, gaps) = while_minting(&[&ada], || {
        ada.fill_disk();
        // Longer than the time for which what was written last counts as new.
        sleep(Duration::from_secs(72));
        ada.free_disk();
        sleep(Duration::from_secs(2));
    });
    assert_eq!(errors(&answers), "", "{gaps:?}");
    assert_unique(&answers.ids);
    ada.restart();
    assert_mints_as(&ada, node);
}
