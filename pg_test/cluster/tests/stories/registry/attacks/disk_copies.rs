//! Copies of the disk of a server with an assigned node: same path, same inodes, same host name. One of the two mints.

use super::assigned_server::{
    COPY, MOVED, assert_mints_as, assert_mints_nothing, assert_operators_know, assert_refused_with,
    built, start, wait_for_renewals, while_minting,
};
use mint_cluster::registry::members::Registry;
use mint_cluster::registry::proxy::Proxy;
use mint_cluster::server::machine::namespaces::are_permitted;
use mint_cluster::{Server, assert_unique};
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::Duration;

/// Returns a copy of the server's disk, on which everything has the same number.
fn twin_of(ada: &Server) -> Server {
    let twin = ada.twin("a copy");
    let number = |server: &Server| std::fs::metadata(server.file("PG_VERSION")).unwrap().ino();
    assert!(!ada.has_disk() || number(ada) == number(&twin));
    twin
}

fn restart(registry: &Registry) {
    registry.server.stop_fast();
    sleep(Duration::from_secs(1));
    registry.server.start_again();
}

/// Both reach the registry, which is restarted: in its quarantine, too, only the one mints that held the lease.
#[test]
fn a_copy_beside_its_original_mints_nothing_whatever_the_registry_does() {
    let Some((registry, ada, _)) = start("a copied disk", 5, built().on_disk()) else {
        return;
    };
    let twin = twin_of(&ada);
    twin.start_again();
    let (answers, gaps) = while_minting(&[&ada, &twin], || {
        sleep(Duration::from_secs(3));
        restart(&registry);
        sleep(Duration::from_secs(9));
        registry.end_quarantine();
        sleep(Duration::from_secs(6));
    });
    assert_unique(&answers.ids);
    assert_eq!(answers.ids[1].len(), 0, "ids of the copy");
    assert!(gaps[0] < Duration::from_secs(2), "{gaps:?}");
    assert_refused_with(&twin, COPY);
    assert_operators_know(&registry);
}

/// The copy is started when its original is down, and continues as the server. The original comes back.
#[test]
fn the_first_that_renews_keeps_the_node() {
    let Some((registry, ada, node)) = start("a copy goes on", 5, built().on_disk()) else {
        return;
    };
    ada.stop_fast();
    let twin = twin_of(&ada);
    twin.start_again();
    let mut ids = vec![assert_mints_as(&twin, node)];
    wait_for_renewals(&twin, 2);
    ada.start_again();
    assert_refused_with(&ada, COPY);
    assert_operators_know(&registry);
    ids.push(assert_mints_as(&twin, node));
    // It does not get its turn either, when the other one is gone.
    twin.stop_fast();
    assert_mints_nothing(&ada, registry.takeover());
    // An operator says which one it is.
    let mut admin = registry.connect();
    assert_eq!(admin.one::<i64>(MOVED), node);
    ids.push(assert_mints_as(&ada, node));
    twin.start_again();
    assert_mints_nothing(&twin, Duration::from_secs(8));
    ids.push(assert_mints_as(&ada, node));
    assert_unique([&ids]);
}

/// A copy that cannot reach the registry does not know of its original. Where that must not mint, no outage is allowed.
#[test]
fn a_copy_that_is_cut_off_mints_nothing_where_no_outage_is_allowed() {
    if !are_permitted("a copy that is cut off") {
        return;
    }
    let ada = built().on_disk().conf("pg_mint.registry_max_outage = '0'");
    let Some((registry, ada, node)) = start("a copy that is cut off", 5, ada) else {
        return;
    };
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ada);
    wait_for_renewals(&ada, 1);
    let mut twin = twin_of(&ada);
    twin.isolate(true);
    twin.start_again();
    let (answers, gaps) = while_minting(&[&ada, &twin], || sleep(Duration::from_secs(8)));
    assert_eq!(answers.ids[1].len(), 0, "ids of the copy");
    assert!(gaps[0] < Duration::from_secs(2), "{gaps:?}");
    // It hears what it is at its first contact, also in a quarantine.
    twin.stop_fast();
    twin.isolate(false);
    registry
        .connect()
        .run("SELECT mint.registry_begin_quarantine()");
    twin.start_again();
    assert_refused_with(&twin, COPY);
    assert_mints_as(&ada, node);
    assert_operators_know(&registry);
}
