//! A check of all ids that the clients of a cluster saw: none twice from primaries that held the leader key.

use crate::patroni::clients::Answers;
use crate::patroni::node::Node;
use crate::patroni::terms::Terms;
use std::time::Duration;

/// All ids so far.
#[derive(Default)]
pub struct Check {
    /// Each id, and the place of its answer.
    ids: Vec<(i64, u32)>,
    answers: Vec<Source>,
    faults: u32,
}

/// The origin of ids.
#[derive(Clone, Copy)]
struct Source {
    /// True if the node held the leader key from the question to the answer.
    holds: bool,
    /// The number of the fault.
    fault: u32,
    /// When they were asked for.
    asked: u64,
    /// True if they were committed, as ids of rows.
    stored: bool,
}

/// The numbers of ids that the clients got during a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ids: usize,
    /// Ids that two primaries with the leader key issued.
    pub twice: usize,
    /// Ids among them that were of a committed row before.
    pub rows_twice: usize,
    /// Ids of servers that did not have the leader key any more.
    pub deposed: usize,
    /// Ids among them that another server issued as well.
    pub deposed_twice: usize,
    /// The time from the loss of the key to the last of them.
    pub deposed_for: Duration,
    /// The longest time in which no client on another machine got an id from a primary with the leader key.
    pub silence: Duration,
}

impl Check {
    /// Adds what the clients got in a fault that began at a time.
    pub fn add(&mut self, answers: &Answers, nodes: &[Node], terms: &Terms, began: u64) -> Counts {
        let mut counts = Counts::default();
        self.faults += 1;
        let mut times = vec![began];
        for answer in &answers.answers {
            let node = &nodes[usize::from(answer.node) - 1].name;
            let holds = terms.has_held(node, answer.asked, answer.answered);
            let place = self.answers.len() as u32;
            self.answers.push(Source {
                holds,
                fault: self.faults,
                asked: answer.asked,
                stored: answer.stored,
            });
            self.ids.extend(answer.ids.iter().map(|&id| (id, place)));
            counts.ids += answer.ids.len();
            if holds {
                times.extend(Some(answer.answered).filter(|&time| answer.outside && time >= began));
            } else {
                counts.deposed += answer.ids.len();
                let since = terms.since_held(node, answer.answered).unwrap_or_default();
                counts.deposed_for = counts.deposed_for.max(since);
            }
        }
        self.count_repeated(&mut counts);
        counts.silence = longest_gap(times);
        counts
    }

    /// Counts the ids of this fault that were seen before, also in earlier ones.
    fn count_repeated(&mut self, counts: &mut Counts) {
        self.ids.sort_unstable();
        for same in self.ids.chunk_by(|(id, _), (next, _)| id == next) {
            let sources = || {
                same.iter()
                    .map(|&(_, answer)| self.answers[answer as usize])
            };
            if same.len() == 1 || sources().all(|source| source.fault < self.faults) {
                continue;
            }
            let mut holders: Vec<Source> = sources().filter(|source| source.holds).collect();
            holders.sort_by_key(|source| source.asked);
            match holders.split_last() {
                Some((_, earlier @ [_, ..])) => {
                    counts.twice += 1;
                    counts.rows_twice += usize::from(earlier.iter().any(|source| source.stored));
                }
                _ => counts.deposed_twice += 1,
            }
        }
    }

    /// Returns the number of ids so far.
    #[must_use]
    pub fn ids(&self) -> usize {
        self.ids.len()
    }
}

/// Returns the longest time between two that follow each other, in milliseconds.
fn longest_gap(mut times: Vec<u64>) -> Duration {
    times.sort_unstable();
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    Duration::from_millis(gaps.max().unwrap_or_default())
}
