//! The right reading of a published id has its rank among all of its readings.

use mint_core::Micros;
use mint_core::inspect::{Context, Input, Reading, inspect};

/// 2026-11-24T00:00:00Z.
const NOW: Micros = 1_795_478_400_000_000;

/// Checks that the right reading is first for a share of the ids, in percent, and among the first three for all that have a
/// time, less `late` of them.
fn check(vectors: &str, least: usize, share: usize, late: usize) {
    let context = Context {
        now: NOW,
        nodes: &[],
    };
    let (mut count, mut first, mut found_late) = (0, 0, Vec::new());
    for line in vectors.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let (id, format, version) = match *words {
            [id, format] => (id, format, None),
            [id, format, version] => (id, format, Some(version)),
            _ => continue,
        };
        let readings = inspect(&Input::Text(id.as_bytes()), &context);
        let is_right = |reading: &Reading| {
            let its = reading.version.as_deref();
            reading.format == format && (version.is_none() || its == version)
        };
        let place = readings.iter().position(is_right);
        let place = place.unwrap_or_else(|| panic!("{line}: {readings:#?}"));
        count += 1;
        first += usize::from(place == 0);
        if place > 0 {
            println!(
                "{line}: place {}, behind {:?}",
                place + 1,
                readings[0].version
            );
        }
        if place > 2 && readings[place].time.is_some() {
            found_late.push(id);
        }
    }
    println!("{first} of {count} first, late: {found_late:?}");
    assert!(count >= least);
    assert!(first * 100 >= count * share, "{first} of {count}");
    assert!(found_late.len() <= late, "{found_late:?}");
}

/// The order was made by these.
#[test]
fn published_ids_are_read_rightly() {
    check(include_str!("../vectors/published.txt"), 100, 90, 0);
}

/// The order was not made by these: they were collected afterwards, and changed one line of it.
#[test]
fn other_published_ids_are_read_rightly() {
    check(include_str!("../vectors/unseen.txt"), 30, 80, 0);
}

/// Nothing was made by these.
#[test]
fn ids_that_nothing_was_made_by_are_read_rightly() {
    check(include_str!("../vectors/heldout.txt"), 140, 95, 0);
}
