//! Segments and the rules of sequences, with the known ids of the originals.

use mint_core::counter::segment::{MAX_VALUES, SegmentOwner, Switch};
use mint_core::counter::sequence::{LASTING, adapt, first_of_series, steps};
use mint_core::{Draw, Micros, Rules, Segment, SequenceState, Values};
use serde_json::Value;

const VECTORS: &str = include_str!("../vectors/known_ids.json");

fn rows(group: &str, kind: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(VECTORS).unwrap();
    let mut rows: Vec<Value> = all.as_array().unwrap().to_vec();
    rows.retain(|row| row["group"] == group && row["kind"] == kind);
    assert!(!rows.is_empty(), "{group} {kind}");
    rows
}

fn numbers(value: &Value) -> Vec<i64> {
    let numbers = value.as_array().unwrap().iter();
    numbers.map(|number| number.as_i64().unwrap()).collect()
}

const UP: Rules = Rules {
    increment: 1,
    min: 1,
    max: i64::MAX,
    cycle: false,
};
const MINE: SegmentOwner = 1;

/// A server with one sequence and its segments, as the extension uses them.
pub struct Server {
    rules: Rules,
    pub steps: (u64, u64),
    pub now: Micros,
    pub page: SequenceState,
    pub durable: SequenceState,
    segment: Segment,
    takes: u64,
}

impl Server {
    pub fn new(rules: Rules, start: i64, step: u64) -> Self {
        let page = SequenceState {
            last: start,
            called: false,
        };
        let segment = Segment::default();
        segment.reassign(MINE);
        Self {
            rules,
            steps: (step, step),
            now: 0,
            page,
            durable: page,
            segment,
            takes: 0,
        }
    }

    /// Takes values from the page, as the next segment. The position in the log is the number of segments taken.
    fn fill(&mut self) -> bool {
        if !self.segment.lacks_next() {
            return true;
        }
        let step = self.segment.next_step(self.now, self.steps);
        let Some(values) = self.rules.take(self.page, 1, step) else {
            return false;
        };
        self.segment.note_step(step);
        self.page = SequenceState {
            last: values.last(),
            called: true,
        };
        self.takes += 1;
        assert!(self.segment.fill(MINE, values, self.takes, self.now));
        true
    }

    pub fn draw(&mut self, want: u64) -> Option<Values> {
        loop {
            match self.segment.draw(MINE, want) {
                Draw::Got {
                    first,
                    increment,
                    fetch,
                } => {
                    if fetch {
                        self.fill();
                    }
                    return Some(Values {
                        first,
                        increment,
                        count: want,
                    });
                }
                Draw::NotMine => panic!("there is no other owner"),
                Draw::Short { .. } if want > 1 => {
                    let values = self.rules.take(self.page, want, want)?;
                    self.page = SequenceState {
                        last: values.last(),
                        called: true,
                    };
                    self.durable = self.page;
                    return Some(values);
                }
                Draw::Short { .. } => {
                    let (page, durable) = (self.page, &mut self.durable);
                    let turn = self.segment.switch(MINE, |_| *durable = page);
                    if turn == Switch::Unfilled && !self.fill() {
                        return None;
                    }
                }
            }
        }
    }

    fn next(&mut self) -> Option<i64> {
        self.draw(1).map(|values| values.first)
    }

    /// `nextval`, with its record on disk before the value is seen.
    pub fn nextval(&mut self) -> Option<i64> {
        let values = self.rules.take(self.page, 1, 1)?;
        self.page = SequenceState {
            last: values.first,
            called: true,
        };
        self.durable = self.page;
        Some(values.first)
    }

    pub fn crash(&mut self, lost: bool) {
        if lost {
            self.page = self.durable;
        }
        self.durable = self.page;
        self.segment = Segment::default();
        self.segment.reassign(MINE);
    }
}

#[test]
fn leaf_segments_are_the_ranges_of_leaf() {
    for row in rows("leaf-segment", "ranges") {
        let step = row["input"]["step"].as_u64().unwrap();
        let mut server = Server::new(UP, row["input"]["max_id"].as_i64().unwrap(), step);
        for range in row["expected"].as_array().unwrap() {
            let [first, last] = numbers(range)[..] else {
                panic!("{range}")
            };
            for id in first..=last {
                assert_eq!(server.next(), Some(id));
            }
        }
    }
}

#[test]
fn leaf_fetches_the_next_segment_with_id_202() {
    let row = rows("leaf-segment", "prefetch-trigger").remove(0);
    let words = row["expected"].as_str().unwrap();
    assert!(words.starts_with("call returning 202 is the first to trigger"));
    let mut server = Server::new(UP, 1, 2_000);
    for id in 1..=201 {
        assert_eq!(server.next(), Some(id));
        assert_eq!(server.page.last, 2_000, "{id}");
    }
    assert_eq!(server.next(), Some(202));
    assert_eq!(server.page.last, 4_000);
}

#[test]
fn leaf_adapts_its_step() {
    let row = rows("leaf-segment", "dynamic-step").remove(0);
    let own = row["input"]["step"].as_u64().unwrap();
    let mut step = own;
    for (minutes, expected) in numbers(&row["input"]["minutes_between_refills"])
        .into_iter()
        .zip(numbers(&row["expected"]))
    {
        // Leaf's 15 minutes are those of one segment.
        step = adapt(step, minutes * LASTING / 15, own, 1_000_000);
        assert_eq!(i64::try_from(step), Ok(expected), "{minutes} minutes");
    }
    // A step of a CACHE or of a number of values that was lowered since.
    assert_eq!(adapt(1_000_000, 1, 2, 2), 2);
    assert_eq!(adapt(1_000_000, 1, 2, 100), 100);
}

/// A segment notes its times: the first two takes are the least, and the third depends on how long the second lasted.
#[test]
fn a_busy_segment_grows_to_its_most_and_an_idle_one_shrinks_to_its_least() {
    let steps = steps(1, u64::MAX);
    assert_eq!(steps, (10, 1_000_000));
    let segment = Segment::default();
    segment.reassign(MINE);
    let mut now = 1;
    let (quick, slow) = ([LASTING - 1; 19], [2 * LASTING; 17]);
    let taken = [&[0, 1, LASTING][..], &quick, &[LASTING], &slow].concat();
    let taken: Vec<u64> = taken
        .into_iter()
        .map(|lasted| {
            now += lasted;
            let step = segment.next_step(now, steps);
            segment.note_step(step);
            let values = Values {
                first: 1,
                increment: 1,
                count: 1,
            };
            assert!(segment.fill(MINE, values, 0, now));
            // Used up and turned to, so that the next one can be filled.
            let _ = segment.switch(MINE, |_| ());
            while let Draw::Got { .. } = segment.draw(MINE, 1) {}
            step
        })
        .collect();
    let doubled = |times: u32| 10 * 2_u64.pow(times);
    let mut expected = vec![10, 10, 10];
    expected.extend((1..=16).map(doubled));
    expected.extend([doubled(16); 4]);
    expected.extend((0..16).rev().map(doubled));
    expected.push(10);
    assert_eq!(taken, expected);
}

/// Draws from a new server for so long, at this rate. Returns how many values a restart skips then.
fn skipped_after(seconds: i64, a_second: u64) -> u64 {
    let mut server = Server::new(UP, 1, 1);
    server.steps = steps(1, UP.total());
    for second in 0..seconds {
        server.now = second * 1_000_000 + 1;
        for _ in 0..a_second {
            assert!(server.next().is_some());
        }
    }
    server.page.last.unsigned_abs() - seconds.unsigned_abs() * a_second
}

#[test]
fn a_restart_skips_no_more_than_was_issued_in_a_quarter_of_an_hour() {
    for (a_second, minutes) in [(1, 600), (3, 600), (40, 300), (1_000, 90), (2_500, 60)] {
        for minutes in minutes..minutes + 9 {
            let skipped = skipped_after(minutes * 60, a_second);
            assert!(
                skipped <= a_second * 900,
                "{skipped} after {minutes} minutes of {a_second} a second"
            );
        }
    }
}

#[test]
fn a_sequence_that_has_issued_eight_values_continues_within_fifty_after_a_restart() {
    let mut server = Server::new(UP, 1, 1);
    server.steps = steps(1, UP.total());
    for value in 1..=8 {
        assert_eq!(server.next(), Some(value));
        assert!(server.page.last < 50, "{:?}", server.page);
    }
    server.crash(false);
    assert_eq!(server.next(), Some(21));
}

#[test]
fn a_step_is_the_cache_or_at_most_a_thousandth_of_all_values() {
    assert_eq!(steps(500, 100), (500, 500));
    assert_eq!(steps(u64::MAX, 100), (1_000_000, 1_000_000));
    assert_eq!(steps(1, u64::from(u32::MAX / 2)), (10, 1_000_000));
    assert_eq!(steps(1, 32_767), (10, 32));
    assert_eq!(steps(1, 5_000), (5, 5));
    assert_eq!(steps(1, 5), (1, 1));
}

#[test]
fn flickrs_two_servers_never_meet() {
    let row = rows("flickr", "two-servers").remove(0);
    for (server, key) in [(1, "server1"), (2, "server2")] {
        let start = first_of_series(server, 2, 0).unwrap();
        let rules = Rules { increment: 2, ..UP };
        let mut tickets = Server::new(rules, start, 2_000);
        for expected in numbers(&row["expected"][key]) {
            assert_eq!(tickets.next(), Some(expected));
        }
    }
}

#[test]
fn mysqls_auto_increment_continues_above_the_greatest() {
    for row in rows("mysql", "auto_increment") {
        let input = &row["input"];
        let increment = input["increment"].as_i64().unwrap();
        let above = input["after"].as_i64().unwrap_or(0);
        let start = first_of_series(input["offset"].as_i64().unwrap(), increment, above).unwrap();
        let mut tickets = Server::new(Rules { increment, ..UP }, start, 100);
        for expected in numbers(&row["expected"]) {
            assert_eq!(tickets.next(), Some(expected));
        }
    }
}

#[test]
fn a_series_begins_above_the_given_value() {
    assert_eq!(first_of_series(2, 2, 1), Some(2));
    assert_eq!(first_of_series(2, 2, 2), Some(4));
    assert_eq!(first_of_series(3, 3, 20_000), Some(20_001));
    assert_eq!(first_of_series(1, 1, i64::MAX), None);
    assert_eq!(first_of_series(9, 10, i64::MAX - 5), None);
}

#[test]
fn idgo_continues_above_setval_and_above_its_batch_after_a_crash() {
    let row = rows("idgo", "session").remove(0);
    let mut server = Server::new(UP, 1, 2_000);
    server.page = SequenceState {
        last: 100,
        called: true,
    };
    for expected in numbers(&Value::from(
        row["expected"].as_array().unwrap()[1..].to_vec(),
    )) {
        assert_eq!(server.next(), Some(expected));
    }
    server.crash(true);
    let after = rows("idgo", "crash").remove(0);
    assert_eq!(server.next(), Some(numbers(&after["expected"])[0]));
}

#[test]
fn a_segment_given_to_another_owner_leaves_its_former_one() {
    let mut server = Server::new(UP, 1, 10);
    assert_eq!(server.next(), Some(1));
    server.fill();
    assert_eq!(server.segment.reassign(2), 19);
    assert_eq!(server.segment.draw(MINE, 1), Draw::NotMine);
    assert_eq!(server.segment.draw(2, 1), Draw::Short { left: 0 });
    let values = Values {
        first: 900,
        increment: 1,
        count: 5,
    };
    assert!(!server.segment.fill(MINE, values, 1, 0));
    assert!(server.segment.fill(2, values, 1, 0));
    assert_eq!(server.segment.switch(2, |_| ()), Switch::Done);
    assert_eq!(server.segment.draw(MINE, 1), Draw::NotMine);
    let drawn = server.segment.draw(2, 5);
    assert!(matches!(drawn, Draw::Got { first: 900, .. }), "{drawn:?}");
}

#[test]
fn the_ends_of_64_bits_are_reached_and_not_passed() {
    for (increment, start) in [(1, i64::MAX - 2), (-1, i64::MIN + 2), (2, i64::MAX - 3)] {
        let rules = Rules {
            increment,
            min: i64::MIN,
            max: i64::MAX,
            cycle: false,
        };
        for step in [1, 2, 2_000] {
            let mut server = Server::new(rules, start, step);
            let all: Vec<i64> = std::iter::from_fn(|| server.next()).collect();
            let count = if increment == 2 { 2 } else { 3 };
            assert_eq!(all.len(), count, "{increment} {step} {all:?}");
            assert_eq!(server.next(), None);
        }
    }
    assert_eq!(UP.total(), i64::MAX.unsigned_abs());
}

const _: () = assert!(MAX_VALUES >= 1_000_000, "Leaf's longest step fits");
