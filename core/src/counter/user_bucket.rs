//! Buckets of users: entries of eight bytes, each with a user, its next number and a lock.
//!
//! Eight bytes do not hold all of that, so two things are cut short, which costs gaps and nothing else. An entry has
//! only the last `DIGITS` bits of a number; the rest is taken to be as high as it can be (`unfold`). It has the section
//! of a user, the last two bits of the id and 32 of a hash, eight of them as its bucket. Two users of a section that
//! these do not tell apart, a few hundred of ten million in 64 sections, draw from one counter, which only rises.

use crate::atomic::{AtomicU32, AtomicU64, Ordering, pause};
use crate::bytes::hash::{fibonacci, splitmix64};
use std::{array, iter};

/// The owner of a section's memory, and in the lower 16 bits its place there; 0 is none.
pub type SectionOwner = u64;

/// Entries, and the lock under which they get another user; on the server a page of memory. Zeroed memory is an empty bucket.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Bucket<const PLACES: usize = 511> {
    locked: AtomicU32,
    /// The number of bits of a user that chose the bucket. Under the lock.
    level: AtomicU32,
    entries: [Entry; PLACES],
}

const _: () = assert!(cfg!(loom) || size_of::<Bucket>() == 4_096);

impl<const PLACES: usize> Default for Bucket<PLACES> {
    fn default() -> Self {
        Self {
            locked: AtomicU32::default(),
            level: AtomicU32::default(),
            entries: array::from_fn(|_| Entry::default()),
        }
    }
}

/// The entry of a user. From the top: the user in 42 bits; a bit that is set when the entry is used, and cleared when
/// all of the bucket's are set; a bit that locks it; the last bits of the next number. 0 is a vacant place.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Entry(AtomicU64);

/// The number of a number's last bits that an entry has.
pub(crate) const DIGITS: u32 = 20;
const NUMBER: u64 = (1 << DIGITS) - 1;
const LOCKED: u64 = 1 << DIGITS;
const USED: u64 = LOCKED << 1;
const USER: u64 = !(USED | LOCKED | NUMBER);

/// Words in a line of the processor's caches.
const LINE: u64 = 8;

/// The level at which a table starts: that many bits of a user are known from its bucket.
pub(crate) const FIRST_LEVEL: u32 = if cfg!(loom) { 0 } else { 8 };

/// Returns the number that a user gets next: the highest one with these last bits that is at most `most`.
#[inline]
pub(crate) fn unfold(word: u64, most: i64) -> i64 {
    let behind = most.cast_unsigned().wrapping_sub(word) & NUMBER;
    most.wrapping_sub(behind.cast_signed())
}

/// A user as its entry has it, and the place to look for the entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserKey {
    /// The user's bits in the entry.
    user: u64,
    /// Chooses the line in the bucket.
    spread: u64,
    /// Its lower bits choose the bucket.
    pub(crate) bucket: u32,
}

impl UserKey {
    #[inline]
    pub(crate) fn of(owner: SectionOwner, id: i64) -> Self {
        // The upper half of the hash chose the section.
        let hash = hash(id >> 2) & 0xffff_ffff;
        let section = (owner & 0xffff) + 1;
        let user = section << 26 | (hash & 0xff_ffff) << 2 | (id & 3).cast_unsigned();
        let mut key = Self::of_word(user << (DIGITS + 2));
        key.bucket ^= (hash >> 24) as u32 & ((1 << FIRST_LEVEL) - 1);
        key
    }

    /// Returns the user of an entry; of its bucket, it has only the bits above [`FIRST_LEVEL`].
    #[inline]
    pub(crate) fn of_word(word: u64) -> Self {
        let user = word & USER;
        // Two neighboring ids have the same spread, and so the same bucket.
        let spread = fibonacci(user >> (DIGITS + 3));
        Self {
            user,
            spread,
            bucket: (spread >> 28) as u32 & 0xfff_ffff,
        }
    }

    /// Returns the place of the section in memory.
    pub(crate) fn section(self) -> usize {
        (self.user >> 48) as usize - 1
    }

    /// Returns the home place in a bucket of so many places, and where its cache line begins. The first line begins
    /// with the head of the bucket.
    #[inline]
    fn place(self, places: usize) -> (usize, usize) {
        let lines = (places as u64 + 1) / LINE;
        let line = ((self.spread >> 40) * lines) >> 24;
        let line = (line * LINE).saturating_sub(1);
        // Neighboring ids have two places of the line.
        let place = line + ((self.spread ^ self.user >> (DIGITS + 2)) & (LINE - 1));
        ((place as usize).min(places - 1), line as usize)
    }
}

/// Guard of a locked entry: writes `word` back and unlocks the entry when dropped.
pub(crate) struct EntryGuard<'a> {
    entry: &'a Entry,
    pub(crate) word: u64,
}

impl Drop for EntryGuard<'_> {
    fn drop(&mut self) {
        self.entry.0.store(self.word, Ordering::Release);
    }
}

impl EntryGuard<'_> {
    /// Stores a user and its next number.
    #[inline]
    pub(crate) fn set(&mut self, key: UserKey, next: i64) {
        self.word = word_of(key, next);
    }
}

#[inline]
fn word_of(key: UserKey, next: i64) -> u64 {
    key.user | USED | (next.cast_unsigned() & NUMBER)
}

impl Entry {
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Locks the entry, if it is of this user.
    #[inline]
    pub(crate) fn lock(&self, key: UserKey) -> Option<EntryGuard<'_>> {
        let mut tries = 0;
        let mut word = self.0.load(Ordering::Relaxed);
        while word & USER == key.user {
            let free = word & !LOCKED;
            let locked = word | LOCKED;
            match self
                .0
                .compare_exchange_weak(free, locked, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(word) => return Some(EntryGuard { entry: self, word }),
                Err(found) => word = found,
            }
            tries += 1;
            pause(tries);
        }
        None
    }

    /// Locks the entry. The caller holds the bucket's lock, so the entry keeps its user.
    pub(crate) fn lock_any(&self) -> EntryGuard<'_> {
        loop {
            if let Some(guard) = self.lock(UserKey::of_word(self.word())) {
                return guard;
            }
        }
    }

    /// Stores a user in a vacant place. The caller holds the bucket's lock.
    pub(crate) fn insert(&self, key: UserKey, next: i64) {
        self.insert_word(word_of(key, next));
    }

    /// Stores the word of another entry in a vacant place. The caller holds the bucket's lock.
    pub(crate) fn insert_word(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }
}

/// Guard of a bucket's lock, under which entries are added and evicted. Nothing under it can fail.
pub(crate) struct BucketGuard<'a, const PLACES: usize>(&'a Bucket<PLACES>);

impl<const PLACES: usize> Bucket<PLACES> {
    /// Returns the users of the entries, each as it is at some time during the call.
    pub(crate) fn users(&self) -> impl Iterator<Item = UserKey> {
        let words = self.entries.iter().map(Entry::word);
        // A locked or vacant place can have no user.
        words.filter(|word| word & USER != 0).map(UserKey::of_word)
    }

    pub(crate) fn lock(&self) -> BucketGuard<'_, PLACES> {
        let mut tries = 0;
        while self
            .locked
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            tries += 1;
            pause(tries);
        }
        BucketGuard(self)
    }

    /// Returns the places in the order of probing. The home place comes twice: first, and in order.
    #[inline]
    fn probe(&self, key: UserKey) -> impl Iterator<Item = &Entry> {
        let (place, line) = key.place(PLACES);
        let (before, from) = self.entries.split_at(line);
        iter::once(&self.entries[place]).chain(from).chain(before)
    }

    /// Looks for a user's entry without the lock: one that is not found can exist, and one that is found can be evicted.
    #[inline]
    pub(crate) fn find_unlocked(&self, key: UserKey) -> Option<&Entry> {
        self.probe(key)
            .map(|entry| (entry, entry.word()))
            .take_while(|&(_, word)| word != 0)
            .find(|&(_, word)| word & USER == key.user)
            .map(|(entry, _)| entry)
    }
}

impl<const PLACES: usize> Drop for BucketGuard<'_, PLACES> {
    fn drop(&mut self) {
        self.0.locked.store(0, Ordering::Release);
    }
}

/// Outcome of looking for a user's entry in a bucket.
pub(crate) enum Search<'a> {
    Found(&'a Entry),
    /// There is no entry, but a vacant place for it.
    Vacant(&'a Entry),
    /// There is no entry, and all places are taken.
    Full,
}

impl<'a, const PLACES: usize> BucketGuard<'a, PLACES> {
    pub(crate) fn level(&self) -> u32 {
        self.0.level.load(Ordering::Relaxed)
    }

    pub(crate) fn set_level(&self, level: u32) {
        self.0.level.store(level, Ordering::Relaxed);
    }

    /// Looks for a user's entry. Places are taken in order and never vacated, so no entry is behind a vacant place.
    pub(crate) fn find(&self, key: UserKey) -> Search<'a> {
        for entry in self.0.probe(key) {
            let word = entry.word();
            if word == 0 {
                return Search::Vacant(entry);
            }
            if word & USER == key.user {
                return Search::Found(entry);
            }
        }
        Search::Full
    }

    /// Chooses the entry to evict from a full bucket: second-chance (CLOCK) eviction.
    pub(crate) fn entry_to_evict(&self, key: UserKey) -> &'a Entry {
        let first = || self.0.probe(key).find(|entry| entry.word() & USED == 0);
        first()
            .or_else(|| {
                for entry in &self.0.entries {
                    entry.lock_any().word &= !USED;
                }
                first()
            })
            .unwrap_or(&self.0.entries[key.place(PLACES).0])
    }

    /// Empties the bucket, and returns the words of its entries.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = u64> + use<PLACES> {
        let mut all = [0; PLACES];
        for (copy, entry) in all.iter_mut().zip(&self.0.entries) {
            if entry.word() != 0 {
                *copy = std::mem::take(&mut entry.lock_any().word);
            }
        }
        all.into_iter().filter(|&word| word != 0)
    }
}

/// Spreads user ids. **Frozen**: which section a user belongs to depends on it, and the section's page has
/// to be above the user's numbers.
#[must_use]
#[inline]
pub fn hash(id: i64) -> u64 {
    splitmix64(id.cast_unsigned())
}
