//! Partitions by time, over arbitrary steps, layouts, years and partitions that are there already.

use mint_core::adopt::keys::{Key, Keys};
use mint_core::adopt::partition::{Gap, Range, Step, StepError, gaps};
use mint_core::snowflake::definition::{Definition, Order};
use mint_core::{BUILTINS, Layout, Micros, ObjectId};
use proptest::prelude::*;
use proptest::sample::select;

const SECOND: Micros = 1_000_000;
const DAY: Micros = 86_400 * SECOND;

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..=36_i32).prop_map(|months| Step::new(months, 0, 0).unwrap()),
        (1..=40_i32).prop_map(|days| Step::new(0, days, 0).unwrap()),
        (1..=400_000_i64).prop_map(|seconds| Step::new(0, 0, seconds * SECOND).unwrap()),
        select(&[60, 3_600, 86_400][..]).prop_map(|s: i64| Step::new(0, 0, s * SECOND).unwrap()),
    ]
}

/// The built-in layouts whose ids sort by time, and any other such layout.
fn keys() -> impl Strategy<Value = Keys> {
    let other = (
        select(&[Order::TimeNodeSeq, Order::TimeSeqNode][..]),
        20..=48_u32,
        0..=12_u32,
        1..=4_u32,
        select(&[1, 1_000, 10_000, 1_000_000, 60_000_000, 3_600_000_000][..]),
        0..1_800_000_000_000_000_i64,
    )
        .prop_filter_map("too wide", |(order, time, shard, seq, unit, epoch)| {
            let shard = (shard, 0);
            let start = 0;
            #[rustfmt::skip]
            let definition = Definition { order, time, shard, seq, unit, epoch, start };
            Layout::new(definition).ok().map(Keys::Snowflake)
        });
    let builtin = (0..BUILTINS.len()).prop_map(|place| Keys::Snowflake(BUILTINS[place].layout));
    prop_oneof![3 => builtin, 3 => other, 1 => Just(Keys::UuidV7), 1 => Just(Keys::ObjectId)]
}

/// 1971 to 2300.
fn times() -> impl Strategy<Value = Micros> {
    365 * DAY..120_530 * DAY
}

/// Edges from the one at or before `at` on, with their keys.
fn plan(keys: &Keys, step: Step, at: Micros, count: usize) -> (Vec<Micros>, Vec<Option<Key>>) {
    let mut edges = vec![step.floor(at).unwrap()];
    for _ in 0..count {
        edges.push(step.after(edges[edges.len() - 1]).unwrap());
    }
    let bounds = edges
        .iter()
        .map(|&edge| keys.first(edge).unwrap())
        .collect();
    (edges, bounds)
}

fn holds(gap: &Gap<Key>, key: Key) -> bool {
    gap.from <= key && gap.until.is_none_or(|until| key < until)
}

/// An id of a time: the smallest and the largest there are.
fn ids(keys: &Keys, at: Micros) -> Vec<Key> {
    let texts = match keys {
        Keys::Snowflake(layout) => {
            let min = layout.encode(at, 0, 0).ok();
            let (shard, seq) = (layout.shard.max() as i64, layout.seq.max() as i64);
            let max = layout.encode(at, shard, seq).ok();
            [min.map(|id| id.to_string()), max.map(|id| id.to_string())]
        }
        Keys::UuidV7 => {
            let of = |random| mint_core::uuid::version::v7_at(at, random).map(|id| id.to_string());
            [of(0), of(u64::MAX)]
        }
        Keys::ObjectId => {
            let whole = at / SECOND * SECOND;
            [
                ObjectId::min(whole).map(|id| id.to_string()),
                ObjectId::max(whole).map(|id| id.to_string()),
            ]
        }
    };
    let texts = texts.into_iter().flatten();
    texts.map(|text| keys.parse(&text).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn edges_follow_one_another(step in steps(), at in times()) {
        let edge = step.floor(at).unwrap();
        let next = step.after(edge).unwrap();
        prop_assert!(edge <= at && at < next, "{edge} {at} {next}");
        for inside in [edge, at, next - 1] {
            prop_assert_eq!(step.floor(inside), Some(edge));
        }
        prop_assert_eq!(step.floor(next), Some(next));
    }

    /// Partitions of a plan meet, and an id of a time is in the partition of that time.
    #[test]
    fn new_partitions_meet_and_hold_the_ids_of_their_time(
        keys in keys(), step in steps(), at in times(), count in 1..40_usize, inside in 0.0..1.0_f64,
    ) {
        let (edges, bounds) = plan(&keys, step, at, count);
        let found = gaps(&bounds, Vec::new());
        for pair in found.windows(2) {
            prop_assert_eq!(pair[0].until, Some(pair[1].from));
        }
        if let (Some(first), Some(last)) = (found.first(), found.last()) {
            prop_assert_eq!(Some(first.from), bounds[0]);
            let end = bounds[bounds.len() - 1];
            prop_assert_eq!(last.until, end);
        }
        for (place, ends) in edges.windows(2).enumerate() {
            let within = ends[0] + ((ends[1] - ends[0] - 1) as f64 * inside) as i64;
            for time in [ends[0], within, ends[1] - 1] {
                for id in ids(&keys, time) {
                    // A tick that began before the edge belongs to the partition before.
                    if keys.time(id).unwrap() < edges[0] {
                        continue;
                    }
                    let homes: Vec<_> = found.iter().filter(|gap| holds(gap, id)).collect();
                    prop_assert_eq!(homes.len(), 1, "{} has {:?}", time, homes);
                    let at = keys.time(id).unwrap();
                    prop_assert!(edges[homes[0].edge] <= at || at < ends[0]);
                    prop_assert!(homes[0].edge <= place);
                    if at >= ends[0] {
                        prop_assert_eq!(homes[0].edge, place);
                    }
                }
            }
        }
    }

    /// Beside any partitions that are there, each key is in exactly one.
    #[test]
    fn nothing_is_covered_twice_or_not_at_all(
        keys in keys(), step in steps(), at in times(), count in 1..30_usize,
        cuts in proptest::collection::vec((-40.0..40.0_f64, any::<bool>()), 0..12),
        open in (any::<bool>(), any::<bool>()),
    ) {
        let (edges, bounds) = plan(&keys, step, at, count);
        let length = edges[1] - edges[0];
        let mut cuts: Vec<(Key, bool)> = cuts
            .into_iter()
            .filter_map(|(by, taken)| {
                Some((keys.first(edges[0] + (by * length as f64) as i64).unwrap()?, taken))
            })
            .collect();
        cuts.sort_unstable();
        cuts.dedup_by_key(|cut| cut.0);
        let mut taken: Vec<Range<Key>> = cuts
            .windows(2)
            .filter(|pair| pair[0].1)
            .map(|pair| Range { from: Some(pair[0].0), until: Some(pair[1].0) })
            .collect();
        if let (Some(&(first, _)), true) = (cuts.first(), open.0) {
            taken.push(Range { from: None, until: Some(first) });
        }
        if let (Some(&(last, _)), true) = (cuts.last(), open.1) {
            taken.push(Range { from: Some(last), until: None });
        }
        let found = gaps(&bounds, taken.clone());
        let Some(first) = bounds[0] else {
            prop_assert!(found.is_empty());
            return Ok(());
        };
        let end = bounds[bounds.len() - 1];
        let mut points: Vec<Key> = bounds.iter().copied().flatten().collect();
        points.extend(cuts.iter().map(|cut| cut.0));
        points.extend(found.iter().flat_map(|gap| gap.until.into_iter().chain([gap.from])));
        let around = |key: Key| [key.saturating_sub(1), key, key + 1];
        for key in points.into_iter().flat_map(around) {
            let covers = |range: &&Range<Key>| {
                range.from.is_none_or(|from| from <= key) && range.until.is_none_or(|until| key < until)
            };
            let old = taken.iter().filter(covers).count();
            let new = found.iter().filter(|gap| holds(gap, key)).count();
            let is_wanted = first <= key && end.is_none_or(|end| key < end);
            prop_assert_eq!(old + new, usize::from(is_wanted).max(old), "{}", key);
            prop_assert!(new == 0 || is_wanted);
        }
        for gap in &found {
            prop_assert!(gap.until.is_none_or(|until| gap.from < until));
        }
    }

    #[test]
    fn keys_are_texts(keys in keys(), at in times()) {
        for key in ids(&keys, at).into_iter().chain(keys.first(at).unwrap()) {
            prop_assert_eq!(keys.parse(&keys.text(key)), Some(key));
        }
    }
}

#[test]
fn edges_are_where_calendars_have_them() {
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_microsecond();
    let cases = [
        (
            (1, 0),
            "2026-11-23T10:00:00Z",
            "2026-11-01T00:00:00Z",
            "2026_11",
        ),
        (
            (3, 0),
            "2026-11-23T10:00:00Z",
            "2026-10-01T00:00:00Z",
            "2026_10",
        ),
        (
            (12, 0),
            "2026-11-23T10:00:00Z",
            "2026-01-01T00:00:00Z",
            "2026",
        ),
        (
            (0, 1),
            "2026-11-23T10:00:00Z",
            "2026-11-23T00:00:00Z",
            "2026_11_23",
        ),
        // A Sunday and the Monday before.
        (
            (0, 7),
            "2026-11-22T23:59:59Z",
            "2026-11-16T00:00:00Z",
            "2026_11_16",
        ),
        (
            (0, 7),
            "1969-12-31T23:00:00Z",
            "1969-12-29T00:00:00Z",
            "1969_12_29",
        ),
    ];
    for ((months, days), time, edge, name) in cases {
        let step = Step::new(months, days, 0).unwrap();
        assert_eq!(step.floor(at(time)), Some(at(edge)), "{time}");
        assert_eq!(step.name(at(edge)), name);
    }
    let quarter = Step::new(0, 0, 900 * SECOND).unwrap();
    let edge = quarter.floor(at("2026-11-23T10:59:59.9Z")).unwrap();
    assert_eq!(quarter.name(edge), "2026_11_23_104500");
    let leap = Step::new(1, 0, 0).unwrap();
    let days = |month: &str| {
        let edge = leap.floor(at(month)).unwrap();
        (leap.after(edge).unwrap() - edge) / DAY
    };
    assert_eq!(days("2028-02-10T00:00:00Z"), 29);
    assert_eq!(days("2100-02-10T00:00:00Z"), 28);
}

#[test]
fn spans_that_are_none_are_refused() {
    let cases = [
        ((0, 0, 0), StepError::NotPositive),
        ((-1, 0, 0), StepError::NotPositive),
        ((0, -7, 0), StepError::NotPositive),
        ((0, 0, -SECOND), StepError::NotPositive),
        ((1, 1, 0), StepError::Mixed),
        ((1, -1, 0), StepError::Mixed),
        ((0, 1, SECOND), StepError::Mixed),
        ((0, 0, SECOND / 2), StepError::Fraction),
        ((i32::MAX, 0, 0), StepError::TooLong),
        ((0, i32::MAX, 0), StepError::TooLong),
        ((0, 0, i64::MAX), StepError::TooLong),
    ];
    for ((months, days, time), error) in cases {
        assert_eq!(Step::new(months, days, time), Err(error));
    }
    let year = Step::new(12, 0, 0).unwrap();
    assert_eq!(year.floor(Micros::MIN), None);
    assert_eq!(year.floor(Micros::MAX), None);
    let last = year.floor(253_402_300_799 * SECOND).unwrap();
    assert_eq!(year.after(last), None);
}
