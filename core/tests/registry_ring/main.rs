//! The registry as a ring of leases: no two members can generate ids of one node and one time.
//!
//! 1. With right clocks, whatever is lost, late, doubled, restarted and restored: all worlds of small rings are searched.
//! 2. With any clocks, if the registry loses nothing: likewise.
//! 3. With any clocks, whatever is lost, and with a registry and its copy side by side: histories at random. There is no overlap
//!    while the grants of each since, and the leases that last by its clock, are together fewer than a quarter of the nodes that
//!    are free and not kept out, or than an eighth where the ring had jumped within the day. Overlaps beyond that are counted.
//!
//! Each rule is taken out once, and an overlap is found then.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod history;
mod rng;
mod rules;
mod small;

use history::registry::Without as WithoutRing;
use history::{End, history};
use small::search::search;
use small::{Small, Without};
use std::time::Instant;

/// Searches all worlds, and fails at an overlap.
fn search_all(searches: &[(&str, Small)]) {
    for (name, small) in searches {
        let began = Instant::now();
        let found = search(small);
        let took = began.elapsed().as_secs_f64();
        println!("{name}: {} worlds, {took:.1} s", found.worlds);
        assert!(
            found.overlap.is_none(),
            "{name}:\n{}",
            found.overlap.unwrap_or_default().join("\n")
        );
    }
}

#[test]
fn right_clocks_keep_leases_apart_whatever_is_lost() {
    let right =
        |nodes, members, skew, faults| Small::new(nodes, members, skew).right().with_faults(faults);
    search_all(&[
        ("1 node, 2 members, a skew, 1 fault", right(1, 2, 1, 1)),
        ("1 node, 2 members, 3 faults", right(1, 2, 0, 3)),
        ("2 nodes, 3 members, 2 faults", right(2, 3, 0, 2)),
        ("3 nodes, 3 members, 1 fault", right(3, 3, 0, 1)),
        (
            "4 nodes, 2 members, 1 fault, nothing late",
            right(4, 2, 0, 1).on_time(),
        ),
        (
            "1 node, 2 members, 2 faults, also reverted with its memory",
            right(1, 2, 0, 2).on_time().with_reverts(),
        ),
    ]);
}

#[test]
fn any_clocks_keep_leases_apart_if_nothing_is_lost() {
    let any = |nodes, skew, far, faults| {
        Small::new(nodes, 2, skew)
            .any_clocks(far)
            .with_faults(faults)
    };
    search_all(&[
        ("1 node, 1 fault", any(1, 0, 2, 1)),
        (
            "1 node, far, 1 fault, nothing late",
            any(1, 0, 3, 1).on_time(),
        ),
        ("2 nodes, no fault", any(2, 0, 2, 0)),
    ]);
}

/// Each rule has a small search that finds an overlap without it.
#[test]
fn without_one_of_the_rules_leases_overlap() {
    let right = |skew| Small::new(1, 2, skew).right().on_time().with_faults(1);
    for without in Without::ALL {
        let small = match without {
            Without::ClockCheck | Without::OffsetCheck => right(0).with_reverts(),
            Without::HalfRest => right(2),
            Without::TakenCheck => Small::new(1, 2, 0).any_clocks(3).on_time().with_faults(1),
            _ => right(1),
        };
        let found = search(&small.without(without));
        println!(
            "without {without:?}: an overlap after {} worlds",
            found.worlds
        );
        assert!(found.overlap.is_some(), "{without:?}");
    }
}

/// As many histories as `RING_HISTORIES` says, from that of number `RING_FIRST` on.
#[test]
fn nothing_is_granted_twice_while_less_than_a_quarter_of_the_ring_is_granted() {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let first: u64 = number("RING_FIRST", 0);
    let seeds = first..first + number("RING_HISTORIES", 15_000);
    let (mut within, mut beyond, mut overlaps, mut grants) = (0_u64, 0_u64, 0_u64, 0);
    for seed in seeds {
        let End {
            loss,
            is_within,
            is_overlap,
            grants: all,
        } = history(seed, WithoutRing::Nothing);
        assert!(!is_within || !is_overlap, "{loss:?}, history {seed}");
        within += u64::from(is_within);
        beyond += u64::from(!is_within);
        overlaps += u64::from(is_overlap);
        grants += all;
    }
    println!(
        "{grants} grants; {within} histories within a quarter: no overlap; {beyond} beyond: {overlaps} overlaps"
    );
    assert!(within > beyond / 4);
}

/// The rules that only copies side by side, or wrong clocks beside lost rows, need.
#[test]
fn without_one_of_the_rules_of_the_ring_nodes_are_granted_twice() {
    for without in WithoutRing::ALL {
        let is_bad = |seed: &u64| {
            let end = history(*seed, without);
            end.is_within && end.is_overlap
        };
        // It is rare, so the search begins near one.
        let first = if without == WithoutRing::Rest {
            37_500
        } else {
            0
        };
        let bad = (first..200_000).find(is_bad);
        println!("without {without:?}: an overlap in history {bad:?}");
        assert!(bad.is_some(), "{without:?}");
    }
}

/// Minutes each, with `--release -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn larger_rings_keep_leases_apart() {
    let right =
        |nodes, members, skew, faults| Small::new(nodes, members, skew).right().with_faults(faults);
    let any = |nodes, skew, far, faults| {
        Small::new(nodes, 2, skew)
            .any_clocks(far)
            .with_faults(faults)
    };
    search_all(&[
        (
            "right clocks: 1 node, 2 members, a skew, 2 faults",
            right(1, 2, 1, 2),
        ),
        (
            "right clocks: 2 nodes, 2 members, a skew, 1 fault, nothing late",
            right(2, 2, 1, 1).on_time(),
        ),
        (
            "right clocks: 2 nodes, 3 members, 3 faults",
            right(2, 3, 0, 3),
        ),
        (
            "right clocks: 3 nodes, 3 members, 2 faults",
            right(3, 3, 0, 2),
        ),
        (
            "right clocks: 4 nodes, 3 members, 1 fault",
            right(4, 3, 0, 1),
        ),
        (
            "reverted with its memory: 1 node, 2 members, a skew, 2 faults",
            right(1, 2, 1, 2).on_time().with_reverts(),
        ),
        ("any clocks: 1 node, far, 1 fault", any(1, 0, 3, 1)),
        (
            "any clocks: 1 node, a skew, 1 fault, nothing late",
            any(1, 1, 3, 1).on_time(),
        ),
        (
            "any clocks: 2 nodes, 1 fault, nothing late",
            any(2, 0, 2, 1).on_time(),
        ),
    ]);
}
