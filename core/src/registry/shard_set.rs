//! Sets of shards as text: `5, 100-163`.

use crate::bytes::excerpt::excerpt;
use std::ops::RangeInclusive;
use thiserror::Error;

/// The part of a text that is neither a shard nor a range of shards.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("\"{0}\" is not a shard or a range of shards")]
pub struct ShardsError(String);

/// Parses shards and ranges of shards, separated by commas. An empty text is the empty set.
///
/// # Errors
/// [`ShardsError`] of the first part that is wrong.
pub fn parse_shards(text: &str) -> Result<Vec<RangeInclusive<u64>>, ShardsError> {
    let number = |text: &str| {
        let digits = text.trim().bytes().all(|byte| byte.is_ascii_digit());
        // No larger than a bigint. Without digits there is none.
        let number = digits.then(|| text.trim().parse::<i64>().ok()).flatten();
        number.map(i64::cast_unsigned)
    };
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = number(first).zip(number(last));
        let range = range.filter(|(first, last)| first <= last);
        let (first, last) = range.ok_or_else(|| ShardsError(excerpt(part)))?;
        Ok(first..=last)
    };
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|_| !text.trim().is_empty())
        .map(range)
        .collect()
}
