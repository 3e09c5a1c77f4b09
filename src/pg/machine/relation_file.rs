//! Sizes of relations by their files, without a lock: the files of a relation that another session has locked are there
//! all the same, and one that is gone has no size.

use std::fs;

/// Returns how long the main file of a relation is with all its segments, by its path below the data directory, where each
/// process of the server works; none if it is not there.
pub fn size(path: &str) -> Option<i64> {
    let length = |path: &str| Some(fs::metadata(path).ok()?.len());
    let mut total = length(path)?;
    let mut segment = 1;
    while let Some(more) = length(&format!("{path}.{segment}")) {
        total += more;
        segment += 1;
    }
    i64::try_from(total).ok()
}
