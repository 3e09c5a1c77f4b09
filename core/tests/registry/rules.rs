//! The registry's decisions on leases, case by case and at random.

use mint_core::registry::lease_rules::request_interval;
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, Registry};
use proptest::prelude::*;

const SECOND: Micros = 1_000_000;
const LENGTH: Micros = 10 * SECOND;
const SKEW: Micros = SECOND;
const NOW: Micros = 1_000 * SECOND;

const ME: Identity = Identity {
    system: 7,
    timeline: 3,
    start: 5,
    incarnation: 0,
};

fn registry() -> Registry {
    Registry::new(LENGTH, SKEW, ME)
}

/// Returns a registry at the start of a quarantine.
fn quarantined() -> Registry {
    let mut registry = registry();
    registry.quarantine(NOW);
    registry
}

fn term(from: Micros, until: Micros) -> LeaseTerm {
    LeaseTerm { from, until }
}

fn seen(identity: Identity, position: u64) -> LogPoint {
    LogPoint { identity, position }
}

#[test]
fn a_new_registry_grants_one_length_from_now() {
    let registry = registry();
    assert_eq!(registry.admit(NOW, NOW, None), Ok(()));
    assert_eq!(registry.grant(NOW, []), Ok(term(NOW, NOW + LENGTH)));
}

#[test]
fn a_clock_may_be_wrong_by_max_skew_and_no_more() {
    let registry = registry();
    for ahead in [-SKEW, 0, SKEW] {
        assert_eq!(registry.admit(NOW, NOW + ahead, None), Ok(()));
    }
    let lasting = Some(term(NOW, NOW + LENGTH));
    for ahead in [-SKEW - 1, SKEW + 1, HUGE] {
        for told in [None, lasting] {
            let denied = Err(Denial::Skew { ahead });
            assert_eq!(registry.admit(NOW, NOW + ahead, told), denied);
        }
    }
    for clock in [Micros::MIN, Micros::MAX] {
        let denied = registry.admit(0, clock, None);
        assert_eq!(denied, Err(Denial::Skew { ahead: clock }));
    }
}

const HUGE: Micros = 1_000_000 * SECOND;

#[test]
fn a_node_is_leased_again_after_its_last_lease_ended() {
    let registry = registry();
    let until = NOW + 1;
    for others in [vec![until], vec![NOW - 5, until, NOW]] {
        assert_eq!(registry.grant(NOW, others), Err(Denial::Leased { until }));
    }
    assert_eq!(registry.grant(NOW, [NOW]), Ok(term(NOW, NOW + LENGTH)));
    assert_eq!(registry.grant(NOW, [NOW - 1]), Ok(term(NOW, NOW + LENGTH)));
}

/// The registry's clock was set back after past leases were deleted.
#[test]
fn nothing_begins_before_the_horizon() {
    let mut registry = registry();
    registry.horizon = NOW + 1;
    let until = NOW + 1;
    assert_eq!(registry.grant(NOW, []), Err(Denial::Leased { until }));
    assert!(registry.grant(NOW + 1, []).is_ok());
}

#[test]
fn a_renewed_lease_keeps_its_beginning() {
    let registry = registry();
    let kept = term(NOW - 50, NOW + 4 * SECOND);
    let renewed = registry.renew(NOW, Some(kept), kept, []);
    assert_eq!(renewed, Ok(term(NOW - 50, NOW + LENGTH)));
    // The registry's clock was set back: the lease stays as long as it was.
    let kept = term(NOW - 50, NOW + 2 * LENGTH);
    assert_eq!(registry.renew(NOW, Some(kept), kept, []), Ok(kept));
    // The registry is trusted, not the server.
    let renewed = registry.renew(NOW, Some(kept), term(0, HUGE), []);
    assert_eq!(renewed, Ok(kept));
}

/// Others may have had its nodes in between, and the registry may have forgotten them.
#[test]
fn a_renewal_that_comes_too_late_begins_now() {
    let registry = registry();
    for until in [NOW - HUGE, NOW] {
        let kept = term(NOW - 2 * HUGE, until);
        let renewed = registry.renew(NOW, Some(kept), kept, []);
        assert_eq!(renewed, Ok(term(NOW, NOW + LENGTH)));
    }
    let kept = term(NOW - 9, NOW);
    let until = NOW + 5;
    let renewed = registry.renew(NOW, Some(kept), kept, [until]);
    assert_eq!(renewed, Err(Denial::Leased { until }));
}

#[test]
fn a_lease_that_the_registry_does_not_know_is_lost() {
    let kept = term(NOW - SECOND, NOW + SECOND);
    let renewed = registry().renew(NOW, None, kept, []);
    assert_eq!(renewed, Err(Denial::Lost));
}

#[test]
fn a_quarantine_outlasts_all_that_may_be_forgotten() {
    let registry = quarantined();
    let end = NOW + LENGTH + SKEW;
    for (now, left) in [(NOW, LENGTH + SKEW), (end - 1, 1)] {
        let denied = Err(Denial::Quarantine { left });
        assert_eq!(registry.admit(now, now, None), denied);
        // Its lease has ended, or may have by the clock of another registry.
        for until in [NOW - 1, now, now + SKEW] {
            assert_eq!(registry.admit(now, now, Some(term(0, until))), denied);
        }
    }
    assert_eq!(registry.admit(end, end, None), Ok(()));
}

#[test]
fn a_current_lease_is_renewed_during_a_quarantine() {
    let registry = quarantined();
    let told = term(NOW - 9 * SECOND, NOW + SKEW + 1);
    assert_eq!(registry.admit(NOW, NOW, Some(told)), Ok(()));
    let forgotten = [
        None,
        Some(term(NOW - HUGE, NOW - SECOND)),
        Some(term(told.from, NOW + 1)),
    ];
    for kept in forgotten {
        let renewed = registry.renew(NOW, kept, told, [NOW]);
        assert_eq!(renewed, Ok(term(told.from, NOW + LENGTH)));
        let until = NOW + 1;
        let renewed = registry.renew(NOW, kept, told, [NOW, until]);
        assert_eq!(renewed, Err(Denial::Leased { until }));
    }
}

#[test]
fn quarantines_follow_and_do_not_shorten_each_other() {
    let mut registry = quarantined();
    let first = registry;
    registry.quarantine(NOW - 5 * SECOND);
    assert_eq!(registry.quarantine, first.quarantine);
    assert_eq!(
        registry.identity.incarnation,
        first.identity.incarnation + 1
    );
    registry.quarantine(NOW + SECOND);
    assert_eq!(registry.quarantine, NOW + SECOND + LENGTH + SKEW);
}

#[test]
fn a_registry_with_another_identity_has_lost_state() {
    let others = [
        Identity { system: 8, ..ME },
        Identity { timeline: 2, ..ME },
        Identity { timeline: 4, ..ME },
        Identity { start: 6, ..ME },
    ];
    for other in others {
        let mut registry = registry();
        let here = seen(other, 100);
        assert!(registry.detect_state_loss(NOW, here, None));
        assert_eq!(
            registry.identity,
            Identity {
                incarnation: 1,
                ..other
            }
        );
        assert_eq!(registry.quarantine, NOW + LENGTH + SKEW);
        let before = registry;
        assert!(
            !registry.detect_state_loss(NOW + 1, here, None),
            "told once"
        );
        // A server that has seen the registry as it was before has seen nothing new.
        let older = Some(seen(ME, u64::MAX));
        assert!(!registry.detect_state_loss(NOW + 1, here, older));
        assert_eq!(registry, before);
    }
}

#[test]
fn a_registry_behind_the_log_that_others_have_seen_has_lost_state() {
    let here = seen(ME, 100);
    let later = Identity {
        incarnation: 4,
        ..ME
    };
    let fork = Identity { timeline: 2, ..ME };
    for (witness, incarnation) in [
        // Another copy of its disk has continued.
        (seen(ME, 101), 1),
        // A standby was promoted, and then the old primary came back.
        (seen(later, 1), 5),
        (seen(fork, 1), 1),
    ] {
        let mut registry = registry();
        assert!(registry.detect_state_loss(NOW, here, Some(witness)));
        let identity = Identity { incarnation, ..ME };
        assert_eq!(registry.identity, identity);
        assert_eq!(registry.quarantine, NOW + LENGTH + SKEW);
        let before = registry;
        assert!(
            !registry.detect_state_loss(NOW + 1, here, Some(witness)),
            "once"
        );
        assert_eq!(registry, before);
    }
    let mut registry = registry();
    for known in [None, Some(seen(ME, 100)), Some(seen(ME, 0))] {
        assert!(!registry.detect_state_loss(NOW, here, known));
    }
    assert_eq!(registry, self::registry());
}

/// Both causes at once are reported once.
#[test]
fn an_old_primary_that_comes_back_is_above_all_that_was_seen() {
    let mut registry = registry();
    let here = seen(Identity { start: 9, ..ME }, 50);
    let promoted = Identity {
        timeline: 4,
        incarnation: 1,
        ..ME
    };
    let witness = Some(seen(promoted, 60));
    assert!(registry.detect_state_loss(NOW, here, witness));
    assert_eq!(registry.identity.incarnation, 2);
    assert!(!registry.detect_state_loss(NOW, here, witness));
}

#[test]
fn nothing_overflows() {
    let here = seen(ME, 0);
    for now in [Micros::MIN, 0, Micros::MAX] {
        for other in [Micros::MIN, 0, Micros::MAX] {
            let mut registry = Registry::new(Micros::MAX, Micros::MAX, ME);
            let witness = Identity {
                incarnation: u32::MAX,
                ..ME
            };
            registry.detect_state_loss(now, here, Some(seen(witness, 0)));
            let told = term(other, other);
            let _ = registry.admit(now, other, Some(told));
            let _ = registry.grant(now, [other]);
            let _ = registry.renew(now, Some(told), told, [other]);
        }
    }
}

#[test]
fn servers_ask_twice_a_lease_and_after_a_second_when_denied() {
    assert_eq!(request_interval(10 * SECOND, true), 5 * SECOND);
    assert_eq!(request_interval(10 * SECOND, false), SECOND);
    assert_eq!(request_interval(4 * SECOND, false), SECOND);
    assert_eq!(request_interval(2 * SECOND, true), SECOND);
    assert_eq!(request_interval(2 * SECOND, false), SECOND / 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// One node, several servers that lease and renew it at random, and a clock that jumps both ways.
    #[test]
    fn leases_of_one_node_never_overlap(
        story in prop::collection::vec((-5 * SECOND..9 * SECOND, 0..4_usize, any::<bool>()), 1..80),
    ) {
        let mut registry = registry();
        let mut now = NOW;
        // The one lease that is kept, with its server, and all that were ever granted to each.
        let mut kept: Option<(usize, LeaseTerm)> = None;
        let mut granted: Vec<(usize, LeaseTerm)> = Vec::new();
        let mut told: [Option<LeaseTerm>; 4] = [None; 4];
        for (by, server, forget) in story {
            now += by;
            let grant = match (told[server], kept) {
                (Some(mine), Some((owner, lease))) if owner == server => {
                    registry.renew(now, Some(lease), mine, [])
                }
                (Some(mine), _) => {
                    let others = kept.iter().map(|(_, lease)| lease.until);
                    let renewed = registry.renew(now, None, mine, others);
                    prop_assert_eq!(renewed, Err(Denial::Lost));
                    told[server] = None;
                    continue;
                }
                (None, _) => {
                    if let Some((_, lease)) = kept && lease.until <= now && forget {
                        registry.horizon = registry.horizon.max(lease.until);
                        kept = None;
                    }
                    registry.grant(now, kept.iter().map(|(_, lease)| lease.until))
                }
            };
            let Ok(lease) = grant else { continue };
            prop_assert!(lease.until >= now + LENGTH);
            // A renewed lease begins where it did before.
            for (other, before) in &granted {
                let apart = before.until <= lease.from || lease.until <= before.from;
                prop_assert!(
                    apart || *other == server && before.from == lease.from,
                    "{before:?} of {other}, {lease:?} of {server}"
                );
                prop_assert!(before.from <= lease.from, "backwards");
            }
            granted.push((server, lease));
            kept = Some((server, lease));
            told[server] = Some(lease);
        }
    }
}
