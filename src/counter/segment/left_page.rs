//! The pages that segments were taken from, and what was not drawn of these.

use crate::counter::segment::slots::{Segments, SegmentsSlot, memory};
use crate::pg::sequence::{File, Position, SequenceRow};
use crate::statistics;
use std::sync::atomic::Ordering;

/// The page that the segments of a slot were taken from, as it was left.
pub struct LeftPage {
    segments: Segments,
    /// Where the page is.
    pub file: File,
    /// The position of its last change.
    pub position: Position,
    /// The last value on it.
    value: i64,
}

/// Returns the pages that all segments of the server were taken from.
pub fn left_pages() -> Vec<LeftPage> {
    statistics::map();
    let page = |slot: &'static SegmentsSlot| {
        let (owner, page) = slot.read(|slot| {
            let noted = slot.noted.load(Ordering::Relaxed);
            let position = slot.position.load(Ordering::Relaxed);
            let file = slot.tag.file(slot.tablespace.load(Ordering::Relaxed));
            (noted && position != 0).then(|| (file, position, slot.left.load(Ordering::Relaxed)))
        })?;
        let (file, position, value) = page?;
        let segments = Segments { slot, owner };
        Some(LeftPage {
            segments,
            file,
            position,
            value,
        })
    };
    memory().slots.iter().filter_map(page).collect()
}

impl LeftPage {
    /// Closes the segments if the page is still as it was left, and returns the row that gives what was not drawn from them
    /// back to the sequence. Nobody draws from them any more. **Under the page's lock.**
    pub fn without_unissued(&self, found: SequenceRow, logged: Position) -> Option<SequenceRow> {
        let is_as_left = found.is_called && found.log_count == 0 && found.last_value == self.value;
        if logged != self.position || !is_as_left {
            return None;
        }
        let close = || {
            self.segments
                .is_current()
                .then(|| self.segments.slot.renew())
        };
        let unissued = memory().locked(close).flatten()?;
        // Others have taken values since.
        if unissued.end != self.value {
            return None;
        }
        Some(SequenceRow {
            last_value: unissued.issued.unwrap_or(unissued.next),
            log_count: 0,
            is_called: unissued.issued.is_some(),
        })
    }
}
