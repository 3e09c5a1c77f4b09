//! Restarts of registries: planned ones, smart ones, and one that a backup lacks.

use super::assigned_server::{
    ASSIGN, NEXT, assert_mints_as, built, errors, start, wait_for_renewals, while_minting,
};
use mint_cluster::registry::members::first_id;
use mint_cluster::{Registry, Server, assert_unique, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The nightly backup, a restart for a minor update, and a restore: both registries have begun one quarantine since.
#[test]
fn an_older_registry_that_lacks_one_restart_renews_all_leases() {
    let Some(mut registry) = Registry::start("a backup that lacks a restart", 10) else {
        return;
    };
    registry.connect().run(ASSIGN);
    let members = [
        registry.admit(built()),
        registry.auto("ben"),
        registry.admit(Server::build("eve").conf("pg_mint.node = '5'")),
    ];
    for member in &members {
        first_id(member, NEXT);
    }
    members
        .iter()
        .for_each(|member| wait_for_renewals(member, 1));
    let copy = registry.server.copied("the nightly backup");
    registry.server.restart();
    members
        .iter()
        .for_each(|member| wait_for_renewals(member, 2));
    let servers = [0, 1, 2].map(|number| &members[number]);
    let (answers, gaps) = while_minting(&servers, || {
        registry.server.stop_immediate();
        copy.start_again();
        registry.move_to(copy);
        sleep(registry.lease * 2);
    });
    say(format!("longest times without ids: {gaps:?}"));
    assert_eq!(errors(&answers), "", "{gaps:?}");
    assert_unique(&answers.ids);
}

#[test]
fn a_smart_shutdown_of_a_registry_ends_within_seconds() {
    let Some((registry, ada, node)) = start("a smart shutdown", 30, built()) else {
        return;
    };
    let ben = registry.auto("ben");
    first_id(&ben, NEXT);
    let begun = Instant::now();
    registry.server.stop_smart();
    assert!(
        begun.elapsed() < Duration::from_secs(12),
        "{:?}",
        begun.elapsed()
    );
    // Their leases last.
    first_id(&ben, NEXT);
    assert_mints_as(&ada, node);
    registry.server.start_again();
    wait_for_renewals(&ada, 1);
    wait_for_renewals(&ben, 1);
}

/// Makes the registry's server its own member.
fn start_own(story: &str, node: &str) -> Option<Registry> {
    let registry = Registry::start_with(
        Server::build(story)
            .conf("cluster_name = 'ada'")
            .conf(&format!("pg_mint.node = '{node}'")),
        5,
    )?;
    let mut session = registry.connect();
    session.run("CREATE EXTENSION dblink");
    session.run(ASSIGN);
    registry.create_server(&mut session, "registry", "postgres");
    session.set_for_server("pg_mint.registry", "'registry'");
    drop(session);
    first_id(&registry.server, NEXT);
    Some(registry)
}

#[test]
fn a_planned_restart_of_a_server_that_is_its_own_registry_costs_no_quarantine() {
    for node in ["auto", "5", "assigned"] {
        let Some(registry) = start_own("its own registry", node) else {
            return;
        };
        let mut session = registry.connect();
        let health: Vec<String> = session.column("SELECT h::text FROM mint.health() AS h");
        let says = health.iter().any(|row| row.contains("restart"));
        let mut ids: Vec<i64> = session.column(super::assigned_server::MANY);
        let prepare = "SELECT to_regproc('mint.registry_prepare_restart') IS NOT NULL";
        if session.one::<bool>(prepare) {
            session.run("SELECT mint.registry_prepare_restart()");
        }
        drop(session);
        registry.server.restart();
        let (id, after) = first_id(&registry.server, NEXT);
        ids.push(id);
        ids.extend(
            registry
                .connect()
                .column::<i64>(super::assigned_server::MANY),
        );
        assert_unique([&ids]);
        say(format!("{node}: the first id after {after:?}"));
        // A chosen node is another one; the same one waits for the end of its own last lease, as after a crash.
        let longest = match node {
            "auto" => Duration::from_secs(2),
            _ => registry.takeover(),
        };
        assert!(after < longest, "{node}: {after:?}");
        assert!(says, "mint.health() says nothing of restarts: {health:?}");
    }
}

/// A restart that nobody has prepared is a quarantine, with or without earlier preparations.
#[test]
fn a_preparation_is_for_one_restart() {
    let Some((registry, ada, node)) = start("a restart that was not prepared", 5, built()) else {
        return;
    };
    let mut admin = registry.connect();
    let prepare = "SELECT to_regproc('mint.registry_prepare_restart') IS NOT NULL";
    if admin.one::<bool>(prepare) {
        admin.run("SELECT mint.registry_prepare_restart()");
        drop(admin);
        registry.server.restart();
        let ben = registry.auto("ben");
        let (_, after) = first_id(&ben, NEXT);
        assert!(after < Duration::from_secs(5), "{after:?}");
    }
    registry.server.stop_immediate();
    registry.server.start_again();
    let zoe = registry.auto("zoe");
    let refusal = zoe.connect("postgres").refusal(NEXT);
    assert!(refusal.to_string().contains("in quarantine"), "{refusal}");
    assert_mints_as(&ada, node);
}
