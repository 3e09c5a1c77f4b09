//! The registry's decisions on leases, case by case and at random.

use crate::given::{HUGE, LENGTH, ME, NOW, SECOND, SKEW, ends, incarnation, registry, seen, term};
use mint_core::registry::lease_rules::{LARGEST_SKEW, LONGEST_LEASE, request_interval};
use mint_core::{Denial, Identity, LeaseTerm, Micros, Registry};
use proptest::prelude::*;

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

#[test]
fn a_node_is_leased_again_once_it_is_free() {
    let registry = registry();
    let until = NOW + 1;
    for others in [ends([until; 3]), ends([NOW - 5, until, NOW])] {
        assert_eq!(registry.grant(NOW, others), Err(Denial::Leased { until }));
    }
    for free in [NOW, NOW - 1] {
        let granted = registry.grant(NOW, ends([free]));
        assert_eq!(granted, Ok(term(NOW, NOW + LENGTH)));
    }
    // By the clock of another copy, its holder could still renew it there.
    let end = registry.end_of(term(0, NOW - SKEW));
    assert_eq!(end.free_from, NOW);
    assert!(registry.grant(NOW, [end]).is_ok());
    let until = NOW;
    assert_eq!(
        registry.grant(NOW - 1, [end]),
        Err(Denial::Leased { until })
    );
    // Which is no reason to take a lease that lasts from another.
    let mine = term(NOW - SECOND, NOW + SECOND);
    assert!(registry.renew(NOW - 1, Some(mine), mine, [end]).is_ok());
}

/// A length that was written to the table by hand is none that a quarantine covers.
#[test]
fn no_lease_is_longer_than_a_quarantine_covers() {
    let registry = Registry {
        length: HUGE,
        max_skew: HUGE,
        ..registry()
    };
    let longest = term(NOW, NOW + LONGEST_LEASE);
    assert_eq!(registry.grant(NOW, []), Ok(longest));
    assert_eq!(registry.renew(NOW, Some(longest), longest, []), Ok(longest));
    let ahead = LARGEST_SKEW + 1;
    let denied = Err(Denial::Skew { ahead });
    assert_eq!(registry.check_clock(NOW, NOW + ahead), denied);
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

/// Others can have had its nodes in between, and the registry can have forgotten them.
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
    let renewed = registry.renew(NOW, Some(kept), kept, ends([until]));
    assert_eq!(renewed, Err(Denial::Leased { until }));
}

#[test]
fn a_lease_that_the_registry_does_not_know_is_lost() {
    let kept = term(NOW - SECOND, NOW + SECOND);
    let renewed = registry().renew(NOW, None, kept, []);
    assert_eq!(renewed, Err(Denial::Lost));
}

#[test]
fn nothing_overflows() {
    let here = seen(ME, 0);
    for now in [Micros::MIN, 0, Micros::MAX] {
        for other in [Micros::MIN, 0, Micros::MAX] {
            let mut registry = Registry::new(Micros::MAX, Micros::MAX, ME);
            let witness = Identity {
                incarnation: incarnation(u32::MAX),
                ..ME
            };
            registry.detect_state_loss(now, here, true, Some(seen(witness, 0)), u32::MAX);
            let told = term(other, other);
            let _ = registry.admit(now, other, Some(told));
            let _ = registry.grant(now, ends([other]));
            let _ = registry.renew(now, Some(told), told, ends([other]));
        }
    }
}

#[test]
fn servers_ask_three_times_a_lease_and_after_a_second_when_denied() {
    for length in [5, 30, 60].map(|seconds| seconds * SECOND) {
        assert_eq!(request_interval(length, true), length / 3);
        assert_eq!(request_interval(length, false), SECOND);
    }
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
                    let others = kept.iter().map(|(_, lease)| registry.end_of(*lease));
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
                    registry.grant(now, kept.iter().map(|(_, lease)| registry.end_of(*lease)))
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
