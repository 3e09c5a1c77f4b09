//! How a registry notices that it can have forgotten something, and what it does until that is past.

use crate::given::{
    HUGE, LENGTH, ME, NOW, RANDOM, SECOND, SKEW, count, ends, incarnation, quarantined, registry,
    seen, term,
};
use mint_core::registry::lease_rules::{LARGEST_SKEW, LONGEST_RESTART, QUARANTINE, TURN};
use mint_core::{Denial, Identity, Incarnation, Micros, Registry, StateLoss};

#[test]
fn a_quarantine_outlasts_all_that_may_be_forgotten() {
    // Whatever the tables say of leases.
    let registry = quarantined();
    let end = NOW + QUARANTINE;
    for (now, left) in [(NOW, QUARANTINE), (end - 1, 1)] {
        let denied = Err(Denial::Quarantine { left });
        assert_eq!(registry.admit(now, now, None), denied);
        for told in [
            term(0, NOW - 1),
            term(0, now),
            term(-1, now + SECOND),
            term(now + SECOND, now + SECOND - 1),
            term(now + LARGEST_SKEW + 1, now + 2 * LARGEST_SKEW),
            term(0, now + QUARANTINE + 1),
            term(Micros::MIN, Micros::MAX),
        ] {
            assert_eq!(registry.admit(now, now, Some(told)), denied, "{told:?}");
        }
    }
    assert_eq!(registry.admit(end, end, None), Ok(()));
}

#[test]
fn a_current_lease_is_renewed_during_a_quarantine() {
    let registry = quarantined();
    for until in [NOW + 1, NOW + LENGTH, NOW + QUARANTINE] {
        for from in [0, NOW - 9 * SECOND, NOW + LARGEST_SKEW.min(until - NOW)] {
            let told = term(from, until);
            assert_eq!(registry.admit(NOW, NOW, Some(told)), Ok(()), "{told:?}");
        }
    }
    let told = term(NOW - 9 * SECOND, NOW + 1);
    let forgotten = [
        None,
        Some(term(NOW - HUGE, NOW - SECOND)),
        Some(term(told.from, NOW + 1)),
    ];
    for kept in forgotten {
        let renewed = registry.renew(NOW, kept, told, ends([NOW]));
        assert_eq!(renewed, Ok(term(told.from, NOW + LENGTH)));
        let until = NOW + 1;
        let renewed = registry.renew(NOW, kept, told, ends([NOW, until]));
        assert_eq!(renewed, Err(Denial::Leased { until }));
    }
}

#[test]
fn each_quarantine_is_as_long_as_any() {
    let mut registry = quarantined();
    for now in [NOW - 5 * SECOND, NOW + SECOND] {
        let before = count(&registry);
        registry.quarantine(now, RANDOM);
        assert_eq!(registry.quarantine, now + QUARANTINE);
        assert_eq!(registry.identity.incarnation, incarnation(before + 1));
    }
}

/// Else a registry whose clock was a year ahead would grant nothing for a year.
#[test]
fn a_quarantine_that_ends_too_late_begins_again() {
    let mut registry = quarantined();
    let (here, now) = (seen(ME, 0), NOW - 1);
    let before = Identity {
        incarnation: registry.identity.incarnation,
        ..ME
    };
    assert_eq!(registry.identity, before);
    assert_eq!(
        registry.detect_state_loss(NOW, here, true, None, RANDOM),
        None
    );
    let loss = registry.detect_state_loss(now, here, true, None, RANDOM);
    assert_eq!(loss, Some(StateLoss::Returned));
    assert_eq!(registry.quarantine, now + QUARANTINE);
}

#[test]
fn tables_that_somebody_else_changed_have_lost_state() {
    let mut registry = registry();
    let here = seen(ME, 100);
    let loss = registry.detect_state_loss(NOW, here, false, None, RANDOM);
    assert_eq!(loss, Some(StateLoss::Changed));
    assert_eq!(registry.quarantine, NOW + QUARANTINE);
    assert_eq!(
        registry.detect_state_loss(NOW, here, true, None, RANDOM),
        None
    );
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
        let loss = registry.detect_state_loss(NOW, here, true, None, RANDOM);
        assert_eq!(loss, Some(StateLoss::Returned));
        let identity = Identity {
            incarnation: incarnation(1),
            ..other
        };
        assert_eq!(registry.identity, identity);
        assert_eq!(registry.quarantine, NOW + QUARANTINE);
        let before = registry;
        // Once; and a server that has seen the registry as it was before has seen nothing new.
        for known in [None, Some(seen(ME, u64::MAX))] {
            let loss = registry.detect_state_loss(NOW + 1, here, true, known, RANDOM);
            assert_eq!(loss, None);
        }
        assert_eq!(registry, before);
    }
}

#[test]
fn a_registry_behind_what_others_have_seen_has_lost_state() {
    let here = seen(ME, 100);
    let fork = Identity { timeline: 2, ..ME };
    let later = |count| Identity {
        incarnation: incarnation(count),
        ..ME
    };
    let copy = Identity {
        incarnation: Incarnation(1),
        ..ME
    };
    for (witness, next) in [
        // Another copy of its disk has continued, with as many quarantines or more.
        (seen(ME, 101), 1),
        (seen(copy, 1), 1),
        // A standby was promoted, and then the old primary came back.
        (seen(later(4), 1), 5),
        (seen(later(1 << 16), 1), (1 << 16) + 1),
        (seen(later((1 << 16) + 1), 1), 1),
        (seen(later(i32::MAX as u32), 1), 1),
        (seen(fork, 1), 1),
    ] {
        let mut registry = registry();
        let loss = registry.detect_state_loss(NOW, here, true, Some(witness), RANDOM);
        assert_eq!(loss, Some(StateLoss::Told));
        assert_eq!(registry.identity, later(next), "{witness:?}");
        assert_eq!(registry.quarantine, NOW + QUARANTINE);
        let before = registry;
        for now in [NOW, NOW + QUARANTINE, NOW + QUARANTINE + TURN - 1] {
            let again = registry.detect_state_loss(now, here, true, Some(witness), RANDOM);
            assert_eq!(again, None, "covered by the first quarantine");
        }
        assert_eq!(registry, before);
    }
    let mut registry = registry();
    for known in [None, Some(seen(ME, 100)), Some(seen(ME, 0))] {
        assert_eq!(
            registry.detect_state_loss(NOW, here, true, known, RANDOM),
            None
        );
    }
    assert_eq!(registry, self::registry());
}

/// Of another registry, or of a copy that was promoted: not one that this registry was.
#[test]
fn the_history_of_others_is_not_an_earlier_one() {
    let of = |identity, count| Identity {
        incarnation: incarnation(count),
        ..identity
    };
    let older = of(ME, 8);
    let mut registry = Registry::new(LENGTH, SKEW, of(ME, 9));
    let here = seen(ME, 100);
    let earlier = Identity {
        timeline: 1,
        start: 99,
        ..older
    };
    for known in [older, earlier, of(ME, 9_u32.wrapping_sub(i32::MAX as u32))] {
        let known = Some(seen(known, 500));
        assert_eq!(
            registry.detect_state_loss(NOW, here, true, known, RANDOM),
            None
        );
    }
    for other in [
        Identity { system: 8, ..older },
        Identity {
            timeline: 4,
            ..older
        },
    ] {
        let mut registry = registry;
        let loss = registry.detect_state_loss(NOW, here, true, Some(seen(other, 0)), RANDOM);
        assert_eq!(loss, Some(StateLoss::Told));
    }
}

/// A login that lies keeps no quarantine going, and the numbers never end.
#[test]
fn lies_about_history_leave_others_their_turn() {
    let mut registry = Registry::new(
        LENGTH,
        SKEW,
        Identity {
            incarnation: incarnation(u32::MAX),
            ..ME
        },
    );
    let here = seen(ME, 100);
    let mut granted: Micros = 0;
    for second in 0..600 {
        let now = NOW + second * SECOND;
        let incarnation = incarnation(count(&registry).wrapping_add(1 << 30));
        let lie = seen(Identity { incarnation, ..ME }, u64::MAX);
        registry.detect_state_loss(now, here, true, Some(lie), RANDOM);
        granted += Micros::from(registry.admit(now, now, None).is_ok());
    }
    assert_eq!(granted * SECOND, 6 * TURN, "after each quarantine");
    assert_eq!(count(&registry), 5);
}

/// Both causes at once are reported once.
#[test]
fn an_old_primary_that_comes_back_is_above_all_that_was_seen() {
    let mut registry = registry();
    let here = seen(Identity { start: 9, ..ME }, 50);
    let promoted = Identity {
        timeline: 4,
        incarnation: incarnation(1),
        ..ME
    };
    let witness = Some(seen(promoted, 60));
    assert!(
        registry
            .detect_state_loss(NOW, here, true, witness, RANDOM)
            .is_some()
    );
    assert_eq!(count(&registry), 2, "after the one that was seen");
    assert_eq!(
        registry.detect_state_loss(NOW, here, true, witness, RANDOM),
        None
    );
}

/// Two copies that have begun as many quarantines, each after a start of its own: members take up either after the other.
#[test]
fn members_follow_each_copy_of_a_registry() {
    let begun = |start, random| {
        let mut registry = registry();
        let here = seen(Identity { start, ..ME }, 10);
        let loss = registry.detect_state_loss(NOW, here, true, None, random);
        assert_eq!(loss, Some(StateLoss::Returned));
        seen(registry.identity, 10)
    };
    let (one, other) = (begun(8, 1), begun(9, 2));
    assert!(other.may_follow(one) && one.may_follow(other));
    // The same registry, which has more in its log, also after a restart that was planned.
    let restarted = Identity {
        start: 9,
        ..one.identity
    };
    for more in [seen(one.identity, 11), seen(restarted, 11)] {
        assert!(more.may_follow(one) && one.may_follow(one));
        assert!(!one.may_follow(more), "less than it had");
    }
    // One that says nothing of a quarantine.
    let silent = Identity {
        timeline: 4,
        ..one.identity
    };
    assert!(!seen(silent, 99).may_follow(one));
}

/// A registry that was told of the start of its server, and is what it was.
#[test]
fn a_planned_restart_begins_no_quarantine() {
    let planned = Registry {
        restart_until: NOW + SECOND,
        ..registry()
    };
    let after = |start| seen(Identity { start, ..ME }, 100);
    let mut registry = planned;
    assert!(
        !registry.resume(NOW, after(ME.start), true),
        "not restarted"
    );
    assert!(registry.resume(NOW, after(9), true));
    let left = Registry {
        restart_until: Micros::MIN,
        identity: Identity { start: 9, ..ME },
        ..planned
    };
    assert_eq!(registry, left);
    // What members have seen of it before is part of its history; they follow it.
    let known = Some(seen(ME, 99));
    let loss = registry.detect_state_loss(NOW, after(9), true, known, RANDOM);
    assert_eq!(loss, None);
    assert!(seen(registry.identity, 100).may_follow(seen(ME, 99)));
    // Once.
    assert!(!registry.resume(NOW, after(10), true));
    let loss = registry.detect_state_loss(NOW, after(10), true, known, RANDOM);
    assert_eq!(loss, Some(StateLoss::Returned));
}

/// What can be a copy, or has changed otherwise, is no planned restart; and a copy that lacks grants is told of them.
#[test]
fn only_the_start_of_the_server_can_be_planned() {
    let planned = |until| Registry {
        restart_until: until,
        ..registry()
    };
    let restarted = Identity { start: 9, ..ME };
    let soon = NOW + SECOND;
    for (until, identity, is_intact) in [
        (NOW, restarted, true),
        (NOW - 1, restarted, true),
        (NOW + LONGEST_RESTART + 1, restarted, true),
        (Micros::MAX, restarted, true),
        (soon, restarted, false),
        (soon, Identity { start: 4, ..ME }, true),
        (
            soon,
            Identity {
                timeline: 4,
                ..restarted
            },
            true,
        ),
        (
            soon,
            Identity {
                system: 8,
                ..restarted
            },
            true,
        ),
    ] {
        let mut registry = planned(until);
        assert!(!registry.resume(NOW, seen(identity, 100), is_intact));
        assert_eq!(registry, planned(until));
        let here = seen(identity, 100);
        let loss = registry.detect_state_loss(NOW, here, is_intact, None, RANDOM);
        assert_eq!(loss, Some(StateLoss::Returned));
        assert_eq!(
            registry.restart_until,
            Micros::MIN,
            "used up by any quarantine"
        );
    }
    let mut registry = planned(soon);
    let here = seen(restarted, 100);
    assert!(registry.resume(NOW, here, true));
    let witness = Some(seen(ME, 101));
    let loss = registry.detect_state_loss(NOW, here, true, witness, RANDOM);
    assert_eq!(loss, Some(StateLoss::Told));
}

/// A quarantine is not cut short by a restart.
#[test]
fn a_planned_restart_ends_no_quarantine() {
    let mut registry = quarantined();
    registry.restart_until = NOW + 2 * SECOND;
    assert!(registry.resume(
        NOW + 1,
        seen(
            Identity {
                start: 9,
                ..registry.identity
            },
            100
        ),
        true
    ));
    assert_eq!(registry.quarantine, NOW + QUARANTINE);
}
