//! The next number of each user, in bounded memory.
//!
//! The users of a section share a ceiling, which is on disk, and a floor. A user that is not in memory continues from the
//! floor, so nothing is written for a single user, and any entry can be evicted: eviction raises the floor to the entry's
//! next number. WeChat's seqsvr keeps its sequences in this way.
//!
//! A draw finds and locks an entry without looking at others: its eight bytes are where they would be if the entry were
//! alone in its bucket, or close by, and hold the lock. So with millions of users, hardly any of them in the processor's
//! caches, a draw costs one access to memory. Adding or evicting an entry locks the bucket. No lock is held for more than a
//! few steps, none of which waits for anything but another lock.
//!
//! Few users use few buckets, and two neighboring ids one of them, so that they fit into the caches. Twice as many buckets
//! come into use when one is full and half of all places are taken. So the buckets lie in parts, each as large as all before
//! it, and a part is made when it is needed.

use crate::atomic::{AtomicU32, AtomicU64, CacheLine, Ordering};
use crate::counter::section::{Evicted, Held, Section};
use crate::counter::user_bucket::{Bucket, FIRST_LEVEL, Locked, Name, Owner, Place, Sole};

/// What a table knows of itself. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct TableHead {
    /// How often the buckets in use were doubled. Rises under the table's lock.
    doubled: CacheLine<AtomicU32>,
    /// How many places are taken. Each new user writes it, while every draw reads `doubled`.
    used: CacheLine<AtomicU64>,
}

const _: () = assert!(cfg!(loom) || size_of::<TableHead>() == 128);

/// Parts that a table can have.
pub const PARTS: usize = 32;

/// The level at which a table starts that may have so many buckets.
fn first_level(buckets: usize) -> u32 {
    buckets.max(1).ilog2().min(FIRST_LEVEL)
}

/// The buckets of a server, as far as this session has mapped them.
#[derive(Debug, Clone)]
pub struct UserTable<'a, const PLACES: usize = 511> {
    head: &'a TableHead,
    parts: [&'a [Bucket<PLACES>]; PARTS],
    /// The first part has 2^first_level buckets.
    first_level: u32,
    /// At most 2^most buckets come into use.
    most: u32,
}

impl<'a, const PLACES: usize> UserTable<'a, PLACES> {
    /// A table with nothing mapped, that shall have at most so many buckets, rounded down to a power of two.
    #[must_use]
    pub fn new(head: &'a TableHead, buckets: usize) -> Self {
        Self {
            head,
            parts: [&[]; PARTS],
            first_level: first_level(buckets),
            most: buckets.max(1).ilog2(),
        }
    }

    /// A table over a power of two of buckets, all of them mapped.
    #[must_use]
    pub fn whole(head: &'a TableHead, mut buckets: &'a [Bucket<PLACES>]) -> Self {
        let mut table = Self::new(head, buckets.len());
        while !buckets.is_empty() {
            let (part, rest) = buckets.split_at(table.buckets_of(table.mapped()));
            table.map(part);
            buckets = rest;
        }
        table
    }

    /// How many buckets a part has.
    #[must_use]
    pub fn buckets_of(&self, part: usize) -> usize {
        match part {
            0 => 1 << self.first_level,
            _ => 1 << (self.first_level as usize + part - 1),
        }
    }

    /// Maps the next part.
    pub fn map(&mut self, part: &'a [Bucket<PLACES>]) {
        let next = self.mapped();
        debug_assert!(part.len() == self.buckets_of(next));
        if let Some(place) = self.parts.get_mut(next) {
            *place = part;
        }
    }

    /// How many parts this session has mapped.
    #[must_use]
    pub fn mapped(&self) -> usize {
        let unmapped = self.parts.iter().position(|part| part.is_empty());
        unmapped.unwrap_or(PARTS)
    }

    /// How many parts the table has in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        (self.level() - self.first_level) as usize + 1
    }

    #[inline]
    fn bucket(&self, name: Name, level: u32) -> Result<&'a Bucket<PLACES>, Held> {
        let index = name.bucket & ((1 << level) - 1);
        let part = u32::BITS - (index >> self.first_level).leading_zeros();
        let part = self.parts.get(part as usize).ok_or(Held::Unmapped)?;
        let place = index as usize & part.len().wrapping_sub(1);
        part.get(place).ok_or(Held::Unmapped)
    }

    /// Locks the bucket of a user. It may have been split since the level was read, or before the table says so.
    fn lock(&self, name: Name) -> Result<Locked<'a, PLACES>, Held> {
        let mut level = self.level();
        loop {
            let locked = self.bucket(name, level)?.lock();
            if locked.level() <= level {
                return Ok(locked);
            }
            // A level at a time: only what it was split from says that a bucket is in use.
            level += 1;
        }
    }

    /// 2^level buckets are in use.
    #[inline]
    fn level(&self) -> u32 {
        self.first_level + self.head.doubled.load(Ordering::Acquire)
    }

    /// Whether more buckets should come into use when one of them is full.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        let in_use = 1_usize << self.level();
        let places = (in_use * PLACES) as u64;
        self.level() < self.most && self.head.used.load(Ordering::Relaxed) >= places / 2
    }

    /// Brings twice as many buckets into use, unless another session has. **The caller holds the table's
    /// lock**, and has mapped one part more than is in use. Draws go on meanwhile.
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
            let users = both[0].empty();
            for half in &both {
                half.set_level(level + 1);
            }
            for word in users {
                let name = Name::found(word);
                let half = &both[(name.bucket >> level & 1) as usize];
                // There is room: they were in one bucket.
                match half.find(name) {
                    Place::Vacant(user) => user.move_in(word),
                    Place::Mine(_) | Place::Full => debug_assert!(false, "twice in a bucket"),
                }
            }
        }
        self.head.doubled.fetch_add(1, Ordering::Release);
    }

    /// Gives a user `want` numbers in a row, at least 1, and returns the first. `evict` tells a section
    /// of an evicted entry before its user can be looked up again: see [`Section::evict`].
    ///
    /// # Errors
    /// When nothing was given.
    #[inline]
    pub fn draw(
        &self,
        section: &Section,
        owner: Owner,
        id: i64,
        want: u64,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, Held> {
        let name = Name::of(owner, id);
        // Most users have an entry.
        let bucket = self.bucket(name, self.level())?;
        if let Some(user) = bucket.glance(name)
            && let Some(sole) = user.lock(name)
        {
            return Self::draw_more(section, owner, name, want, sole);
        }
        self.draw_in_bucket(section, owner, name, want, true, evict)
    }

    /// As [`UserTable::draw`] while the table cannot grow: a full bucket evicts an entry.
    ///
    /// # Errors
    /// When nothing was given, but never because the table is crowded.
    pub fn draw_or_evict(
        &self,
        section: &Section,
        owner: Owner,
        id: i64,
        want: u64,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, Held> {
        self.draw_in_bucket(section, owner, Name::of(owner, id), want, false, evict)
    }

    /// The next numbers of a user that has an entry.
    #[inline]
    fn draw_more(
        section: &Section,
        owner: Owner,
        name: Name,
        want: u64,
        mut sole: Sole<'_>,
    ) -> Result<i64, Held> {
        let (first, next) =
            section.give(owner, want, |section, reach| section.next(sole.word, reach))?;
        sole.set(name, next);
        Ok(first)
    }

    /// The next numbers of a user that may need an entry first.
    #[inline(never)]
    fn draw_in_bucket(
        &self,
        section: &Section,
        owner: Owner,
        name: Name,
        want: u64,
        can_grow: bool,
        evict: impl FnOnce(Evicted),
    ) -> Result<i64, Held> {
        let bucket = self.lock(name)?;
        match bucket.find(name) {
            Place::Mine(user) => {
                // No entry is evicted while the bucket is locked.
                let sole = user.lock_any();
                Self::draw_more(section, owner, name, want, sole)
            }
            Place::Vacant(user) => {
                let (first, next) = section.give(owner, want, |section, _| section.start())?;
                self.head.used.fetch_add(1, Ordering::Relaxed);
                user.settle(name, next);
                Ok(first)
            }
            Place::Full if can_grow && self.is_crowded() => Err(Held::Crowded),
            Place::Full => {
                let (first, next) = section.give(owner, want, |section, _| section.start())?;
                let mut sole = bucket.unused(name).lock_any();
                evict(Evicted(sole.word));
                sole.set(name, next);
                Ok(first)
            }
        }
    }

    /// The last number of a user, or an upper bound of it; 0 if there is none.
    ///
    /// # Errors
    /// When the memory of the section belongs to another, or the user's part is not mapped.
    pub fn current(&self, section: &Section, owner: Owner, id: i64) -> Result<i64, Held> {
        let name = Name::of(owner, id);
        let bucket = self.lock(name)?;
        let next = match bucket.find(name) {
            Place::Mine(user) => {
                let word = user.word();
                section.next(word, section.reach())
            }
            Place::Vacant(_) | Place::Full => section.start(),
        };
        if section.owner() == owner {
            Ok(next - 1)
        } else {
            Err(Held::NotMine)
        }
    }
}
