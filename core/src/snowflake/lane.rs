//! A lane: the word in shared memory that issues every id of one (layout, node).

use crate::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::clock::Micros;
use crate::snowflake::layout::{Layout, LayoutKey};

/// A slot of the lane table, one cache line in shared memory.
///
/// - `state`, `shape`, `epoch`, `node`, `origin`: written once under the table's lock, published by
///   the release of `state`, immutable from then on.
/// - `word`: `(tick << sequence bits) | sequence` of the last id, moved by compare-and-swap only.
/// - `waits`, `largest_step`: statistics, written only by sessions that wait.
///
/// Zeroed memory is an empty slot.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lane {
    pub(crate) word: AtomicU64,
    shape: AtomicU64,
    epoch: AtomicU64,
    node: AtomicU64,
    state: AtomicU32,
    /// Time's width, node's split, order and start of the layout that made the lane: for showing.
    origin: AtomicU32,
    waits: AtomicU64,
    largest_step: AtomicU64,
}

const EMPTY: u32 = 0;
const PUBLISHED: u32 = 1;

/// The node of a lane that serves every node of its layout that found no lane of its own.
pub const SHARED_NODE: u64 = u64::MAX;

impl Lane {
    /// Returns a lane outside any table.
    #[must_use]
    pub fn alone(layout: &Layout, node: u64) -> Self {
        let lane = Lane::default();
        lane.publish(layout, node);
        lane
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.load(Ordering::Acquire) == EMPTY
    }

    /// Returns true when a published slot is the lane of this key. Call `is_empty` first: it acquires.
    #[inline]
    pub(crate) fn matches(&self, key: LayoutKey, node: u64) -> bool {
        self.node.load(Ordering::Relaxed) == node
            && self.epoch.load(Ordering::Relaxed) == key.epoch
            && self.shape.load(Ordering::Relaxed) == key.shape
    }

    /// Makes an empty slot the lane of (layout, node). The caller holds the table's lock.
    pub(crate) fn publish(&self, layout: &Layout, node: u64) {
        let key = layout.key();
        let bytes = layout.to_bytes();
        self.shape.store(key.shape, Ordering::Relaxed);
        self.epoch.store(key.epoch, Ordering::Relaxed);
        self.node.store(node, Ordering::Relaxed);
        let [_, time, _, lower, _, order, start, ..] = bytes;
        self.origin.store(
            u32::from_be_bytes([time, lower, order, start]),
            Ordering::Relaxed,
        );
        self.state.store(PUBLISHED, Ordering::Release);
    }

    /// The layout that made the lane.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        let shape = self.shape.load(Ordering::Relaxed);
        let [time, lower, order, start] = self.origin.load(Ordering::Relaxed).to_be_bytes();
        let upper = ((shape >> 12) as u8 & 0x3f).checked_sub(lower)?;
        let seq = shape as u8 & 0x3f;
        let mut bytes = [0; Layout::BYTES];
        bytes[..8].copy_from_slice(&[Layout::VERSION, time, upper, lower, seq, order, start, 0]);
        bytes[8..12].copy_from_slice(&((shape >> 32) as u32).to_be_bytes());
        bytes[12..20].copy_from_slice(&self.epoch.load(Ordering::Relaxed).to_be_bytes());
        Layout::from_bytes(&bytes).ok()
    }

    /// The lane's node; none for a shared lane.
    #[must_use]
    pub fn node(&self) -> Option<u64> {
        Some(self.node.load(Ordering::Relaxed)).filter(|&node| node != SHARED_NODE)
    }

    /// The last word issued; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// How often a call had to wait for this lane.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// How far at most a waiting call found the clock behind the lane's last id.
    #[must_use]
    pub fn largest_step(&self) -> Micros {
        self.largest_step.load(Ordering::Relaxed).cast_signed()
    }

    /// Moves the lane so that the next word is above `word`.
    pub(crate) fn advance(&self, word: u64) {
        self.word.fetch_max(word, Ordering::AcqRel);
    }

    /// Moves the lane by one id, which is lost, so that a session that read its word before cannot mint. Returns the start
    /// of the last tick that was issued, if any was.
    pub(crate) fn close(&self) -> Option<Micros> {
        let layout = self.layout()?;
        let last = self.word.fetch_add(1, Ordering::AcqRel);
        (last != 0).then(|| layout.word_start_saturating(last))
    }

    pub(crate) fn note_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_step(&self, behind: Micros) {
        self.largest_step
            .fetch_max(behind.unsigned_abs(), Ordering::Relaxed);
    }
}
