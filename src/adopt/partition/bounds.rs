//! The ranges of the missing partitions.

use crate::adopt::catalog::column::IdColumn;
use crate::adopt::partition::error;
use crate::adopt::partition::parent::{Parent, Partition};
use crate::adopt::partition::zone::Zone;
use crate::pg::error::OrReport;
use mint_core::Micros;
use mint_core::adopt::keys::{Key, Keys};
use mint_core::adopt::partition::{Gap, MOST, Range, Step, gaps, name_between};
use std::collections::BTreeMap;

/// A partition to be made.
pub struct Missing {
    pub from: Key,
    /// None if there is no end.
    pub until: Option<Key>,
    /// Its first timestamp, and the one after its last; none if it has no end.
    pub times: (Option<Micros>, Option<Micros>),
    /// The end of its name.
    pub suffix: String,
    /// How many edges are before it.
    pub edge: usize,
    /// The first key of the interval that it is in, and the end of the name of a partition that begins there.
    pub interval: (Option<Key>, String),
}

/// Returns what no partition covers from the edge before `since` up to `ahead` edges after the one that follows `now`.
pub fn missing(
    parent: &Parent,
    step: Step,
    zone: &Zone,
    (since, now): (Micros, Micros),
    ahead: i32,
) -> Vec<Missing> {
    check_end(&parent.keys, now);
    let local = local_edges(step, zone, (since, now), ahead);
    let times = if step.is_of_calendar() {
        zone.times(&local)
    } else {
        Some(local.clone())
    };
    let times = times.unwrap_or_else(|| error::out_of_calendar());
    let keys: Vec<Option<Key>> = times
        .iter()
        .map(|&at| parent.keys.first(at).or_report())
        .collect();
    let ranges: Vec<Range<Key>> = parent.partitions.iter().map(|part| part.range).collect();
    let found = gaps(&keys, ranges);
    if found.len() > MOST as usize {
        error::too_many(found.len());
    }
    let describe = |gap: Gap<Key>| {
        // The time of the last edge with the key, or what the ids say of the end of a partition that is there already.
        let time = |key: Key, edge: usize| {
            let equal = keys[edge..].iter().take_while(|&&its| its == Some(key));
            match equal.count() {
                0 => parent.keys.time(key),
                count => Some(times[edge + count - 1]),
            }
        };
        let is_whole = keys[gap.edge] == Some(gap.from);
        let since = time(gap.from, gap.edge);
        let interval = step.name(local[gap.edge]);
        let suffix = match since {
            _ if is_whole => interval.clone(),
            Some(since) => name_between(local_time(step, zone, since).unwrap_or(since)),
            None => parent.keys.text(gap.from),
        };
        Missing {
            from: gap.from,
            until: gap.until,
            times: (since, gap.until.and_then(|key| time(key, gap.edge + 1))),
            suffix,
            edge: gap.edge,
            interval: (keys[gap.edge], interval),
        }
    };
    found.into_iter().map(describe).collect()
}

/// Raises an error if there are no more ids at the timestamp.
fn check_end(keys: &Keys, now: Micros) {
    if keys.first(now).or_report().is_none() {
        error::ended(keys);
    }
}

/// Returns a timestamp of the calendar that the edges are of: hours are those of UTC.
fn local_time(step: Step, zone: &Zone, at: Micros) -> Option<Micros> {
    if step.is_of_calendar() {
        zone.local(at)
    } else {
        Some(at)
    }
}

/// Returns the edges by the local calendar.
fn local_edges(step: Step, zone: &Zone, (since, now): (Micros, Micros), ahead: i32) -> Vec<Micros> {
    let edge = |at: Micros| local_time(step, zone, at).and_then(|at| step.floor(at));
    let (Some(first), Some(current)) = (edge(since), edge(now)) else {
        error::out_of_calendar();
    };
    let mut edges = vec![first];
    let mut further = 0;
    while let Some(&last) = edges.last() {
        if last > current {
            further += 1;
        }
        if further > ahead {
            break;
        }
        if edges.len() > 10 * MOST as usize {
            error::too_many(edges.len());
        }
        edges.push(step.after(last).unwrap_or_else(|| error::out_of_calendar()));
    }
    edges
}

/// Returns whether partitions follow each other without a gap from one time to another. Behind a gap, the times of partitions are
/// not certain: the clock was set, or the column has another layout than when they were made.
pub fn follow_each_other(parent: &Parent, from: Micros, until: Micros) -> bool {
    let [Some(from), Some(until)] = [from, until].map(|time| parent.keys.first(time).or_report())
    else {
        return false;
    };
    let has_until = |part: &&Partition| {
        let begins = part.range.from.is_none_or(|first| first <= until);
        begins && part.range.until.is_none_or(|end| until < end)
    };
    let ending: BTreeMap<Key, Option<Key>> = parent
        .partitions
        .iter()
        .filter_map(|part| Some((part.range.until?, part.range.from)))
        .collect();
    let Some(current) = parent.partitions.iter().find(has_until) else {
        return false;
    };
    let mut oldest = current.range.from;
    while let Some(edge) = oldest.filter(|&edge| edge > from) {
        let Some(&before) = ending.get(&edge) else {
            return false;
        };
        oldest = before;
    }
    true
}

/// Returns the partitions whose ids are all of a time before `cutoff`, the oldest first. Raises an error if the table gives new
/// rows the values of a counter: the oldest partition would have rows of today. See [`refuse_counted`].
pub fn old(parent: &Parent, cutoff: Micros) -> Vec<&Partition> {
    if parent.is_counted {
        error::counted(&format!("partitions of table {}", parent.name), &parent.key);
    }
    let first = parent.keys.first(cutoff).or_report();
    // Ids below it can be of a counter, of any time.
    let certain = parent.keys.first_certain();
    let is_old = |part: &&Partition| {
        let is_before = |key: Key| first.is_none_or(|first| key <= first) && Some(key) >= certain;
        part.range.until.is_some_and(is_before)
    };
    let mut found: Vec<&Partition> = parent.partitions.iter().filter(is_old).collect();
    found.sort_by_key(|part| part.range.from);
    found
}

/// Raises an error if a partition gives new rows the values of a counter.
pub fn refuse_counted(parent: &Parent, part: &Partition) {
    if IdColumn::find(part.oid, &parent.key).is_some_and(|column| column.is_counted()) {
        error::counted(&format!("partition {}", part.name), &parent.key);
    }
}
