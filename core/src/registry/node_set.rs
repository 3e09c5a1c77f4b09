//! Sets of nodes as text: `5, 100-163`.

use crate::bytes::excerpt::excerpt;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Reason why a text is not a set of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum NodesError {
    #[error("\"{0}\" is not a node or a range of nodes")]
    NotNodes(String),
    #[error("range \"{0}\" ends before it begins")]
    Backwards(String),
    #[error("\"{0}\" overlaps an earlier node or range of nodes")]
    Repeated(String),
}

/// Parses nodes and ranges of nodes, separated by commas. An empty text is the empty set.
///
/// # Errors
/// [`NodesError`], which names the part that is wrong.
pub fn parse_nodes(text: &str) -> Result<Vec<RangeInclusive<u64>>, NodesError> {
    let mut nodes: Vec<RangeInclusive<u64>> = Vec::new();
    if text.trim().is_empty() {
        return Ok(nodes);
    }
    for part in text.split(',').map(str::trim) {
        let wrong = || NodesError::NotNodes(excerpt(part));
        let number = |text: &str| {
            let text = text.trim();
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.then(|| text.parse().ok()).flatten();
            // No larger than a bigint.
            number.filter(|&number: &u64| i64::try_from(number).is_ok())
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first = number(first).ok_or_else(wrong)?;
        let last = number(last).ok_or_else(wrong)?;
        if last < first {
            return Err(NodesError::Backwards(excerpt(part)));
        }
        if nodes
            .iter()
            .any(|other| first <= *other.end() && *other.start() <= last)
        {
            return Err(NodesError::Repeated(excerpt(part)));
        }
        nodes.push(first..=last);
    }
    Ok(nodes)
}
