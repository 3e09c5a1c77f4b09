//! Ids that fit a condition.

use crate::common::{DEFAULTS, HOUR, MS, STRICT, Script};
use mint_core::snowflake::mint::Refusal;
use mint_core::{HashPartition, MintError, Policy, mint_fitting};

/// A partition of `modulus`, the last one.
fn partition(modulus: i32) -> HashPartition {
    HashPartition::new(modulus, modulus - 1).unwrap()
}

impl Script {
    /// Takes words until one fits; returns it.
    fn fitting(&mut self, fits: impl Fn(u64) -> bool) -> Result<u64, MintError> {
        loop {
            let Script {
                layout,
                lane,
                policy,
                world,
            } = self;
            match mint_fitting(lane, layout, policy, world, &fits) {
                Ok(Some(word)) => return Ok(word),
                Ok(None) => {}
                Err(Refusal::Refused(error)) => return Err(error),
                Err(Refusal::Interrupted(())) => unreachable!("nothing interrupts"),
            }
        }
    }
}

/// Every word that fits is returned, and the lane stands at it: no more is lost than what did not fit.
#[test]
fn nothing_that_fits_is_lost() {
    for modulus in [1, 2, 3, 16, 100, 256] {
        let mut script = Script::new("instagram", DEFAULTS);
        script.set(HOUR);
        let layout = script.layout;
        let partition = partition(modulus);
        let fits = |word| partition.has_number(layout.id(0, word));
        let first = script.run(1).unwrap().first;
        let mut last = first;
        for _ in 0..1_000 {
            let word = script.fitting(fits).unwrap();
            assert!(
                (last + 1..word).all(|word| !fits(word)),
                "modulus {modulus}"
            );
            assert!(fits(word));
            assert_eq!(script.lane.last(), word);
            last = word;
        }
        let rate = (last - first) as f64 / 1_000.0 / f64::from(modulus);
        assert!((0.8..1.25).contains(&rate), "modulus {modulus}: {rate}");
    }
}

/// A new tick begins behind the search: what is returned fits and ascends all the same.
#[test]
fn a_new_tick_begins_meanwhile() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    let layout = script.layout;
    let partition = partition(1_000);
    let fits = |word| partition.has_number(layout.id(0, word));
    let mut last = 0;
    for span in 0..2_000 {
        script.pass(span % 7 * MS / 2);
        let word = script.fitting(fits).unwrap();
        assert!(fits(word) && word > last);
        last = word;
    }
    assert_eq!(script.world.pauses, []);
}

/// Sessions that take turns at one lane between the search and the swap never return a word twice.
#[test]
fn sessions_share_a_lane() {
    let mut script = Script::new("mastodon", DEFAULTS);
    script.set(HOUR);
    let layout = script.layout;
    let lane = &script.lane;
    let at = script.world.at;
    // The interpreter of arm64.sh is slow.
    let each = if cfg!(miri) { 5 } else { 5_000 };
    let mut all: Vec<u64> = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..4)
            .map(|session| {
                scope.spawn(move || {
                    let mut world = Script::new("mastodon", DEFAULTS).world;
                    world.at = at;
                    let partition = HashPartition::new(16, session % 2).unwrap();
                    let mut words = Vec::new();
                    while words.len() < each {
                        let fits = |word| partition.has_number(layout.id(0, word));
                        let minted = mint_fitting(lane, &layout, &DEFAULTS, &mut world, fits);
                        words.extend(minted.unwrap());
                    }
                    assert!(words.is_sorted_by(|a, b| a < b));
                    words
                })
            })
            .collect();
        sessions
            .into_iter()
            .flat_map(|session| session.join().unwrap())
            .collect()
    });
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// The limits are those of minting: it waits where a tick is used up, and fails where minting would.
#[test]
fn the_limits_are_those_of_minting() {
    let mut script = Script::new("sonyflake", STRICT);
    script.set(HOUR);
    for _ in 0..100 {
        script.fitting(|word| word % 64 == 63).unwrap();
    }
    // 4 ids of each tick of 10 ms fit.
    assert_eq!(script.world.pauses.len(), 24);

    let ended = script.layout.end().unwrap();
    script.world.at = ended;
    script.world.up += ended;
    let policy = Policy {
        max_jump: i64::MAX,
        ..STRICT
    };
    script.policy = policy;
    assert_eq!(script.fitting(|_| true), Err(MintError::Exhausted));
    script.world.at = script.layout.epoch() - 1;
    assert_eq!(script.fitting(|_| true), Err(MintError::BeforeEpoch));
}

/// A search that finds nothing ends after some words, so that a caller can be interrupted.
#[test]
fn a_search_without_end_can_be_interrupted() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    let before = script.run(1).unwrap().first;
    let Script {
        layout,
        lane,
        policy,
        world,
    } = &mut script;
    let minted = mint_fitting(lane, layout, policy, world, |_| false);
    assert_eq!(minted, Ok(None));
    assert!(lane.last() - before <= 4_096);
}
