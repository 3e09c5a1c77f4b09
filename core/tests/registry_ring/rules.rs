//! Single rules, by the lengths that all have.

use mint_core::Micros;
use mint_core::registry::ring::{
    Refusal, RegistryRun, RingClocks, RingDemand, RingLease, RingMemory, RingRequest, RingRules,
    RingState,
};
use std::collections::{BTreeMap, BTreeSet};

const SECOND: Micros = 1_000_000;
const RULES: RingRules = RingRules::STANDARD;
const WIDTH: u32 = 8;
const FIRST: u64 = 128;
const RUN: RegistryRun = RegistryRun {
    number: 7,
    system: 1,
    timeline: 1,
    database: 1,
    table: 1,
};

/// A registry, of which the clock shows the time since boot, and a second more.
struct Registry {
    state: RingState,
    memory: Option<RingMemory>,
    now: Micros,
    random: u64,
}

type Answer = Result<RingLease, Refusal>;

impl Registry {
    fn new() -> Self {
        let state = RingState {
            digest: 0,
            run: None,
            rings: BTreeMap::new(),
            rows: BTreeMap::new(),
        };
        Self {
            state,
            memory: None,
            now: 1_000 * SECOND,
            random: 0,
        }
    }

    /// Returns a registry that has waited.
    fn old() -> Self {
        let mut registry = Self::new();
        assert_eq!(registry.grant(1), Err(Refusal::Wait { left: 35 * SECOND }));
        registry.now += 35 * SECOND;
        registry
    }

    fn ask(&mut self, width: u32, clock: Micros, demand: RingDemand) -> Answer {
        let request = RingRequest {
            width,
            clock,
            demand,
        };
        let clocks = RingClocks {
            wall: self.now,
            boot: self.now - SECOND,
        };
        self.random += 1;
        RULES.answer(
            &mut self.state, &mut self.memory, RUN, &request, clocks, self.random,
        )
    }

    fn grant(&mut self, number: i64) -> Answer {
        self.ask(WIDTH, self.now, RingDemand::Grant(number))
    }

    fn renew(&mut self, lease: RingLease) -> Answer {
        self.ask(WIDTH, self.now, RingDemand::Renewal(lease))
    }
}

#[test]
fn nodes_are_from_the_middle_upward() {
    assert_eq!(RULES.ring(7), Err(Refusal::Width));
    assert_eq!(RULES.ring(8), Ok(128..256));
    assert_eq!(RULES.ring(13), Ok(4_096..8_192));
    assert_eq!(RULES.ring(16), Ok(32_768..65_536));
    assert_eq!(RULES.ring(31), Ok(1 << 30..(1 << 30) + 32_768));
    assert_eq!(RULES.ring(32), Err(Refusal::Width));
    assert_eq!(RULES.ring(u32::MAX), Err(Refusal::Width));
}

#[test]
fn a_wait_is_a_lease_and_two_skews() {
    assert_eq!(RULES.wait, RULES.lease + 2 * RULES.skew);
    let mut registry = Registry::new();
    assert_eq!(registry.grant(1), Err(Refusal::Wait { left: 35 * SECOND }));
    registry.now += 35 * SECOND - 1;
    assert_eq!(registry.grant(1), Err(Refusal::Wait { left: 1 }));
    registry.now += 1;
    let lease = registry.grant(1).unwrap();
    assert_eq!(
        (lease.from, lease.until),
        (registry.now, registry.now + 30 * SECOND)
    );
}

#[test]
fn nodes_are_granted_in_order_until_the_ring_is_full() {
    let mut registry = Registry::old();
    let first = registry.grant(1).unwrap().node;
    for number in 2..=128 {
        let lease = registry.grant(number).unwrap();
        assert_eq!(
            lease.node,
            FIRST + (first - FIRST + number as u64 - 1) % 128
        );
    }
    let full = Err(Refusal::Full {
        nodes: 128,
        leased: 128,
    });
    assert_eq!(registry.grant(129), full);
    registry.now += 35 * SECOND;
    assert_eq!(
        registry.grant(129),
        Err(Refusal::Full {
            nodes: 128,
            leased: 0
        })
    );
    registry.now += 1;
    assert_eq!(registry.grant(129).unwrap().node, first);
}

#[test]
fn the_last_quarter_that_ended_rests() {
    let mut registry = Registry::old();
    let mut last = Vec::new();
    for number in 1..=1_000 {
        let lease = registry.grant(number).unwrap();
        assert!(
            !last.iter().rev().take(32).any(|node| *node == lease.node),
            "{number}"
        );
        last.push(lease.node);
        // Each third one lasts on: half of the ring is leased.
        registry.now += SECOND;
        if number % 3 != 0 {
            let end = RingDemand::End {
                lease,
                used: registry.now,
            };
            registry.ask(WIDTH, registry.now, end).unwrap();
        }
        registry.now += SECOND;
    }
    let nodes: BTreeSet<u64> = last.into_iter().collect();
    assert_eq!(nodes.len(), 128);
}

#[test]
fn a_row_without_an_end_keeps_its_node_out_of_the_ring() {
    let mut registry = Registry::old();
    for node in FIRST..FIRST + 127 {
        let lease = RingLease {
            node,
            number: 0,
            from: 0,
            until: Micros::MAX,
        };
        registry.state.rows.insert(node, lease);
    }
    let lease = registry.grant(1).unwrap();
    assert_eq!(lease.node, FIRST + 127);
    assert_eq!(
        registry.grant(2),
        Err(Refusal::Full {
            nodes: 128,
            leased: 128
        })
    );
    let other = RingLease {
        node: FIRST,
        ..lease
    };
    assert_eq!(registry.renew(other), Err(Refusal::Over));
}

#[test]
fn a_request_that_is_repeated_gets_the_same_lease() {
    let mut registry = Registry::old();
    let lease = registry.grant(1).unwrap();
    registry.now += SECOND;
    assert_eq!(registry.grant(1), Ok(lease));
    assert_eq!(registry.state.rows.len(), 1);
    registry.now = lease.until;
    assert_ne!(registry.grant(1).unwrap().node, lease.node);
}

#[test]
fn leases_are_renewed_by_word_where_the_registry_knows_of_no_other() {
    let mut registry = Registry::old();
    let lease = registry.grant(1).unwrap();
    registry.now += 10 * SECOND;
    let renewed = RingLease {
        until: registry.now + 30 * SECOND,
        ..lease
    };
    assert_eq!(registry.renew(lease), Ok(renewed));
    let other = RingLease {
        number: 2,
        ..renewed
    };
    assert_eq!(registry.renew(other), Err(Refusal::Over));
    // Restored, in the wait.
    registry.state.rows.clear();
    registry.state.run = None;
    assert_eq!(registry.renew(renewed), Ok(renewed));
    assert_eq!(registry.grant(3), Err(Refusal::Wait { left: 35 * SECOND }));
    registry.now = renewed.until;
    assert_eq!(registry.renew(renewed), Err(Refusal::Over));
    let outside = RingLease {
        node: FIRST - 1,
        until: registry.now + 1,
        ..renewed
    };
    assert_eq!(registry.renew(outside), Err(Refusal::Over));
    let future = RingLease {
        from: registry.now + 5 * SECOND + 1,
        until: registry.now + 6 * SECOND,
        ..renewed
    };
    assert_eq!(registry.renew(future), Err(Refusal::Over));
    let long = RingLease {
        until: registry.now + 35 * SECOND + 1,
        ..renewed
    };
    assert_eq!(registry.renew(long), Err(Refusal::Over));
}

/// A member repeats its request after the node was another's, and then hears of its first lease.
#[test]
fn a_number_that_was_granted_twice_is_not_one_lease() {
    let mut registry = Registry::old();
    registry.state.rows = (FIRST..FIRST + 127)
        .map(|node| {
            let lease = RingLease {
                node,
                number: 0,
                from: 0,
                until: Micros::MAX,
            };
            (node, lease)
        })
        .collect();
    let first = registry.grant(1).unwrap();
    // The lease is over by a clock that is ahead.
    registry.now += 40 * SECOND;
    let other = registry.grant(2).unwrap();
    registry.now += 40 * SECOND;
    let second = registry.grant(1).unwrap();
    assert_eq!((first.node, other.node), (second.node, second.node));
    registry.now = first.until - SECOND;
    registry.memory = None;
    assert_eq!(registry.renew(first), Err(Refusal::Over));
}

#[test]
fn an_end_is_after_the_last_id_and_the_beginning() {
    let mut registry = Registry::old();
    let lease = registry.grant(1).unwrap();
    let mut end = |used| registry.ask(WIDTH, lease.from, RingDemand::End { lease, used });
    assert_eq!(end(lease.from + 5).unwrap().until, lease.from + 5);
    assert_eq!(end(0).unwrap().until, lease.from);
    let unknown = RingLease { number: 2, ..lease };
    let end = RingDemand::End {
        lease: unknown,
        used: lease.from,
    };
    assert_eq!(registry.ask(WIDTH, lease.from, end), Err(Refusal::Over));
}

#[test]
fn a_server_with_another_clock_changes_nothing() {
    let mut registry = Registry::new();
    for ahead in [RULES.skew + 1, -RULES.skew - 1, Micros::MAX, Micros::MIN] {
        let clock = registry.now.saturating_add(ahead);
        let refusal = registry
            .ask(WIDTH, clock, RingDemand::Grant(1))
            .unwrap_err();
        assert!(matches!(refusal, Refusal::Clock { .. }));
        assert_eq!((registry.memory, registry.state.run), (None, None));
    }
}

#[test]
fn a_start_jumps_far_from_where_the_ring_was_and_from_its_base() {
    let mut registry = Registry::old();
    let far = |from: u64, to: u64, by: u64| (by..=128 - by).contains(&((to + 127 - from) % 128));
    let base = registry.grant(1).unwrap().node;
    let mut before = base;
    let mut places = BTreeSet::new();
    for number in 2..500 {
        registry.memory = None;
        registry.state.rows.clear();
        assert!(registry.grant(number).is_err());
        registry.now += 35 * SECOND;
        let node = registry.grant(number).unwrap().node;
        assert_eq!(registry.state.rings[&WIDTH].base, base);
        assert!(
            far(base, node, 32) && far(before, node, 16),
            "{base} {before} {node}"
        );
        assert_eq!(
            registry.grant(-1).unwrap().node,
            FIRST + (node - FIRST + 1) % 128
        );
        places.insert(node);
        before = registry.state.rings[&WIDTH].position;
    }
    assert_eq!(places.len(), 65);
    registry.now += RULES.base_lifetime;
    registry.memory = None;
    assert!(registry.grant(2).is_err());
    registry.now += 35 * SECOND;
    assert!(registry.grant(2).is_ok());
    assert_eq!(registry.state.rings[&WIDTH].base, before);
}

/// Nothing overflows, whatever the rows and requests say.
#[test]
fn times_at_their_ends_do_no_harm() {
    const TIMES: [Micros; 5] = [Micros::MIN, -1, 0, 1, Micros::MAX];
    for index in 0..TIMES.len().pow(4) {
        let [from, until, now, used] = [1, 5, 25, 125].map(|place| TIMES[index / place % 5]);
        let lease = RingLease {
            node: FIRST,
            number: 1,
            from,
            until,
        };
        let mut registry = Registry::new();
        registry.state.rows.insert(FIRST, lease);
        let clocks = RingClocks {
            wall: now,
            boot: from,
        };
        let demands = [
            RingDemand::Grant(1),
            RingDemand::Grant(2),
            RingDemand::Renewal(lease),
            RingDemand::End { lease, used },
        ];
        for (demand, random) in demands.into_iter().zip([0, 1, u64::MAX, 2]) {
            let request = RingRequest {
                width: WIDTH,
                clock: now,
                demand,
            };
            let Registry { state, memory, .. } = &mut registry;
            let is_plain = RULES.is_plain_renewal(state, *memory, RUN, &request, clocks);
            let answer = RULES.answer(state, memory, RUN, &request, clocks, random);
            assert!(!is_plain || answer.is_ok() || !lease.is_credible(&RULES, now));
        }
    }
}
