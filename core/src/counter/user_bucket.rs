//! Buckets of users: entries of eight bytes, each with a user, its next number and a lock.
//!
//! Eight bytes do not hold all of that, so two things are left out that cost gaps and nothing else. Of a number an entry has
//! the last [`DIGITS`] bits; the rest is taken to be as high as it can be ([`unfold`]). Of a user it has the section, the last
//! two bits of the id and 32 of a hash, eight of these as the bucket that it is in. Two users of a section that this does not
//! tell apart draw from one counter, which only rises for either. That happens to a few hundred of ten million in 64 sections.

use crate::atomic::{AtomicU32, AtomicU64, Ordering, pause};
use crate::hash::{fibonacci, splitmix64};
use std::{array, iter};

/// The owner of a section's memory, and in the lower 16 bits its place there; 0 is none.
pub type Owner = u64;

/// Entries and the lock on which users they are of; on the server a page of memory. Zeroed memory is an empty bucket.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Bucket<const PLACES: usize = 511> {
    locked: AtomicU32,
    /// The level that the bucket is at. Under the lock.
    level: AtomicU32,
    users: [User; PLACES],
}

const _: () = assert!(cfg!(loom) || size_of::<Bucket>() == 4_096);

impl<const PLACES: usize> Default for Bucket<PLACES> {
    fn default() -> Self {
        Self {
            locked: AtomicU32::default(),
            level: AtomicU32::default(),
            users: array::from_fn(|_| User::default()),
        }
    }
}

/// From the top: the user in 42 bits; whether the entry was used since all of the bucket's had been; whether it is locked;
/// the last bits of the next number. 0 is a vacant place.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct User(AtomicU64);

/// How many bits of a number are remembered.
pub(crate) const DIGITS: u32 = 20;
const NUMBER: u64 = (1 << DIGITS) - 1;
const LOCKED: u64 = 1 << DIGITS;
const USED: u64 = LOCKED << 1;
const WHO: u64 = !(USED | LOCKED | NUMBER);

/// Words in a line of the processor's caches.
const LINE: u64 = 8;

/// The level at which a table starts: so many bits of a user are known from its bucket.
pub(crate) const FIRST_LEVEL: u32 = if cfg!(loom) { 0 } else { 8 };

/// The number that a user gets next: the highest with these last bits that is at most `most`.
#[inline]
pub(crate) fn unfold(word: u64, most: i64) -> i64 {
    let behind = most.cast_unsigned().wrapping_sub(word) & NUMBER;
    most.wrapping_sub(behind.cast_signed())
}

/// A user as its entry has it, and where that is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    /// The user's bits of the entry.
    who: u64,
    /// Chooses the line in the bucket.
    spread: u64,
    /// The lower bits of it choose the bucket.
    pub(crate) bucket: u32,
}

impl Name {
    #[inline]
    pub(crate) fn of(owner: Owner, id: i64) -> Self {
        // The upper half of it chose the section.
        let hash = hash(id >> 2) & 0xffff_ffff;
        let section = (owner & 0xffff) + 1;
        let who = section << 26 | (hash & 0xff_ffff) << 2 | (id & 3).cast_unsigned();
        let mut name = Self::found(who << (DIGITS + 2));
        name.bucket ^= (hash >> 24) as u32 & ((1 << FIRST_LEVEL) - 1);
        name
    }

    /// The user of an entry; of the bucket, the bits above [`FIRST_LEVEL`].
    #[inline]
    pub(crate) fn found(word: u64) -> Self {
        let who = word & WHO;
        // Two neighbours have the same, and so the same bucket.
        let spread = fibonacci(who >> (DIGITS + 3));
        Self {
            who,
            spread,
            bucket: (spread >> 28) as u32 & 0xfff_ffff,
        }
    }

    /// The place of the section in memory.
    pub(crate) fn section(self) -> usize {
        (self.who >> 48) as usize - 1
    }

    /// His own place in a bucket of so many, and where the line of the cache begins that it is in. The first line
    /// begins with what is not a place.
    #[inline]
    fn place(self, places: usize) -> (usize, usize) {
        let lines = (places as u64 + 1) / LINE;
        let line = ((self.spread >> 40) * lines) >> 24;
        let line = (line * LINE).saturating_sub(1);
        // Neighbours have two of it.
        let place = line + ((self.spread ^ self.who >> (DIGITS + 2)) & (LINE - 1));
        ((place as usize).min(places - 1), line as usize)
    }
}

/// Guard of a locked entry: writes `word` back and unlocks the entry when dropped.
pub(crate) struct Sole<'a> {
    user: &'a User,
    pub(crate) word: u64,
}

impl Drop for Sole<'_> {
    fn drop(&mut self) {
        self.user.0.store(self.word, Ordering::Release);
    }
}

impl Sole<'_> {
    /// Makes it the entry of a user, with its next number.
    #[inline]
    pub(crate) fn set(&mut self, name: Name, next: i64) {
        self.word = written(name, next);
    }
}

#[inline]
fn written(name: Name, next: i64) -> u64 {
    name.who | USED | (next.cast_unsigned() & NUMBER)
}

impl User {
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Locks the entry, if it is this user's.
    #[inline]
    pub(crate) fn lock(&self, name: Name) -> Option<Sole<'_>> {
        let mut tries = 0;
        let mut word = self.0.load(Ordering::Relaxed);
        while word & WHO == name.who {
            let free = word & !LOCKED;
            let locked = word | LOCKED;
            match self
                .0
                .compare_exchange_weak(free, locked, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(word) => return Some(Sole { user: self, word }),
                Err(found) => word = found,
            }
            tries += 1;
            pause(tries);
        }
        None
    }

    /// Locks the entry; the bucket's lock, which the caller holds, keeps its user.
    pub(crate) fn lock_any(&self) -> Sole<'_> {
        loop {
            if let Some(sole) = self.lock(Name::found(self.word())) {
                return sole;
            }
        }
    }

    /// Fills a vacant place. The caller holds the bucket's lock.
    pub(crate) fn settle(&self, name: Name, next: i64) {
        self.move_in(written(name, next));
    }

    /// Fills a vacant place with the word of another. The caller holds the bucket's lock.
    pub(crate) fn move_in(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }
}

/// Guard of a bucket's lock, under which entries are added and evicted. Nothing in between can fail.
pub(crate) struct Locked<'a, const PLACES: usize>(&'a Bucket<PLACES>);

impl<const PLACES: usize> Bucket<PLACES> {
    pub(crate) fn lock(&self) -> Locked<'_, PLACES> {
        let mut tries = 0;
        while self
            .locked
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            tries += 1;
            pause(tries);
        }
        Locked(self)
    }

    /// The places in the order in which they are looked at and taken. The home place comes twice: first, and in order.
    #[inline]
    fn from(&self, name: Name) -> impl Iterator<Item = &User> {
        let (place, line) = name.place(PLACES);
        let (before, from) = self.users.split_at(line);
        iter::once(&self.users[place]).chain(from).chain(before)
    }

    /// Looks for a user without the lock: one that is not found may have an entry, and one that is found may be evicted.
    #[inline]
    pub(crate) fn glance(&self, name: Name) -> Option<&User> {
        self.from(name)
            .map(|user| (user, user.word()))
            .take_while(|&(_, word)| word != 0)
            .find(|&(_, word)| word & WHO == name.who)
            .map(|(user, _)| user)
    }
}

impl<const PLACES: usize> Drop for Locked<'_, PLACES> {
    fn drop(&mut self) {
        self.0.locked.store(0, Ordering::Release);
    }
}

/// What was found in a bucket.
pub(crate) enum Place<'a> {
    Mine(&'a User),
    /// There is no entry, but a vacant place for it.
    Vacant(&'a User),
    /// There is no entry, and all places are taken.
    Full,
}

impl<'a, const PLACES: usize> Locked<'a, PLACES> {
    pub(crate) fn level(&self) -> u32 {
        self.0.level.load(Ordering::Relaxed)
    }

    pub(crate) fn set_level(&self, level: u32) {
        self.0.level.store(level, Ordering::Relaxed);
    }

    /// Looks for a user. Places are taken in order and never vacated, so no entry is behind a vacant place.
    pub(crate) fn find(&self, name: Name) -> Place<'a> {
        for user in self.0.from(name) {
            let word = user.word();
            if word == 0 {
                return Place::Vacant(user);
            }
            if word & WHO == name.who {
                return Place::Mine(user);
            }
        }
        Place::Full
    }

    /// The entry to evict from a full bucket: second-chance (CLOCK) eviction.
    pub(crate) fn unused(&self, name: Name) -> &'a User {
        let first = || self.0.from(name).find(|user| user.word() & USED == 0);
        first()
            .or_else(|| {
                for user in &self.0.users {
                    user.lock_any().word &= !USED;
                }
                first()
            })
            .unwrap_or(&self.0.users[name.place(PLACES).0])
    }

    /// Takes all entries out.
    pub(crate) fn empty(&self) -> impl Iterator<Item = u64> + use<PLACES> {
        let mut all = [0; PLACES];
        for (copy, user) in all.iter_mut().zip(&self.0.users) {
            if user.word() != 0 {
                *copy = std::mem::take(&mut user.lock_any().word);
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
