//! What tells a server with an assigned node from others: what its file says, and neither host name nor path. Where the file is
//! lost or old, an operator says that the node has moved.

use super::super::shard;
use super::assigned_server::{
    ASSIGNED, COPY, MOVED, NEXT, assert_mints_as, assert_mints_nothing, assert_refused_with, built,
    start, wait_for_renewals,
};
use mint_cluster::server::machine::namespaces::are_permitted;
use mint_cluster::{Server, assert_unique};
use std::time::Duration;

const FILE: &str = "pg_mint.assigned";

fn read(server: &Server) -> Vec<u8> {
    std::fs::read(server.file(FILE)).expect("the server's file")
}

/// Writes in place, which keeps the owner.
fn write(server: &Server, content: &[u8]) {
    std::fs::write(server.file(FILE), content).expect("the file can be written");
}

#[test]
fn another_host_name_at_a_start_decides_nothing() {
    let story = "another host name";
    if !are_permitted(story) {
        return;
    }
    let Some((registry, mut ada, node)) = start(story, 5, built()) else {
        return;
    };
    let mut ids = Vec::new();
    for name in [Some("f3a9c1d2e4b5"), None, Some("another"), None] {
        ada.stop_fast();
        ada.set_host_name(name);
        ada.start_again();
        ids.push(assert_mints_as(&ada, node));
    }
    // While the registry is away, too, a start under another name loses nothing.
    registry.server.stop_fast();
    for name in [Some("f3a9c1d2e4b5"), None] {
        ada.stop_fast();
        ada.set_host_name(name);
        ada.start_again();
        // Under the other name it can be a copy, by what it knows.
        let _ = ada.connect("postgres").try_one::<i64>(NEXT);
    }
    ids.push(assert_mints_as(&ada, node));
    registry.server.start_again();
    registry.end_quarantine();
    let mut session = ada.connect("postgres");
    ada.until("a lease again", || {
        let _ = session.try_one::<i64>(NEXT);
        session.one("SELECT bool_and(held AND trouble IS NULL) FROM mint.leases")
    });
    ids.push(assert_mints_as(&ada, node));
    assert_unique([&ids]);
}

#[test]
fn a_file_that_is_not_understood_is_kept() {
    let Some((_registry, ada, node)) = start("a file of another kind", 5, built()) else {
        return;
    };
    let mut ids = Vec::new();
    ada.stop_fast();
    let good = read(&ada);
    for other in [
        &b"{\"version\": 99}"[..],
        b"\xff\xfe\x00",
        &good[..good.len() / 2],
    ] {
        write(&ada, other);
        ada.start_again();
        assert_mints_nothing(&ada, Duration::from_secs(7));
        assert_eq!(read(&ada), other, "the file was overwritten");
        ada.stop_fast();
        assert_eq!(read(&ada), other, "the file was overwritten at the end");
    }
    write(&ada, &good);
    ada.start_again();
    ids.push(assert_mints_as(&ada, node));
    assert_unique([&ids]);
}

#[test]
fn a_server_whose_file_is_lost_gets_its_node_by_command() {
    let Some((registry, ada, node)) = start("a lost file", 5, built()) else {
        return;
    };
    let mut ids = vec![assert_mints_as(&ada, node)];
    let mut admin = registry.connect();
    for stops_clean in [true, false] {
        if stops_clean {
            ada.stop_fast();
        } else {
            ada.stop_immediate();
        }
        std::fs::remove_file(ada.file(FILE)).expect("the file can be removed");
        ada.start_again();
        assert_mints_nothing(&ada, registry.takeover());
        assert_eq!(admin.one::<i64>(MOVED), node);
        ids.push(assert_mints_as(&ada, node));
        wait_for_renewals(&ada, 1);
        // The command was for one server.
        ada.stop_immediate();
        ada.start_again();
        ids.push(assert_mints_as(&ada, node));
    }
    assert_unique([&ids]);
}

/// As after a restore in place, or by pg_rewind.
#[test]
fn a_server_with_an_older_file_gets_its_node_by_command() {
    let Some((registry, ada, node)) = start("an older file", 5, built()) else {
        return;
    };
    let old = read(&ada);
    wait_for_renewals(&ada, 3);
    ada.stop_immediate();
    write(&ada, &old);
    ada.start_again();
    assert_refused_with(&ada, COPY);
    // Nor without the registry, which has told it so.
    registry.server.stop_fast();
    assert_mints_nothing(&ada, Duration::from_secs(8));
    ada.restart();
    assert_mints_nothing(&ada, Duration::from_secs(4));
    registry.server.start_again();
    registry.end_quarantine();
    assert_eq!(registry.connect().one::<i64>(MOVED), node);
    assert_mints_as(&ada, node);
}

/// The old server lives on, paused: the node is not the new one's before the old lease has ended.
#[test]
fn a_promoted_standby_gets_the_node_by_command_when_the_lease_has_ended() {
    let Some((registry, ada, node)) = start("a promoted standby", 10, built()) else {
        return;
    };
    let standby = ada.standby("a standby");
    wait_for_renewals(&ada, 2);
    let mut ids: Vec<i64> = vec![assert_mints_as(&ada, node)];
    ada.wait_for(&standby);
    let frozen = ada.freeze();
    standby.promote();
    assert_mints_nothing(&standby, Duration::from_secs(2));
    let mut admin = registry.connect();
    let until: String = admin
        .one("SELECT lease_until::text FROM mint_registry.nodes WHERE assigned AND holder = 'ada'");
    assert_eq!(admin.one::<i64>(MOVED), node);
    ids.push(assert_mints_as(&standby, node));
    let is_after = format!(
        "SELECT snowflake_time({}) >= '{until}'::timestamptz",
        ids[ids.len() - 1]
    );
    assert!(admin.one::<bool>(&is_after), "within the old lease");
    wait_for_renewals(&standby, 1);
    drop(frozen);
    assert_mints_nothing(&ada, Duration::from_secs(8));
    ids.push(assert_mints_as(&standby, node));
    assert_unique([&ids]);
}

/// A server that only has the name is not the one.
#[test]
fn another_server_of_the_name_gets_nothing() {
    let Some((registry, ada, node)) = start("a namesake", 5, built()) else {
        return;
    };
    let other = registry.admit(Server::build("ada").conf(ASSIGNED));
    assert_mints_nothing(&other, registry.takeover());
    ada.stop_immediate();
    assert_mints_nothing(&other, registry.takeover());
    ada.start_again();
    let id = assert_mints_as(&ada, node);
    assert_eq!(shard(&mut other.connect("postgres"), id), node);
}
