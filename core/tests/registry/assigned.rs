//! Assigned nodes: who is let in, and when.

use mint_core::registry::assigned_rules::{AgreedKey, Proof, Standing, Stranger, Tenancy, Tenant};
use mint_core::{Denial, Identity, LeaseTerm, Micros, Registry};

const SECOND: Micros = 1_000_000;
const NOW: Micros = 1_000 * SECOND;

fn key(counter: i64) -> AgreedKey {
    AgreedKey {
        counter,
        number: counter * 100,
    }
}

fn proof(keys: &[i64], next: i64, instance: i64) -> Proof {
    Proof {
        origin: 1,
        keys: keys.iter().copied().map(key).collect(),
        next: Some(key(next)),
        instance,
    }
}

fn taken(counter: i64) -> Tenancy {
    Tenancy::Taken(Tenant {
        origin: 1,
        key: key(counter),
        instance: Some(9),
    })
}

fn term(from: Micros, until: Micros) -> LeaseTerm {
    LeaseTerm {
        from: NOW + from * SECOND,
        until: NOW + until * SECOND,
    }
}

#[test]
fn the_last_keys_are_known_and_those_of_a_copy_are_not() {
    let running = Ok(Standing::Running);
    for (keys, next, known) in [
        (&[3, 4, 5][..], 6, running),
        // The answer was lost, or the request arrived twice.
        (&[3, 4, 5, 6], 6, running),
        (&[3, 4], 5, running),
        // The registry has lost its last commits; more of them than the server keeps.
        (&[5, 6, 7], 8, running),
        (&[6, 7, 8], 9, running),
        // A copy of an earlier time.
        (&[2, 3], 4, Err(Stranger::Copy)),
        (&[], 1, Err(Stranger::Copy)),
    ] {
        let checked = proof(keys, next, 9).check(&taken(5));
        assert_eq!(checked, known, "{keys:?} {next}");
    }
    // Both have continued with key 4, each with another key 5.
    let mut other = proof(&[3, 4, 5], 6, 9);
    other.keys[2].number = 1;
    assert_eq!(other.check(&taken(5)), Err(Stranger::Copy));
}

#[test]
fn the_running_server_is_told_from_its_disk() {
    let restarted = proof(&[5], 6, 8);
    assert_eq!(restarted.check(&taken(5)), Ok(Standing::Restarted));
    let foreign = Proof {
        origin: 2,
        ..restarted.clone()
    };
    assert_eq!(foreign.check(&taken(5)), Err(Stranger::Other));
    assert_eq!(foreign.check(&Tenancy::Vacant), Ok(Standing::First));
    assert_eq!(foreign.check(&Tenancy::Moved(9)), Ok(Standing::First));
    let gone = proof(&[5], 6, 9).check(&Tenancy::Moved(9));
    assert_eq!(gone, Err(Stranger::Replaced));
}

#[test]
fn a_lease_that_lasts_is_the_running_servers() {
    let registry = Registry::new(30 * SECOND, SECOND, Identity::default());
    let lease = |standing, kept, told| registry.lease_assigned(NOW, standing, false, kept, told);
    let (lasting, ended) = (term(-10, 20), term(-40, -10));
    // A lost answer: the registry knows of a later end than the server.
    let renewed = lease(Standing::Running, lasting, Some(term(-10, 10)));
    assert_eq!(renewed, Ok(term(-10, 30)));
    // An older copy of the registry, with shorter leases: the server goes by the end that it knows.
    let longer = lease(Standing::Running, term(-10, 5), Some(term(-10, 50)));
    assert_eq!(longer, Ok(term(-10, 50)));
    assert_eq!(lease(Standing::Running, lasting, None), Ok(term(0, 30)));
    assert_eq!(
        lease(Standing::Running, ended, Some(ended)),
        Ok(term(0, 30))
    );
    for standing in [Standing::First, Standing::Restarted] {
        // By every clock.
        let denied = Err(Denial::Leased {
            until: lasting.until + SECOND,
        });
        assert_eq!(lease(standing, lasting, None), denied);
        // Not even one that says that it has a lease.
        assert_eq!(lease(standing, lasting, Some(lasting)), denied);
        assert_eq!(lease(standing, ended, None), Ok(term(0, 30)));
    }
}

#[test]
fn a_registry_that_may_have_forgotten_believes_who_holds_a_lease() {
    let mut registry = Registry::new(30 * SECOND, SECOND, Identity::default());
    registry.quarantine = NOW + 50 * SECOND;
    let left = registry.quarantine - NOW;
    let lease = |standing, is_evicted, told| {
        registry.lease_assigned(NOW, standing, is_evicted, term(-100, -70), told)
    };
    let denied = Err(Denial::Quarantine { left });
    let lasting = Some(term(-15, 15));
    for standing in [Standing::First, Standing::Restarted, Standing::Running] {
        assert_eq!(lease(standing, false, lasting), Ok(term(-15, 30)));
        // Another server may have a lease that is forgotten.
        assert_eq!(lease(standing, false, None), denied);
        assert_eq!(lease(standing, false, Some(term(-60, -30))), denied);
    }
    assert_eq!(lease(Standing::Restarted, true, lasting), denied);
}
