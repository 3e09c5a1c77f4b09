//! Where each user's next number is remembered, in bounded memory.
//!
//! Users of a section share a ceiling, which is on disk, and a floor: a user who is not in memory goes on
//! from there. So nothing has to be written for a single user, and anyone can be forgotten: whoever is
//! evicted raises the floor to where he stood. That is how WeChat's seqsvr keeps its sequences.
//!
//! A user who is there is found and locked without a look at others: the eight bytes that are remembered of him
//! are where they would be if he was alone in a bucket, or close by, and the lock is in them. So of millions
//! of users, of whom hardly one is in the processor's caches, a draw costs one answer of the memory. Who comes
//! or leaves locks the bucket. No lock is held for more than a few steps, none of which waits for anything but
//! another lock.
//!
//! Few users use few buckets, and two neighbouring ids one of them, so that they fit into the caches. Twice as
//! many buckets come into use when one is full and half of all places taken. So the buckets lie in parts, each as large
//! as all before it, and a part is made when it is needed.

use crate::Ceiling;
pub use crate::bucket::{Bucket, hash};
use crate::bucket::{DIGITS, FIRST_LEVEL, Locked, Name, Place, Sole, unfold};
use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// Who a section belongs to, and in the lower 16 bits its place in memory, below [`MOST_SECTIONS`]; 0 is nobody.
pub type Owner = u64;

/// How many sections there can be.
pub const MOST_SECTIONS: u16 = u16::MAX;

/// The reach of a section is raised by so much, so that hardly a draw has to.
const AHEAD: i64 = 1 << (DIGITS - 4);

/// What the users of a section share, in shared memory.
///
/// - `bounds`: by the ceiling's protocol, with numbers in place of moments. A number is issued when it is
///   below the ceiling that is on disk, and starts at the floor.
/// - `reach`: at least what any user of the section gets next, and soon after. Only rises. A number of which
///   the last bits are known is taken to be as close below it as it can be.
/// - `evicted`: what users who were evicted would have got next. Only rises.
/// - `owner`: written before the rest is when the memory is given to another section.
///
/// `reach` and `evicted` of a new owner are below every number, and unlike any other's: so a session that
/// raises what it read of the one before does nothing.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Section {
    /// The ceiling of the section's numbers, and the floor it had when the server started.
    pub bounds: Ceiling,
    reach: AtomicI64,
    evicted: AtomicI64,
    owner: AtomicU64,
}

impl Section {
    /// Whose it is. Read after the bounds that count.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.owner.load(Ordering::SeqCst)
    }

    /// Gives the memory to another section, if nobody is raising the one it has. Who raises it says so
    /// first, and then looks at the owner; so `unused` is asked once the owner has changed.
    pub fn claim(&self, owner: Owner, unused: impl FnOnce() -> bool) -> bool {
        // Before the rest: who sees bounds of another sees that they are another's.
        let before = self.owner.swap(owner, Ordering::SeqCst);
        let mine = unused();
        if mine {
            self.bounds.reset(0);
            let nothing = -owner.cast_signed();
            // Swapped, as loom does not know that a store comes after swaps that have read what it replaces.
            self.reach.swap(nothing, Ordering::SeqCst);
            self.evicted.swap(nothing, Ordering::SeqCst);
        } else {
            self.owner.store(before, Ordering::SeqCst);
        }
        mine
    }

    /// What a user who is not in memory gets next.
    fn start(&self) -> i64 {
        self.bounds
            .floor()
            .max(self.evicted.load(Ordering::Acquire))
    }

    /// `want` numbers in a row, the first of which is told from the bounds and the reach: the first, and what
    /// comes after the last.
    #[inline]
    fn give(
        &self,
        owner: Owner,
        want: u64,
        first: impl FnOnce(&Self, i64) -> i64,
    ) -> Result<(i64, i64), Held> {
        // Before the floor, and the owner after all: a limit that counts has its floor, and is his.
        let limit = self.bounds.limit();
        let reach = self.reach.load(Ordering::Acquire);
        let first = first(self, reach);
        if self.owner() != owner {
            return Err(Held::NotMine);
        }
        let next = i64::try_from(want)
            .ok()
            .and_then(|want| first.checked_add(want))
            .filter(|&next| next < i64::MAX)
            .ok_or(Held::UsedUp)?;
        if next > limit {
            return Err(Held::Beyond(next - 1));
        }
        // Before the number is remembered.
        self.reach_beyond(reach, next, owner)?;
        Ok((first, next))
    }

    /// Raises the reach from what was read of it, if it must be and the section is still the owner's.
    #[inline]
    fn reach_beyond(&self, mut reach: i64, next: i64, owner: Owner) -> Result<(), Held> {
        while next > reach {
            let beyond = next.saturating_add(AHEAD);
            match self
                .reach
                .compare_exchange(reach, beyond, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(found) => reach = found,
            }
            if self.owner() != owner {
                return Err(Held::NotMine);
            }
        }
        Ok(())
    }

    /// What a user who is remembered gets next. The reach was read after what is remembered. A floor that
    /// rose is one that somebody set: nobody stays below it.
    #[inline]
    fn next(&self, word: u64, reach: i64) -> i64 {
        unfold(word, reach).max(self.bounds.floor())
    }

    /// Remembers of somebody who is evicted that others must go on above.
    pub fn evict(&self, who: Evicted) {
        let mut evicted = self.evicted.load(Ordering::Acquire);
        loop {
            let next = self.next(who.0, self.reach.load(Ordering::Acquire));
            let raised = self.evicted.compare_exchange(
                evicted,
                next.max(evicted),
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match raised {
                Ok(_) => return,
                Err(found) => evicted = found,
            }
        }
    }
}

/// What is remembered of somebody who has to leave.
#[derive(Debug, Clone, Copy)]
pub struct Evicted(u64);

impl Evicted {
    /// The place of his section in memory, as its owner has it.
    #[must_use]
    pub fn section(self) -> usize {
        Name::found(self.0).section()
    }
}

/// What a table knows of itself. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct TableHead {
    /// How often the buckets in use were doubled. Rises under the table's lock.
    doubled: AtomicU32,
    /// Every draw reads what is above, and only those who come write what is below: in another line of the
    /// cache.
    apart: [u64; 7],
    /// How many places are taken.
    used: AtomicU64,
}

const _: () = assert!(cfg!(loom) || size_of::<TableHead>() == 128);

/// Why a user got no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The section's ceiling must be raised first, beyond this number.
    Beyond(i64),
    /// There are no numbers any more.
    UsedUp,
    /// The memory of the section belongs to another now.
    NotMine,
    /// The table should [`UserTable::grow`] first. Where it cannot now, [`UserTable::draw_or_evict`].
    Crowded,
    /// This session has to map more of the table's parts first.
    Unmapped,
}

/// Parts that a table can have.
pub const PARTS: usize = 32;

/// The level at which a table starts that may have so many buckets.
fn first_level(buckets: usize) -> u32 {
    buckets.max(1).ilog2().min(FIRST_LEVEL)
}

/// The buckets of a server, as far as this session has mapped them.
#[derive(Debug)]
pub struct UserTable<'a, const PLACES: usize = 511> {
    head: &'a TableHead,
    parts: [&'a [Bucket<PLACES>]; PARTS],
    /// The first part has 2^first_level buckets.
    first_level: u32,
    /// At most 2^most buckets come into use.
    most: u32,
}

/// The section, of so many, that a user and his three neighbours belong to. Frozen as [`hash`] is.
#[must_use]
#[inline]
pub fn section_of(id: i64, sections: usize) -> usize {
    (((hash(id >> 2) >> 32) * sections as u64) >> 32) as usize
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

    /// Gives a user `want` numbers in a row, at least 1, and returns the first. `evict` tells a section of
    /// somebody who had to leave, before anybody can ask for him: see [`Section::evict`].
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
        // Mostly he is there.
        let bucket = self.bucket(name, self.level())?;
        if let Some(user) = bucket.glance(name)
            && let Some(sole) = user.lock(name)
        {
            return Self::draw_more(section, owner, name, want, sole);
        }
        self.draw_in_bucket(section, owner, name, want, true, evict)
    }

    /// As [`UserTable::draw`] while the table cannot grow: of a full bucket, somebody has to leave.
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

    /// The next numbers of a user who is there.
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

    /// The next numbers of a user who may have to get a place first.
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
                // Nobody leaves while the bucket is locked.
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

    /// What a user got last, or the most that he can have got; 0 if nothing.
    ///
    /// # Errors
    /// When the memory of the section belongs to another, or the user's part is not mapped.
    pub fn current(&self, section: &Section, owner: Owner, id: i64) -> Result<i64, Held> {
        let name = Name::of(owner, id);
        let bucket = self.lock(name)?;
        let next = match bucket.find(name) {
            Place::Mine(user) => {
                let word = user.word();
                section.next(word, section.reach.load(Ordering::Acquire))
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
