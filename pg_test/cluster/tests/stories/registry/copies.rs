//! Members that are paused, cloned, restored, promoted, or have a wrong clock. Each mints within its own lease or not
//! at all.

use mint_cluster::load::sessions::{split, while_minting};
use mint_cluster::registry::members::{AUTO, LEASE, assert_refused, first_id, refused_for};
use mint_cluster::{Registry, Server, assert_unique, or_skip};
use std::thread::sleep;
use std::time::Duration;

const NEXT: &str = "SELECT snowflake_next_id()";
const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 1000)";

/// Another member can have its node meanwhile. Its sessions continue with another one.
#[test]
fn a_paused_member_takes_another_node() {
    let registry = or_skip!(Registry::start("paused"));
    let ada = registry.auto("ada");
    let (first, _) = first_id(&ada, NEXT);
    let node = registry.connect().shard(first);
    let mut session = ada.connect("postgres");
    let mut bens = Vec::new();
    let (ids, refusals) = split(while_minting(&ada, 4, NEXT, || {
        sleep(Duration::from_millis(500));
        let frozen = ada.freeze();
        // All other nodes are kept out of the ring, and its own is free once it has rested.
        sleep(LEASE);
        registry.connect().run(&format!(
            "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
             SELECT 13, n, 'kept', 'infinity' FROM generate_series(4096, 8191) AS n WHERE n <> {node}"
        ));
        let ben = registry.auto("ben");
        bens = vec![first_id(&ben, NEXT).0];
        bens.extend(ben.column::<i64>(MANY));
        drop(frozen);
        sleep(Duration::from_secs(2));
        registry.connect().run(
            "UPDATE mint.registry_leases SET lease_until = '-infinity', lease_from = '-infinity' WHERE holder = 'kept'",
        );
        bens.extend(ben.column::<i64>(MANY));
        first_id(&ada, NEXT);
    }));
    assert_eq!(session.shard(bens[0]), node);
    for refusal in &refusals {
        assert_eq!(refusal.code, "55000", "{refusal}");
    }
    let last = first_id(&ada, NEXT).0;
    assert_ne!(session.shard(last), node);
    let mut all = ids;
    all.extend([bens, vec![first, last]]);
    assert_unique(&all);
}

/// The original is lost, and an old copy replaces it. The faults of a fleet have copies beside their originals.
#[test]
fn an_old_copy_gets_another_node_at_once() {
    let registry = or_skip!(Registry::start("an old copy"));
    let ada = registry.auto("ada");
    let mut ids = vec![first_id(&ada, NEXT).0];
    let old = ada.copied("an old copy");
    ids.extend(ada.column::<i64>(MANY));
    ada.stop_immediate();
    old.start_again();
    let (id, after) = first_id(&old, NEXT);
    assert!(after < Duration::from_secs(4), "{after:?}");
    let mut witness = registry.connect();
    assert_ne!(witness.shard(id), witness.shard(ids[0]));
    ids.push(id);
    assert_unique([&ids]);
}

#[test]
fn a_clock_that_is_far_off_is_refused_with_the_difference() {
    let registry = or_skip!(Registry::start("clocks far off"));
    let ada = registry.admit(Server::build_with_clock("ada").conf(AUTO));
    for (offset, words) in [
        ("+3600", "3600 s ahead of the clock of the registry"),
        ("-3600", "3600 s behind the clock of the registry"),
        ("+3", "s ahead of the clock of the registry"),
    ] {
        ada.set_clock(offset);
        let refusal = refused_for(&ada, NEXT, words);
        assert_refused(&refusal, "(maximum 2.5 s)");
        refusal.assert_hint("Correct the clock");
    }
    ada.set_clock("+2");
    first_id(&ada, NEXT);
}
