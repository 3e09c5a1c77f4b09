//! Lanes that start above ids of other servers, and shards made of parts.

use crate::common::{DEFAULTS, HOUR, MS, SECOND, STRICT, Script};
use mint_core::MintError::{self, BeyondReach, ClockJumped, LeaseEnded};
use mint_core::snowflake::mint::Refusal;
use mint_core::{IdError, Layout, Micros, java_shard_of_addresses, start_above};

impl Script {
    fn start_above(&mut self, word: u64, reach: Micros) -> Result<(), MintError> {
        let Script {
            lane,
            layout,
            policy,
            world,
        } = self;
        start_above(lane, layout, word, policy, reach, world).map_err(|refusal| match refusal {
            Refusal::Refused(error) => error,
            Refusal::Interrupted(()) => unreachable!("nothing interrupts"),
        })
    }

    /// Returns the word of a tick that starts so long after the epoch.
    fn word(&self, age: Micros, sequence: u64) -> u64 {
        (age / self.layout.unit()).unsigned_abs() << self.layout.seq.width | sequence
    }
}

/// Through a crash with the clock set back, too: the ceiling was on disk before.
#[test]
fn nothing_is_minted_at_or_below_the_word() {
    for layout in ["instagram", "sonyflake", "leaf"] {
        for sequence in [0, 7, 255] {
            let mut script = Script::new(layout, DEFAULTS);
            script.start_at(script.layout.epoch() + HOUR);
            script.set(HOUR + 100 * SECOND);
            let word = script.word(HOUR + 101 * SECOND, sequence);
            assert_eq!(script.start_above(word, SECOND), Ok(()));
            let kept = script.world.page.durable;
            assert_eq!(script.run(1).unwrap().first, word + 1, "{layout}");

            assert!(kept > script.layout.epoch() + HOUR + 101 * SECOND);
            script.restart(kept);
            script.set(HOUR + 100 * SECOND);
            assert!(script.run(1).unwrap().first > word, "{layout}");
        }
    }
}

/// Nothing is written for it either, as the ceiling is above it.
#[test]
fn an_older_word_changes_nothing() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + HOUR);
    script.set(HOUR + SECOND);
    let before = script.run(1).unwrap().first;
    let writes = script.world.page.writes;
    for word in [0, 1, before - 1, before] {
        assert_eq!(script.start_above(word, 0), Ok(()));
    }
    assert_eq!(script.world.page.writes, writes);
    assert_eq!(script.run(1).unwrap().first, before + 1);
}

#[test]
fn a_word_beyond_reach_moves_neither_lane_nor_ceiling() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + HOUR);
    script.set(HOUR);
    for (reach, ahead) in [(0, MS), (2 * SECOND, 2 * SECOND + MS), (HOUR, 2 * HOUR)] {
        let word = script.word(HOUR + ahead, 0);
        let refused = script.start_above(word, reach);
        assert_eq!(refused, Err(BeyondReach { ahead, reach }));
    }
    let end = script.layout.max_tick() << 12 | 4_095;
    assert!(matches!(
        script.start_above(end, HOUR),
        Err(BeyondReach { .. })
    ));
    assert_eq!((script.lane.last(), script.world.page.writes), (0, 0));
    let word = script.word(HOUR + 2 * SECOND, 4_095);
    assert_eq!(script.start_above(word, 2 * SECOND), Ok(()));
    assert_eq!(script.lane.last(), word);
}

/// A clock that is years ahead for a second would let anyone start a lane there.
#[test]
fn a_clock_that_jumped_is_not_trusted() {
    let mut script = Script::new("twitter", STRICT);
    script.start_at(script.layout.epoch() + HOUR);
    script.set(3 * HOUR);
    script.next().unwrap();
    script.set(100 * HOUR);
    let refused = script.start_above(script.word(90 * HOUR, 0), HOUR);
    assert_eq!(refused, Err(ClockJumped { by: 97 * HOUR }));
}

/// Times after the end of a lease can be another server's.
#[test]
fn a_word_past_the_lease_waits_for_its_renewal() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + HOUR);
    script.set(HOUR);
    script.lend(HOUR - SECOND, HOUR + SECOND);
    let word = script.word(HOUR + 2 * SECOND, 9);
    let epoch = script.layout.epoch();
    let until = epoch + HOUR + SECOND;
    assert_eq!(
        script.start_above(word, 2 * SECOND),
        Err(LeaseEnded { until })
    );
    assert_eq!(script.lane.last(), 0);
    let renewed = (epoch + HOUR - SECOND, epoch + HOUR + 30 * SECOND);
    script.world.grants.extend([None, Some(renewed)]);
    assert_eq!(script.start_above(word, 2 * SECOND), Ok(()));
    assert_eq!(script.lane.last(), word);
}

#[test]
fn a_word_is_that_of_the_id() {
    for layout in ["instagram", "sonyflake", "twitter", "mastodon", "tso"] {
        let layout: Layout = layout.parse().unwrap();
        let shard = layout.shard.max().min(3);
        for word in [0, 1, 77 << layout.seq.width | 5, 1 << 40] {
            let id = layout.id(shard, word);
            assert_eq!(layout.shard_and_word(id), Ok((shard, word)));
        }
        assert!(layout.shard_and_word(-1).is_err());
    }
}

#[test]
fn nodes_of_parts_are_checked_part_by_part() {
    let layout: Layout = "twitter".parse().unwrap();
    assert_eq!(layout.shard_from_parts(&[10, 13]), Ok(10 * 32 + 13));
    assert_eq!(layout.shard_from_parts(&[31, 31]), Ok(1_023));
    for (parts, place, part) in [([3, 40], 2, 40), ([32, 0], 1, 32), ([0, -1], 2, -1)] {
        let refused = IdError::Part {
            place,
            part,
            max: 31,
            layout: "twitter".to_owned(),
        };
        assert_eq!(layout.shard_from_parts(&parts), Err(refused));
    }
    let one: Layout = "instagram".parse().unwrap();
    let none: Layout = "tso".parse().unwrap();
    assert_eq!(one.shard_from_parts(&[5]), Ok(5));
    assert_eq!(none.shard_from_parts(&[]), Ok(0));
    for (layout, parts) in [(layout, &[5][..]), (one, &[1, 2]), (none, &[0])] {
        let refused = layout.shard_from_parts(parts);
        assert!(matches!(refused, Err(IdError::PartCount { .. })));
    }
}

/// OpenJDK 17 gave these shards in network namespaces: one card; two, the later one first; one that is down and has an
/// address; one that has only an address of IPv6.
#[test]
fn java_hashes_the_cards_in_its_own_order() {
    for (addresses, shard) in [
        ("02:fc:00:00:00:01", 832),
        ("02:00:00:00:00:01", 387),
        ("02:00:00:00:00:02 02:00:00:00:00:01", 263),
        ("02:00:00:00:00:03 02:00:00:00:00:02 02:00:00:00:00:01", 908),
        ("02:00:00:00:00:05 02:00:00:00:00:04", 141),
        ("02:00:00:00:01:01 02:00:00:00:00:01", 199),
    ] {
        assert_eq!(
            java_shard_of_addresses(addresses),
            Some(shard),
            "{addresses}"
        );
    }
    for text in [
        "",
        "hello",
        "02:fc:00:00:00:0",
        "02:fc:00:00:00:01 and another",
        "02:fc:00:00:00 02:fc:00:00:00:01:02",
    ] {
        assert_eq!(java_shard_of_addresses(text), None, "{text}");
    }
}
