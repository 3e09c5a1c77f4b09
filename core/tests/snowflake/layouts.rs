//! Layouts as text, bytes and ids, over arbitrary ones.

use mint_core::snowflake::definition::{Definition, Order};
use mint_core::{IdError, Lane, Layout, Micros, SpanError};
use proptest::prelude::*;
use proptest::sample::select;

const ORDERS: [Order; 6] = [
    Order::TimeNodeSeq,
    Order::TimeSeqNode,
    Order::NodeTimeSeq,
    Order::NodeSeqTime,
    Order::SeqTimeNode,
    Order::SeqNodeTime,
];

/// Text has the timestamps of the years -9999 to 9999.
fn epochs() -> impl Strategy<Value = Micros> {
    let first = jiff::Timestamp::MIN.as_microsecond();
    let last = jiff::Timestamp::MAX.as_second() * 1_000_000;
    prop_oneof![
        Just(first),
        Just(last),
        Just(0_i64),
        first..=last,
        0..2_000_000_000_000_000_i64
    ]
}

fn units() -> impl Strategy<Value = u32> {
    prop_oneof![
        select(&[1, 1_000, 10_000, 1_000_000, 3_600_000_000][..]),
        1..=3_600_000_000_u32
    ]
}

/// Any layout of at most `bits` bits.
pub fn layouts(bits: u32) -> impl Strategy<Value = Layout> {
    let widths = (0..64_u32, 0..64_u32, 0..64_u32, 0..64_u32, 0..64_u32);
    (select(&ORDERS[..]), widths, units(), epochs()).prop_filter_map(
        "the 64th bit can only be the time's",
        move |(order, (time, seq, upper, lower, start), unit, epoch)| {
            let time = 1 + time % (bits - 1);
            let seq = 1 + seq % (bits - time);
            let most = (bits - time - seq).min(31);
            let upper = upper % (most + 1);
            let lower = if upper == 0 {
                0
            } else {
                lower % (most - upper + 1)
            };
            let start = start % (seq + 1);
            let shard = (upper, lower);
            Layout::new(Definition {
                order,
                time,
                shard,
                seq,
                unit,
                epoch,
                start,
            })
            .ok()
        },
    )
}

/// Any timestamps, often near a tick of the layout or its ends.
fn timestamps(layout: Layout) -> impl Strategy<Value = Micros> {
    let near = (0..=layout.max_tick() + 1, -2..=2_i64).prop_map(move |(tick, by)| {
        let start = i128::from(tick) * i128::from(layout.unit()) + i128::from(layout.epoch() + by);
        Micros::try_from(start).unwrap_or(Micros::MAX)
    });
    prop_oneof![8 => near, 1 => any::<Micros>(), 1 => select(&[Micros::MIN, Micros::MAX, 0][..])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn text_says_all_of_a_layout(layout in layouts(64)) {
        prop_assert_eq!(layout.to_string().parse(), Ok(layout));
        prop_assert_eq!(layout.fields().parse(), Ok(layout));
    }

    #[test]
    fn bytes_and_lanes_keep_all_of_a_layout(layout in layouts(64), shard: u64) {
        prop_assert_eq!(Layout::from_bytes(&layout.to_bytes()), Ok(layout));
        prop_assert_eq!(Lane::outside_table(&layout, shard).layout(), Some(layout));
    }

    /// Accepted bytes are of a layout that text can express, and are its only stored form.
    /// Near every multiple of the unit, up to the largest age there is.
    #[test]
    fn ticks_by_the_reciprocal_are_those_of_a_division(
        layout in layouts(63),
        age in 0..=i64::MAX.unsigned_abs(),
        near in -1..=1_i64,
    ) {
        let unit = layout.unit().unsigned_abs();
        let edge = (age / unit * unit).saturating_add_signed(near).min(i64::MAX.unsigned_abs());
        for age in [age, edge, i64::MAX.unsigned_abs()] {
            prop_assert_eq!(layout.ticks(age), age / unit);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_a_layout(
        mut bytes: [u8; 20],
        widths in [0..66_u8, 0..9, 0..9, 0..20, 0..7, 0..20],
        plausible: bool,
    ) {
        if plausible {
            bytes[0] = Layout::VERSION;
            bytes[1..7].copy_from_slice(&widths);
            bytes[7] = 0;
        }
        if let Ok(layout) = Layout::from_bytes(&bytes) {
            prop_assert_eq!(layout.fields().parse(), Ok(layout));
            prop_assert_eq!(Layout::from_bytes(&layout.to_bytes()), Ok(layout));
        }
    }

    #[test]
    fn arbitrary_text_never_panics(
        text in ".*",
        words in prop::collection::vec("(time|shard|seq|unit|epoch|start|):[0-9]{0,3}[+a-zµ(]{0,3}.{0,2}", 0..6),
    ) {
        let _ = text.parse::<Layout>();
        let _ = words.join(" ").parse::<Layout>();
    }

    #[test]
    fn ids_are_positive_and_decode_to_what_was_encoded(
        (layout, at) in layouts(64).prop_flat_map(|layout| (Just(layout), timestamps(layout))),
        shard: u64,
        sequence: u64,
    ) {
        let (shard, sequence) = (shard & layout.shard.max(), sequence & layout.seq.max());
        let inside = at >= layout.epoch() && layout.end().is_none_or(|end| at < end);
        match layout.encode(at, shard as i64, sequence as i64) {
            Err(error) => prop_assert!(!inside, "{} {}: {}", layout, at, error),
            Ok(id) => {
                prop_assert!(inside && id >= 0);
                let parts = layout.decode(id).unwrap();
                prop_assert_eq!((parts.shard, parts.sequence), (shard, sequence));
                let late = i128::from(at) - i128::from(parts.at);
                prop_assert!((0..i128::from(layout.unit())).contains(&late));
            }
        }
    }

    #[test]
    fn ids_that_no_layout_field_explains_are_refused(layout in layouts(63), id: i64) {
        let d = layout.definition();
        let bits = d.time + d.shard.0 + d.shard.1 + d.seq;
        let stray = id < 0 || id >> bits != 0;
        match layout.decode(id) {
            Ok(_) => prop_assert!(!stray),
            Err(error) => {
                let expected = IdError::NotAnId { id, layout: layout.to_string() };
                prop_assert_eq!(error, expected);
            }
        }
        prop_assert_eq!(layout.decode(id | i64::MIN).is_err(), true);
        for id in [id, id | i64::MIN] {
            prop_assert_eq!(layout.time_of(id), layout.decode(id).map(|parts| parts.at));
        }
    }

    /// Against the definition itself, applied to each of the layout's ids.
    #[test]
    fn bounds_bracket_exactly_the_ids_of_a_range(
        (layout, at) in layouts(9).prop_flat_map(|layout| (Just(layout), timestamps(layout))),
    ) {
        if !layout.time_on_top() {
            prop_assert_eq!(layout.min_id(at), Err(IdError::TimeNotOnTop(layout.to_string())));
            prop_assert_eq!(layout.max_id(at), Err(IdError::TimeNotOnTop(layout.to_string())));
            return Ok(());
        }
        let ids = || (0..512).filter_map(|id| Some((id, layout.decode(id).ok()?.at)));
        let least = |holds: &dyn Fn(Micros) -> bool| ids().filter(|x| holds(x.1)).map(|x| x.0).min();
        let most = |holds: &dyn Fn(Micros) -> bool| ids().filter(|x| holds(x.1)).map(|x| x.0).max();
        prop_assert_eq!(layout.min_id(at), Ok(least(&|time| time >= at)));
        prop_assert_eq!(layout.min_id_after(at), Ok(least(&|time| time > at)));
        prop_assert_eq!(layout.max_id(at), Ok(most(&|time| time <= at)));
        prop_assert_eq!(layout.max_id_before(at), Ok(most(&|time| time < at)));
    }

    /// From the first tick on, wherever there are ids: by the bounds themselves.
    #[test]
    fn a_span_is_what_the_bounds_grow_by(layout in layouts(9), ticks in -2..40_i64, rest in 0..3_i64, start in 0..40_i64) {
        let length = ticks * layout.unit() + rest;
        let bound = |tick: i64| layout.min_id(layout.tick_start(tick.unsigned_abs()).expect("an epoch of our time"));
        let span = layout.span(0, 0, length);
        if !layout.time_on_top() {
            prop_assert_eq!(span, Err(SpanError::Layout(IdError::TimeNotOnTop(layout.to_string()))));
        } else if length <= 0 {
            prop_assert_eq!(span, Err(SpanError::NotPositive));
        } else if length % layout.unit() != 0 {
            let is_refused = matches!(span, Err(SpanError::PartOfATick { .. }));
            prop_assert!(is_refused, "{:?}", span);
        } else if bound(length / layout.unit()).unwrap().is_some() {
            for from in [0, start] {
                let (from, to) = (bound(from).unwrap(), bound(from + length / layout.unit()).unwrap());
                if let (Some(from), Some(to)) = (from, to) {
                    prop_assert_eq!(&span, &Ok(to - from));
                }
            }
        } else {
            let is_refused = matches!(span, Err(SpanError::TooLong { .. }));
            prop_assert!(is_refused, "{:?}", span);
        }
    }
}

/// Layouts that could issue the same id have one lane: the key is all but width and presentation.
#[test]
fn layouts_whose_ids_could_be_equal_share_their_lanes() {
    let key = |text: &str| text.parse::<Layout>().unwrap().key();
    assert_eq!(key("twitter"), key("leaf"));
    assert_eq!(key("discord"), key("java"));
    assert_ne!(key("java"), key("goflake"));
    assert_ne!(key("sonyflake"), key("sonyflake2"));
    let base = "time:20 shard:4 seq:8 epoch:2020-01-01T00:00:00Z";
    for other in [
        "time:20 seq:8 shard:4 epoch:2020-01-01T00:00:00Z",
        "time:20 shard:5 seq:7 epoch:2020-01-01T00:00:00Z",
        "time:20 shard:4 seq:8 unit:2ms epoch:2020-01-01T00:00:00Z",
        "shard:4 time:20 seq:8 epoch:2020-01-01T00:00:00Z",
    ] {
        assert_ne!(key(base), key(other), "{other}");
    }
}
