//! What a registry decides, case by case, and what it may never do.

use mint_core::registry::lease_rules::request_interval;
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, NodesError, Registry, parse_nodes};
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

/// Another identity, or a later start.
fn quarantined() -> Registry {
    let mut registry = registry();
    registry.quarantine(NOW);
    registry
}

fn span(from: Micros, until: Micros) -> LeaseTerm {
    LeaseTerm { from, until }
}

fn seen(identity: Identity, position: u64) -> LogPoint {
    LogPoint { identity, position }
}

#[test]
fn a_new_registry_grants_one_length_from_now() {
    let registry = registry();
    assert_eq!(registry.admit(NOW, NOW, None), Ok(()));
    assert_eq!(registry.grant(NOW, []), Ok(span(NOW, NOW + LENGTH)));
}

#[test]
fn a_clock_may_be_wrong_by_max_skew_and_no_more() {
    let registry = registry();
    for ahead in [-SKEW, 0, SKEW] {
        assert_eq!(registry.admit(NOW, NOW + ahead, None), Ok(()));
    }
    let lasting = Some(span(NOW, NOW + LENGTH));
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
fn a_node_is_claimed_again_where_its_last_claim_ended() {
    let registry = registry();
    let until = NOW + 1;
    for others in [vec![until], vec![NOW - 5, until, NOW]] {
        assert_eq!(registry.grant(NOW, others), Err(Denial::Leased { until }));
    }
    assert_eq!(registry.grant(NOW, [NOW]), Ok(span(NOW, NOW + LENGTH)));
    assert_eq!(registry.grant(NOW, [NOW - 1]), Ok(span(NOW, NOW + LENGTH)));
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
fn a_renewal_goes_on_from_where_it_began() {
    let registry = registry();
    let term = span(NOW - 50, NOW + 4 * SECOND);
    let renewed = registry.renew(NOW, Some(term), term, []);
    assert_eq!(renewed, Ok(span(NOW - 50, NOW + LENGTH)));
    // The registry's clock was set back: nothing that was granted is taken away.
    let term = span(NOW - 50, NOW + 2 * LENGTH);
    assert_eq!(registry.renew(NOW, Some(term), term, []), Ok(term));
    // The registry is trusted, not the server.
    let renewed = registry.renew(NOW, Some(term), span(0, HUGE), []);
    assert_eq!(renewed, Ok(term));
}

/// Others may have had its nodes in between, and the registry may have forgotten them.
#[test]
fn a_renewal_that_comes_too_late_begins_anew() {
    let registry = registry();
    for until in [NOW - HUGE, NOW] {
        let term = span(NOW - 2 * HUGE, until);
        let renewed = registry.renew(NOW, Some(term), term, []);
        assert_eq!(renewed, Ok(span(NOW, NOW + LENGTH)));
    }
    let term = span(NOW - 9, NOW);
    let until = NOW + 5;
    let renewed = registry.renew(NOW, Some(term), term, [until]);
    assert_eq!(renewed, Err(Denial::Leased { until }));
}

#[test]
fn what_the_registry_does_not_know_is_lost() {
    let term = span(NOW - SECOND, NOW + SECOND);
    let renewed = registry().renew(NOW, None, term, []);
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
            assert_eq!(registry.admit(now, now, Some(span(0, until))), denied);
        }
    }
    assert_eq!(registry.admit(end, end, None), Ok(()));
}

#[test]
fn a_lease_that_lasts_goes_on_through_a_quarantine() {
    let registry = quarantined();
    let told = span(NOW - 9 * SECOND, NOW + SKEW + 1);
    assert_eq!(registry.admit(NOW, NOW, Some(told)), Ok(()));
    let forgotten = [
        None,
        Some(span(NOW - HUGE, NOW - SECOND)),
        Some(span(told.from, NOW + 1)),
    ];
    for kept in forgotten {
        let renewed = registry.renew(NOW, kept, told, [NOW]);
        assert_eq!(renewed, Ok(span(told.from, NOW + LENGTH)));
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
fn who_is_somebody_else_has_forgotten() {
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
fn who_knows_less_than_others_have_seen_has_forgotten() {
    let here = seen(ME, 100);
    let later = Identity {
        incarnation: 4,
        ..ME
    };
    let fork = Identity { timeline: 2, ..ME };
    for (witness, incarnation) in [
        // Another copy of its disk has gone on.
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

/// Both at once: afterwards neither is told again.
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
            let told = span(other, other);
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

#[test]
fn nodes_are_read_in_all_their_forms() {
    for (text, nodes) in [
        ("", vec![]),
        (" \t", vec![]),
        ("5", vec![5..=5]),
        ("0", vec![0..=0]),
        (" 5 , 100 - 163,7", vec![5..=5, 100..=163, 7..=7]),
        ("3-3", vec![3..=3]),
        ("007", vec![7..=7]),
        (
            "9223372036854775807",
            vec![i64::MAX as u64..=i64::MAX as u64],
        ),
    ] {
        assert_eq!(parse_nodes(text), Ok(nodes), "{text:?}");
    }
}

#[test]
fn wrong_nodes_are_named() {
    for (text, part) in [
        ("auto", "auto"),
        ("1,", ""),
        (",1", ""),
        ("1,,2", ""),
        ("-1", "-1"),
        ("1-", "1-"),
        ("1-2-3", "1-2-3"),
        ("+1", "+1"),
        ("1 2", "1 2"),
        ("4, 1.5 ,6", "1.5"),
        ("0x10", "0x10"),
        ("٣", "٣"),
        ("9223372036854775808", "9223372036854775808"),
        ("1-99999999999999999999", "1-99999999999999999999"),
    ] {
        let error = NodesError::NotNodes(part.to_owned());
        assert_eq!(parse_nodes(text), Err(error), "{text:?}");
    }
    let backwards = NodesError::Backwards("9-8".to_owned());
    assert_eq!(parse_nodes("1, 9-8"), Err(backwards));
    for (text, part) in [
        ("1,1", "1"),
        ("1-5, 5", "5"),
        ("5, 1-5", "1-5"),
        ("3-4,1-9", "1-9"),
        ("1-9,3-4", "3-4"),
    ] {
        let error = NodesError::Repeated(part.to_owned());
        assert_eq!(parse_nodes(text), Err(error), "{text:?}");
    }
    assert_eq!(
        parse_nodes("1,x").unwrap_err().to_string(),
        "\"x\" is not a node or a range of nodes"
    );
}

proptest! {
    #[test]
    fn nodes_that_are_written_are_read(
        parts in prop::collection::vec((0..1_000_000_u64, 0..5_u64), 0..20),
    ) {
        let mut next = 0;
        let nodes: Vec<_> = parts
            .iter()
            .map(|(gap, more)| {
                let first = next + gap;
                next = first + more + 1;
                first..=first + more
            })
            .collect();
        let text: Vec<_> = nodes
            .iter()
            .map(|nodes| match nodes.end() - nodes.start() {
                0 => nodes.start().to_string(),
                _ => format!("{}-{}", nodes.start(), nodes.end()),
            })
            .collect();
        prop_assert_eq!(parse_nodes(&text.join(", ")), Ok(nodes));
    }

    #[test]
    fn whatever_is_read_panics_nowhere(text in "[-0-9, x]{0,12}|.*") {
        let _ = parse_nodes(&text);
    }
}
