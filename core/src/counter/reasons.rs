//! Why sequences have no segments, as one text for little room in shared memory: a line for each reason, which begins with the
//! sequences that it is of.

use crate::bytes::excerpt::cut;
use std::collections::BTreeMap;

/// The reasons of an owner, each with its sequences.
type Reasons<'a> = BTreeMap<&'a str, Vec<u32>>;

/// Returns the text of these owners, sequences and reasons, in at most `room` bytes. Owners have equal shares of the room, as
/// have the reasons of an owner; what one does not need is for the others.
#[must_use]
pub fn write<'a>(all: impl IntoIterator<Item = (u32, u32, &'a str)>, room: usize) -> String {
    let mut owners: BTreeMap<u32, Reasons<'_>> = BTreeMap::new();
    for (owner, sequence, why) in all {
        let reasons = owners.entry(owner).or_default();
        reasons.entry(why).or_default().push(sequence);
    }
    let whole = |(why, sequences): (&str, &[u32])| line(sequences, why, usize::MAX).len();
    let size = |reasons: &Reasons<'_>| -> usize {
        let lines = reasons.iter();
        lines.map(|(why, list)| whole((why, list))).sum()
    };
    let mut owners: Vec<_> = owners.into_values().collect();
    owners.sort_by_key(size);
    let mut text = String::new();
    for (owner, reasons) in owners.iter().enumerate() {
        let mut left = (room - text.len()) / (owners.len() - owner);
        let mut reasons: Vec<_> = reasons.iter().collect();
        reasons.sort_by_key(|(why, sequences)| whole((why, sequences)));
        for (number, (why, sequences)) in reasons.iter().enumerate() {
            let line = line(sequences, why, left / (reasons.len() - number));
            left -= line.len();
            text.push_str(&line);
        }
    }
    text
}

/// Returns a line of at most `room` bytes. The reason has half of them, or what the sequences leave. Empty if there is no room.
fn line(sequences: &[u32], why: &str, room: usize) -> String {
    let digits = |sequence: &u32| sequence.to_string().len() + 1;
    let others: usize = 1 + sequences.iter().map(digits).sum::<usize>();
    let most = room.saturating_sub(others).max(room / 2);
    let why = cut(why, most);
    let mut line = String::new();
    for sequence in sequences {
        let next = format!("{}{sequence}", if line.is_empty() { "" } else { "," });
        if line.len() + next.len() + why.len() + 2 > room {
            break;
        }
        line.push_str(&next);
    }
    if line.is_empty() {
        return line;
    }
    format!("{line} {}\n", why.replace('\n', " "))
}

/// Returns the reason of a sequence in such a text.
#[must_use]
pub fn find(text: &str, sequence: u32) -> Option<&str> {
    let own = sequence.to_string();
    text.lines().find_map(|line| {
        let (sequences, why) = line.split_once(' ')?;
        sequences.split(',').any(|one| one == own).then_some(why)
    })
}

#[cfg(test)]
mod tests {
    use super::{find, write};

    #[test]
    fn a_reason_of_many_sequences_is_there_once() {
        let lost = "could not connect";
        let all = (100..140).map(|sequence| (1, sequence, lost));
        let text = write(all.chain([(1, 7, "was set\nback")]), 500);
        assert_eq!(text.lines().count(), 2);
        assert_eq!(find(&text, 139), Some(lost));
        assert_eq!(find(&text, 7), Some("was set back"));
        assert_eq!(find(&text, 13), None);
    }

    #[test]
    fn an_owner_of_many_reasons_hides_none_of_another() {
        let long: Vec<String> = (0..1_000)
            .map(|n| format!("{n} {}", "ü".repeat(200)))
            .collect();
        let many = (0..)
            .zip(&long)
            .map(|(n, why)| (1, 1_000 + n, why.as_str()));
        let set_back = "sequence \"orders\" was set back";
        let text = write(many.chain([(2, 7, set_back), (3, 8, &long[5])]), 500);
        assert!(text.len() <= 500, "{}", text.len());
        assert_eq!(find(&text, 7), Some(set_back));
        assert!(find(&text, 8).is_some_and(|why| long[5].starts_with(why) && why.len() > 100));
    }
}
