//! Stops of a registry that an operator wants.

use mint_cluster::load::sessions::{assert_sound, split, while_minting};
use mint_cluster::registry::members::{first_id, request_sql};
use mint_cluster::{Registry, Server, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";

/// A smart shutdown waits for all sessions; those of members end by themselves. No id is lost while their leases last.
#[test]
fn a_smart_shutdown_of_a_registry_ends_while_members_live() {
    let registry = or_skip!(Registry::start("smart shutdown"));
    let members = ["ada", "ben", "eve"].map(|name| registry.auto(name));
    for member in &members {
        first_id(member, NEXT);
    }
    let mut took = Duration::ZERO;
    let records = while_minting(&members[0], 2, NEXT, || {
        sleep(Duration::from_secs(1));
        let begun = Instant::now();
        registry.server.stop_smart();
        took = begun.elapsed();
        sleep(Duration::from_secs(12));
        registry.server.start_again();
        sleep(Duration::from_secs(12));
    });
    assert!(took < Duration::from_secs(4), "{took:?}");
    let (ids, refusals) = split(records);
    assert!(refusals.is_empty(), "{}", refusals[0]);
    assert_sound(&ids);
}

/// A session that requests more often than it looks whether the server stops ends, too.
#[test]
fn a_smart_shutdown_ends_while_a_session_requests_again_and_again() {
    let registry = or_skip!(Registry::start("smart shutdown under requests"));
    let mut visitor = registry.server.connect_as("member", "postgres");
    let request = format!("SELECT {}", request_sql(13, r#"{"grant": 1}"#));
    let begun = Instant::now();
    let requests = std::thread::spawn(move || {
        while begun.elapsed() < Duration::from_secs(20) {
            if visitor
                .try_run(&request)
                .is_err_and(|refusal| refusal.is_loss())
            {
                break;
            }
            sleep(Duration::from_millis(100));
        }
    });
    sleep(Duration::from_millis(500));
    registry.server.stop_smart();
    let took = begun.elapsed();
    requests.join().expect("a session");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// A smart shutdown of a server that hands out segments of its sequences ends, too.
#[test]
fn a_smart_shutdown_of_a_central_server_of_sequences_ends() {
    let registry = or_skip!(Registry::start("smart shutdown of sequences"));
    let create = "SELECT segment_create('orders')";
    let mut central = registry.connect();
    central.run(&format!(
        "{create}; GRANT USAGE ON SEQUENCE orders TO member"
    ));
    drop(central);
    let ada = registry.admit(Server::build("ada"));
    let mut session = ada.connect("postgres");
    session.run("SELECT segment_create('orders', source => 'registry')");
    session.one::<i64>("SELECT segment_next('orders')");
    let begun = Instant::now();
    registry.server.stop_smart();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}");
}
