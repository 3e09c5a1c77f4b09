//! A lane: the word in shared memory that issues every id of one (layout, shard).

use crate::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::clock::Micros;
use crate::snowflake::layout::{Layout, LayoutKey};

/// A slot of the lane table, one cache line in shared memory.
///
/// - `display_fields`, `shape`, `epoch`, `shard`: written once under the table's lock, published by the release of
///   `display_fields`, immutable from then on.
/// - `word`: `(tick << sequence bits) | sequence` of the last id, moved by compare-and-swap only.
/// - `skipped`: a statistic, how many words up to `word` were not issued. A session that skips words, as at a new tick,
///   adds them before it moves the word, so that the difference of both is never above what was issued.
/// - `waits`, `waited`, `largest_step`: statistics, written only by sessions that wait.
///
/// Zeroed memory is an empty slot.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lane {
    pub(crate) word: AtomicU64,
    shape: AtomicU64,
    epoch: AtomicU64,
    shard: AtomicU32,
    /// Time's width, shard's split, order and start of the layout that made the lane: for showing. 0 in an empty slot, as
    /// every layout has a time.
    display_fields: AtomicU32,
    skipped: AtomicU64,
    waits: AtomicU64,
    waited: AtomicU64,
    largest_step: AtomicU64,
}

const _: () = assert!(cfg!(loom) || size_of::<Lane>() == 64);

const EMPTY: u32 = 0;

/// The `shard` of a shared lane, which serves all shards of its layout without a lane of their own. Shards have at most
/// 31 bits.
pub const SHARED: u64 = u32::MAX as u64;

impl Lane {
    /// Returns a lane outside any table.
    #[must_use]
    pub fn outside_table(layout: &Layout, shard: u64) -> Self {
        let lane = Lane::default();
        lane.publish(layout, shard);
        lane
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.display_fields.load(Ordering::Acquire) == EMPTY
    }

    /// Returns true when a published slot is the lane of this key. Call `is_empty` first: it acquires.
    #[inline]
    pub(crate) fn matches(&self, key: LayoutKey, shard: u64) -> bool {
        u64::from(self.shard.load(Ordering::Relaxed)) == shard
            && self.epoch.load(Ordering::Relaxed) == key.epoch
            && self.shape.load(Ordering::Relaxed) == key.shape
    }

    /// Makes an empty slot the lane of (layout, shard). The caller holds the table's lock.
    pub(crate) fn publish(&self, layout: &Layout, shard: u64) {
        let key = layout.key();
        let bytes = layout.to_bytes();
        self.shape.store(key.shape, Ordering::Relaxed);
        self.epoch.store(key.epoch, Ordering::Relaxed);
        self.shard.store(shard as u32, Ordering::Relaxed);
        let [_, time, _, lower, _, order, start, ..] = bytes;
        self.display_fields.store(
            u32::from_be_bytes([time, lower, order, start]),
            Ordering::Release,
        );
    }

    /// Returns the layout that made the lane.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        Layout::from_bytes(&self.layout_bytes()?).ok()
    }

    /// Returns the stored form of the layout that made the lane.
    #[must_use]
    pub fn layout_bytes(&self) -> Option<[u8; Layout::BYTES]> {
        let shape = self.shape.load(Ordering::Relaxed);
        let [time, lower, order, start] = self.display_fields.load(Ordering::Relaxed).to_be_bytes();
        let upper = ((shape >> 12) as u8 & 0x3f).checked_sub(lower)?;
        let seq = shape as u8 & 0x3f;
        let mut bytes = [0; Layout::BYTES];
        bytes[..8].copy_from_slice(&[Layout::VERSION, time, upper, lower, seq, order, start, 0]);
        bytes[8..12].copy_from_slice(&((shape >> 32) as u32).to_be_bytes());
        bytes[12..20].copy_from_slice(&self.epoch.load(Ordering::Relaxed).to_be_bytes());
        Some(bytes)
    }

    /// Returns the lane's shard; none for a shared lane.
    #[must_use]
    pub fn shard(&self) -> Option<u64> {
        Some(self.shard.load(Ordering::Relaxed).into()).filter(|&shard| shard != SHARED)
    }

    /// Returns the last word issued; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// Returns how many ids sessions have taken from the lane; a session can hold some that it has not returned yet. A
    /// session that moves the lane meanwhile can make it less, never more.
    #[must_use]
    pub fn ids_taken(&self) -> u64 {
        // Read the word first: the words skipped before it were added before it moved.
        let word = self.word.load(Ordering::Acquire);
        let taken = word.wrapping_sub(self.skipped.load(Ordering::Relaxed));
        if taken.cast_signed() < 0 { 0 } else { taken }
    }

    /// Returns how often a call had to wait for this lane.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Returns how long calls have waited for this lane.
    #[must_use]
    pub fn waited(&self) -> Micros {
        self.waited.load(Ordering::Relaxed).cast_signed()
    }

    /// Sets the statistics to zero.
    pub fn reset_statistics(&self) {
        self.add_skipped(self.ids_taken());
        for statistic in [&self.waits, &self.waited, &self.largest_step] {
            statistic.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the largest distance of the clock behind the lane's last id that a waiting call has seen.
    #[must_use]
    pub fn largest_step(&self) -> Micros {
        self.largest_step.load(Ordering::Relaxed).cast_signed()
    }

    /// Moves the lane so that the next word is above `word`.
    pub(crate) fn advance_to(&self, word: u64) {
        let mut last = self.word.load(Ordering::Acquire);
        while last < word {
            self.count_skipped_between(last, word + 1);
            match (self.word).compare_exchange(last, word, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => {
                    self.uncount_skipped_between(last, word + 1);
                    last = found;
                }
            }
        }
    }

    /// Counts the words between `last` and `first` as skipped.
    #[inline]
    pub(crate) fn count_skipped_between(&self, last: u64, first: u64) {
        self.add_skipped(first.wrapping_sub(last).wrapping_sub(1));
    }

    /// Undoes [`Lane::count_skipped_between`], as the word was not moved.
    #[cold]
    pub(crate) fn uncount_skipped_between(&self, last: u64, first: u64) {
        self.add_skipped(last.wrapping_sub(first).wrapping_add(1));
    }

    /// Adds a number, which can be negative modulo 2^64, to the skipped words. They are not counted under loom: this
    /// statistic affects no decision, and would enlarge the model.
    #[inline]
    fn add_skipped(&self, words: u64) {
        if !cfg!(loom) {
            self.skipped.fetch_add(words, Ordering::Relaxed);
        }
    }

    /// Moves the lane by one id, which is lost, so that a session that read its word before cannot mint. Returns the start
    /// of the last tick that was issued, if any was.
    pub(crate) fn close(&self) -> Option<Micros> {
        let layout = self.layout()?;
        self.add_skipped(1);
        let last = self.word.fetch_add(1, Ordering::AcqRel);
        (last != 0).then(|| layout.word_start_saturating(last))
    }

    pub(crate) fn note_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_waited(&self, span: Micros) {
        (self.waited).fetch_add(span.max(0).unsigned_abs(), Ordering::Relaxed);
    }

    pub(crate) fn note_step(&self, behind: Micros) {
        (self.largest_step).fetch_max(behind.unsigned_abs(), Ordering::Relaxed);
    }
}
