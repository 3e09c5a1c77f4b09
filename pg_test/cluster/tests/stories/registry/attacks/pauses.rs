//! Messages that are late, and a server with an assigned node that is paused while it waits for one. A copy has the node
//! meanwhile, or another role asks for it.

use super::assigned_server::{
    NEXT, ask_again, assert_mints_as, built, start, wait_for_renewals, while_minting,
};
use mint_cluster::assert_unique;
use mint_cluster::registry::members::first_id;
use mint_cluster::registry::proxy::{Passing, Proxy};
use std::thread::sleep;
use std::time::Duration;

/// A server that did not run knows nothing of the registry's silence: its copy might have been answered.
#[test]
fn a_pause_within_a_request_is_no_silence_of_the_registry() {
    let Some((registry, ada, _)) = start("a pause within a request", 5, built()) else {
        return;
    };
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ada);
    wait_for_renewals(&ada, 1);
    let twin = ada.twin("a copy");
    let (answers, _) = while_minting(&[&ada, &twin], || {
        proxy.let_pass(Passing::Nothing);
        ask_again(&ada);
        sleep(Duration::from_millis(1_500));
        let frozen = ada.freeze();
        proxy.let_pass(Passing::All);
        twin.start_again();
        first_id(&twin, NEXT);
        sleep(Duration::from_secs(1));
        drop(frozen);
        sleep(Duration::from_secs(4));
    });
    assert!(!answers.ids[1].is_empty(), "the copy gets no turn");
    assert_unique(&answers.ids);
}

/// After a pause the old connection to the registry can be half open: only one that was made since tells that the registry is
/// silent.
#[test]
fn a_half_open_connection_is_no_silence_of_the_registry() {
    let Some((registry, ada, _)) = start("a half-open connection", 5, built()) else {
        return;
    };
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ada);
    wait_for_renewals(&ada, 1);
    let twin = ada.twin("a copy");
    let (answers, _) = while_minting(&[&ada, &twin], || {
        let frozen = ada.freeze();
        proxy.silence();
        twin.start_again();
        first_id(&twin, NEXT);
        sleep(Duration::from_secs(1));
        drop(frozen);
        sleep(Duration::from_secs(6));
    });
    assert!(!answers.ids[1].is_empty(), "the copy gets no turn");
    assert_unique(&answers.ids);
    let log = ada.log();
    assert!(!log.contains("without a lease"), "{log}");
}

/// A release that arrives once more ends no later lease of the same server.
#[test]
fn a_late_release_ends_no_later_lease() {
    let Some((registry, ada, node)) = start("a late release", 5, built()) else {
        return;
    };
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ada);
    wait_for_renewals(&ada, 1);
    ada.connect("postgres").run("SELECT mint.release_leases()");
    ada.until("a release", || proxy.last_request().contains("release"));
    let release = proxy.last_request();
    assert_mints_as(&ada, node);
    let mut member = registry.server.connect_as("member", "postgres");
    let answer: String = member.one(&format!("SELECT mint.registry_request({release})::text"));
    assert!(answer.contains("\"released\": false"), "{answer}");
    let lasts = format!(
        "SELECT lease_until > clock_timestamp() FROM mint_registry.nodes WHERE first_node = {node}"
    );
    assert!(registry.connect().one::<bool>(&lasts));
    wait_for_renewals(&ada, 1);
    assert_mints_as(&ada, node);
}

/// Who has seen what a server shows the registry does not get its node by another role.
#[test]
fn a_proof_counts_for_its_role_alone() {
    let Some((registry, ada, node)) = start("a proof of another role", 5, built()) else {
        return;
    };
    let proxy = Proxy::start(registry.socket());
    proxy.lead(&ada);
    wait_for_renewals(&ada, 2);
    let seen = proxy.last_request();
    registry
        .connect()
        .run("CREATE ROLE evil LOGIN; GRANT INSERT ON mint_registry.nodes TO evil; GRANT USAGE ON SCHEMA mint_registry TO evil");
    let mut evil = registry.server.connect_as("evil", "postgres");
    let clock = "to_jsonb((extract(epoch FROM clock_timestamp()) * 1000000)::bigint)";
    let request = format!("jsonb_set({seen}, '{{clock}}', {clock})");
    let answer: String = evil.one(&format!("SELECT mint.registry_request({request})::text"));
    assert!(answer.contains("connects as another role"), "{answer}");
    wait_for_renewals(&ada, 2);
    assert_mints_as(&ada, node);
    // Also when the server is gone.
    ada.stop_fast();
    registry.wait_for_leases();
    let answer: String = evil.one(&format!("SELECT mint.registry_request({request})::text"));
    assert!(answer.contains("connects as another role"), "{answer}");
}
