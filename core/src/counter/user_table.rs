//! The next number of each user, in bounded memory.
//!
//! The users of a section share a ceiling, which is on disk, and a floor. A user that is not in memory continues from the
//! floor, so nothing is written for a single user, and any entry can be evicted: eviction raises the floor to the entry's
//! next number. WeChat's seqsvr keeps its sequences in this way.
//!
//! A draw finds and locks an entry without looking at others: its eight bytes are at its home place or close by, and hold
//! the lock. So with millions of users, hardly any of them in the processor's
//! caches, a draw costs one access to memory. Adding or evicting an entry locks the bucket. No lock is held for more than a
//! few steps, none of which waits for anything but another lock.
//!
//! Two neighboring ids share a bucket, and few users use few buckets, so that they fit into the caches. Twice as many
//! buckets come into use when one is full and half of all places are taken. So the buckets lie in parts, each as large
//! as all before it, and a part is made when it is needed.

use crate::atomic::{AtomicU32, AtomicU64, CacheLine, Ordering};
use crate::counter::section::{DrawError, Evicted, Section};
use crate::counter::user_bucket::{
    Bucket, BucketGuard, EntryGuard, FIRST_LEVEL, Search, SectionOwner, UserKey,
};

/// The head of a table. Zeroed memory is that of an empty one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct TableHead {
    /// The number of times that the buckets in use were doubled. Rises under the table's lock.
    doubled: CacheLine<AtomicU32>,
    /// The number of taken places. Each new user writes it, while every draw reads `doubled`.
    used: CacheLine<AtomicU64>,
}

const _: () = assert!(cfg!(loom) || size_of::<TableHead>() == 128);

/// The most parts of a table.
pub const PARTS: usize = 32;

/// Returns the level at which a table of at most so many buckets starts.
fn first_level(buckets: usize) -> u32 {
    buckets.max(1).ilog2().min(FIRST_LEVEL)
}

/// The buckets of a server that this session has mapped.
#[derive(Debug, Clone)]
pub struct UserTable<'a, const PLACES: usize = 511> {
    head: &'a TableHead,
    parts: [&'a [Bucket<PLACES>]; PARTS],
    /// The binary logarithm of the buckets in the first part.
    first_level: u32,
    /// The binary logarithm of the most buckets that come into use.
    most: u32,
}

impl<'a, const PLACES: usize> UserTable<'a, PLACES> {
    /// Returns a table with nothing mapped, that can have at most so many buckets, rounded down to a power of two.
    #[must_use]
    pub fn new(head: &'a TableHead, buckets: usize) -> Self {
        Self {
            head,
            parts: [&[]; PARTS],
            first_level: first_level(buckets),
            most: buckets.max(1).ilog2(),
        }
    }

    /// Returns a table over a power of two of buckets, all of them mapped.
    #[must_use]
    pub fn whole(head: &'a TableHead, mut buckets: &'a [Bucket<PLACES>]) -> Self {
        let mut table = Self::new(head, buckets.len());
        while !buckets.is_empty() {
            let (part, rest) = buckets.split_at(table.buckets_of(table.mapped_parts()));
            table.map(part);
            buckets = rest;
        }
        table
    }

    /// Returns how many buckets a part has.
    #[must_use]
    pub fn buckets_of(&self, part: usize) -> usize {
        match part {
            0 => 1 << self.first_level,
            _ => 1 << (self.first_level as usize + part - 1),
        }
    }

    /// Maps the next part.
    pub fn map(&mut self, part: &'a [Bucket<PLACES>]) {
        let next = self.mapped_parts();
        debug_assert!(part.len() == self.buckets_of(next));
        if let Some(place) = self.parts.get_mut(next) {
            *place = part;
        }
    }

    /// Returns how many parts this session has mapped.
    #[must_use]
    pub fn mapped_parts(&self) -> usize {
        let unmapped = self.parts.iter().position(|part| part.is_empty());
        unmapped.unwrap_or(PARTS)
    }

    /// Returns how many parts the table has in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        (self.level() - self.first_level) as usize + 1
    }

    #[inline]
    fn bucket(&self, key: UserKey, level: u32) -> Result<&'a Bucket<PLACES>, DrawError> {
        let index = key.bucket & ((1 << level) - 1);
        let part = u32::BITS - (index >> self.first_level).leading_zeros();
        let part = self.parts.get(part as usize).ok_or(DrawError::Unmapped)?;
        let place = index as usize & part.len().wrapping_sub(1);
        part.get(place).ok_or(DrawError::Unmapped)
    }

    /// Locks the bucket of a user. It may have been split since the level was read, or before the table says so.
    fn lock(&self, key: UserKey) -> Result<BucketGuard<'a, PLACES>, DrawError> {
        let mut level = self.level();
        loop {
            let locked = self.bucket(key, level)?.lock();
            if locked.level() <= level {
                return Ok(locked);
            }
            // One level at a time: only the bucket that another was split from tells that it is in use.
            level += 1;
        }
    }

    /// Returns the binary logarithm of the number of buckets in use.
    #[inline]
    fn level(&self) -> u32 {
        self.first_level + self.head.doubled.load(Ordering::Acquire)
    }

    /// Returns how many places are taken, and how many there can be.
    #[must_use]
    pub fn used(&self) -> (u64, u64) {
        let most = (1_u64 << self.most) * PLACES as u64;
        (self.head.used.load(Ordering::Relaxed), most)
    }

    /// Returns true when more buckets should come into use once one of them is full.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        let in_use = 1_usize << self.level();
        let places = (in_use * PLACES) as u64;
        self.level() < self.most && self.head.used.load(Ordering::Relaxed) >= places / 2
    }

    /// Brings twice as many buckets into use, unless another session has. **The caller holds the table's
    /// lock**, and has mapped one part more than is in use. Draws continue meanwhile.
    pub fn grow(&self) {
        let level = self.level();
        let Some(&upper) = self
            .parts
            .get(self.in_use())
            .filter(|part| !part.is_empty())
        else {
            return;
        };
        if !self.is_crowded() {
            return;
        }
        let lower = self.parts[..self.in_use()].iter().copied().flatten();
        for (lower, upper) in lower.zip(upper) {
            let both = [lower.lock(), upper.lock()];
            let words = both[0].take_all();
            for half in &both {
                half.set_level(level + 1);
            }
            for word in words {
                let key = UserKey::of_word(word);
                let half = &both[(key.bucket >> level & 1) as usize];
                // There is room, as all of them were in one bucket.
                match half.find(key) {
                    Search::Vacant(entry) => entry.insert_word(word),
                    Search::Found(_) | Search::Full => debug_assert!(false, "twice in a bucket"),
                }
            }
        }
        self.head.doubled.fetch_add(1, Ordering::Release);
    }

    /// Counts the entries of each of so many sections, by their places in memory. Entries of a section that had the
    /// place before count for the one that has it now. Draws continue meanwhile.
    #[must_use]
    pub fn users_by_section(&self, sections: usize) -> Vec<u64> {
        let mut users = vec![0; sections];
        let in_use = self.parts.iter().take(self.in_use()).copied().flatten();
        for user in in_use.flat_map(Bucket::users) {
            if let Some(users) = users.get_mut(user.section()) {
                *users += 1;
            }
        }
        users
    }

    /// Gives a user `want` numbers in a row, at least 1, and returns the first. `evict` reports an evicted
    /// entry to its section before its user can be looked up again: see [`Section::evict`].
    ///
    /// # Errors
    /// When nothing was given.
    #[inline]
    pub fn draw(
        &self,
        section: &Section,
        owner: SectionOwner,
        id: i64,
        want: u64,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, DrawError> {
        let key = UserKey::of(owner, id);
        // Most users have an entry.
        let bucket = self.bucket(key, self.level())?;
        if let Some(entry) = bucket.find_unlocked(key)
            && let Some(guard) = entry.lock(key)
        {
            return Self::draw_more(section, owner, key, want, guard);
        }
        self.draw_in_bucket(section, owner, key, want, true, evict)
    }

    /// Does the same as [`UserTable::draw`] while the table cannot grow: a full bucket evicts an entry.
    ///
    /// # Errors
    /// When nothing was given, but never because the table is crowded.
    pub fn draw_or_evict(
        &self,
        section: &Section,
        owner: SectionOwner,
        id: i64,
        want: u64,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, DrawError> {
        self.draw_in_bucket(section, owner, UserKey::of(owner, id), want, false, evict)
    }

    /// Returns the next numbers of a user that has an entry.
    #[inline]
    fn draw_more(
        section: &Section,
        owner: SectionOwner,
        key: UserKey,
        want: u64,
        mut guard: EntryGuard<'_>,
    ) -> Result<i64, DrawError> {
        let (first, next) = section.give(owner, want, |section, reach| {
            section.next(guard.word, reach)
        })?;
        guard.set(key, next);
        Ok(first)
    }

    /// Draws the next numbers of a user, for which it makes an entry if there is none.
    #[inline(never)]
    fn draw_in_bucket(
        &self,
        section: &Section,
        owner: SectionOwner,
        key: UserKey,
        want: u64,
        can_grow: bool,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, DrawError> {
        let bucket = self.lock(key)?;
        match bucket.find(key) {
            Search::Found(entry) => {
                // No entry is evicted while the bucket is locked.
                let guard = entry.lock_any();
                Self::draw_more(section, owner, key, want, guard)
            }
            Search::Vacant(entry) => {
                let (first, next) =
                    section.give(owner, want, |section, _| section.next_of_unknown_user())?;
                self.head.used.fetch_add(1, Ordering::Relaxed);
                entry.insert(key, next);
                Ok(first)
            }
            Search::Full if can_grow && self.is_crowded() => Err(DrawError::Crowded),
            Search::Full => {
                let (first, next) =
                    section.give(owner, want, |section, _| section.next_of_unknown_user())?;
                let mut guard = bucket.entry_to_evict(key).lock_any();
                evict(Evicted(guard.word));
                guard.set(key, next);
                Ok(first)
            }
        }
    }

    /// Returns the last number of a user, or an upper bound of it; 0 if there is none.
    ///
    /// # Errors
    /// When the memory of the section belongs to another, or the user's part is not mapped.
    pub fn current(
        &self,
        section: &Section,
        owner: SectionOwner,
        id: i64,
    ) -> Result<i64, DrawError> {
        let key = UserKey::of(owner, id);
        let bucket = self.lock(key)?;
        let next = match bucket.find(key) {
            Search::Found(entry) => {
                let word = entry.word();
                section.next(word, section.reach())
            }
            Search::Vacant(_) | Search::Full => section.next_of_unknown_user(),
        };
        if section.owner() == owner {
            Ok(next - 1)
        } else {
            Err(DrawError::NotMine)
        }
    }
}
