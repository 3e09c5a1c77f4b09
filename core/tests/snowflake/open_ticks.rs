//! Open ticks beside mint(): on equal lanes both return the same id, wherever an open tick returns one.

use crate::common::{HOUR, MS, SECOND, World};
use mint_core::{
    BUILTINS, Ceiling, Lane, Layout, Lease, Micros, OpenTick, Policy, mint, mint_at_once,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::cell::Cell;

/// Ticks of few words and of many, short and long ones, and one that ends soon after the epoch.
const TEXTS: [&str; 6] = [
    "time:36 shard:4 seq:2 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
    "time:40 shard:4 seq:3 unit:7919us epoch:2020-02-03T04:05:06.789123Z",
    "time:40 shard:4 seq:1 unit:1us epoch:2020-02-03T04:05:06.789123Z",
    "time:31 shard:19 seq:13 unit:1s epoch:2024-01-01T00:00:00Z",
    "time:20 shard:10 seq:30 unit:600s epoch:2024-01-01T00:00:00Z",
    "time:10 shard:4 seq:2 unit:1ms epoch:2024-01-01T00:00:00Z",
];
const SHARD: u64 = 1;

#[derive(Debug, Clone, Copy)]
enum Event {
    Mint,
    /// The clock is set by so much.
    Clock(Micros),
    /// The clock is set by so many microseconds from the end of the open tick, or from where it is `max_ahead` away.
    Edge(bool, Micros),
    /// The limit and the floor of the ceiling are so far from the open tick's start.
    Bounds(Micros, Micros),
    Unbounded,
    /// The lease is from and until so far from the open tick's start.
    Lease(Micros, Micros),
    NoLease,
    /// Another session mints so many words.
    Other(u64),
}

fn offsets() -> impl Strategy<Value = Micros> {
    prop_oneof![
        3 => -2..=2_i64,
        2 => -20 * MS..20 * MS,
        1 => -5 * SECOND..5 * SECOND,
        1 => -3 * HOUR..3 * HOUR,
    ]
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => Just(Event::Mint),
        4 => offsets().prop_map(Event::Clock),
        3 => (any::<bool>(), -2..=2_i64).prop_map(|(end, by)| Event::Edge(end, by)),
        2 => (offsets(), offsets()).prop_map(|(limit, floor)| Event::Bounds(limit, floor)),
        2 => Just(Event::Unbounded),
        1 => (offsets(), offsets()).prop_map(|(from, until)| Event::Lease(from, until)),
        1 => Just(Event::NoLease),
        1 => (1..9_u64).prop_map(Event::Other),
    ]
}
