//! What ids look like: which kind, and of which layout.

use crate::clock::Micros;
use crate::family;
use crate::snowflake::builtin::BUILTINS;
use crate::snowflake::layout::Layout;
use crate::uuid::version::{self, Uuid};
use std::collections::{BTreeMap, BTreeSet};

const DAY: Micros = 86_400_000_000;
/// Ids below this are of a counter: a snowflake would be of the first minutes after its epoch.
pub const LARGE: i64 = 1 << 40;

/// What the numbers of a column look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Of a counter.
    Small,
    /// Of a built-in layout.
    Snowflake(&'static Layout),
    /// Too large for a counter, and of several layouts or of none.
    Large,
    /// Some are of a counter, and some too large for one.
    Mixed,
}

/// Returns what numbers look like; none of no numbers.
///
/// Layouts of one shape differ in their epoch alone, so only ids of the last month tell theirs: by another layout they
/// would be of another year.
#[must_use]
pub fn of_numbers(values: &[i64], now: Micros) -> Option<Numbers> {
    let large: Vec<i64> = values.iter().copied().filter(|&id| id >= LARGE).collect();
    if values.is_empty() {
        return None;
    }
    if large.is_empty() {
        return Some(Numbers::Small);
    }
    if large.len() < values.len() {
        return Some(Numbers::Mixed);
    }
    let read = BUILTINS.iter().filter_map(|builtin| {
        let (shards, is_fresh) = shards_of(&builtin.layout, &large, now)?;
        Some((shards, is_fresh, &builtin.layout))
    });
    let read: Vec<(usize, bool, &Layout)> = read.collect();
    let fits = read.iter().filter(|(_, is_fresh, _)| *is_fresh);
    let mut fits: Vec<(usize, &Layout)> =
        fits.map(|&(shards, _, layout)| (shards, layout)).collect();
    // Old ids of one layout can look like fresh ones of another, of many more shards than they have.
    let is_simpler = |&(shards, is_fresh, layout): &(usize, bool, &Layout)| {
        let is_simpler = fits.iter().all(|(more, _)| 2 * shards < *more);
        !is_fresh && layout.shard.width > 0 && is_simpler
    };
    if read.iter().any(is_simpler) {
        return Some(Numbers::Large);
    }
    // Two that fit by chance: the wrong one takes time or sequence for shards. Of those that mean the same, the first.
    fits.sort_by_key(|(shards, _)| *shards);
    fits.dedup_by_key(|(_, layout)| layout.key());
    Some(match fits.as_slice() {
        [(_, layout)] => Numbers::Snowflake(layout),
        [(few, layout), (more, _), ..] if few < more => Numbers::Snowflake(layout),
        _ => Numbers::Large,
    })
}

/// Returns how many shards ids of a layout have, and whether the newest is of the last month; none if one of them is not of
/// the layout, of the future or of a time before there were any.
fn shards_of(layout: &Layout, ids: &[i64], now: Micros) -> Option<(usize, bool)> {
    let mut shards = BTreeSet::new();
    let mut newest = Micros::MIN;
    for &id in ids {
        let parts = layout.decode(id).ok()?;
        if parts.at > now.saturating_add(DAY) || parts.at < FIRST {
            return None;
        }
        shards.insert(parts.shard);
        newest = newest.max(parts.at);
    }
    Some((shards.len(), newest >= now.saturating_sub(30 * DAY)))
}

/// 2010-01-01: no snowflake is older.
const FIRST: Micros = 1_262_304_000_000_000;

/// Returns the kind of a UUID: `uuid_v4`, or `uuid` without a version.
#[must_use]
pub fn of_uuid(id: &Uuid) -> String {
    version::version(id).map_or_else(|| "uuid".to_owned(), |version| format!("uuid_v{version}"))
}

/// Returns the kind of an id that is written as text; none if it is none of these.
#[must_use]
pub fn of_text(text: &str, now: Micros) -> Option<String> {
    if matches!(text.len(), 1..=19) && text.bytes().all(|sign| sign.is_ascii_digit()) {
        return Some("integer".to_owned());
    }
    match Uuid::try_parse(text) {
        Ok(id) => Some(of_uuid(&id)),
        Err(_) => family::of_text(text.as_bytes(), now).map(|family| family.name.to_owned()),
    }
}

/// Returns the kinds of several ids, the commonest first; none if there are no ids, or one is of no kind.
#[must_use]
pub fn commonest(kinds: impl Iterator<Item = Option<String>>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind?).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> = counts.into_iter().map(|(kind, _)| kind).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
