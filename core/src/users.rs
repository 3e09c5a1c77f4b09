//! Where each user's next number is remembered, in bounded memory.
//!
//! Users of a section share a ceiling, which is on disk, and a floor: a user who is not in memory goes on
//! from there. So nothing has to be written for a single user, and anyone can be forgotten: whoever is
//! evicted raises the floor to where he stood. That is how WeChat's seqsvr keeps its sequences.
//!
//! A user who is there is found and locked without a look at others: his place in a bucket of 21 is where it
//! would be next to its neighbours', and the lock is in it. So of millions of users, of whom hardly one is in
//! the processor's caches, a draw costs one answer of the memory. Who comes or leaves locks the bucket. No
//! lock is held for more than a few steps, none of which waits for anything but another lock.
//!
//! Few users use few buckets, and four neighbouring ids one of them, so that they fit into the caches. Twice
//! as many buckets come into use when one is full and a third of all places taken; until then, somebody in the
//! full one is evicted: a few in a hundred users, once each.

use crate::Ceiling;
pub use crate::bucket::{Bucket, hash};
use crate::bucket::{EPOCHS, Home, Locked, Place, Sole, WAYS};
use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// Who a section belongs to, with its place in memory; 0 is nobody.
pub type Owner = u64;

/// What the users of a section share, in shared memory.
///
/// - `bounds`: by the ceiling's protocol, with numbers in place of moments. A number is issued when it is
///   below the ceiling that is on disk, and starts at the floor.
/// - `evicted`: what users who were evicted would have got next. Only rises.
/// - `owner`: written before the rest is when the memory is given to another section.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Section {
    /// The ceiling of the section's numbers, and the floor it had when the server started.
    pub bounds: Ceiling,
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
            self.evicted.store(0, Ordering::SeqCst);
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

    /// `want` numbers in a row, the first of which is told from the floor: the first, and what comes after
    /// the last.
    #[inline]
    fn give(
        &self,
        owner: Owner,
        want: u64,
        first: impl FnOnce(i64) -> i64,
    ) -> Result<(i64, i64), Held> {
        // Before the floor, and the owner after both: a limit that counts has its floor, and is his.
        let limit = self.bounds.limit();
        let first = first(self.bounds.floor());
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
        Ok((first, next))
    }

    /// Remembers of somebody who is evicted that others must go on above.
    pub fn evict(&self, next: i64) {
        self.evicted.fetch_max(next, Ordering::AcqRel);
    }
}

/// What a table knows of itself. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct TableHead {
    /// 2^level buckets are in use. Rises under the table's lock.
    level: AtomicU32,
    /// Rises when as many users have come as there are buckets in use: to tell who was used longest ago.
    epoch: AtomicU32,
    /// Every draw reads what is above, and only those who come write what is below: in another line of the
    /// cache.
    apart: [u64; 7],
    /// How many places are taken.
    used: AtomicU64,
    /// How often one was.
    came: AtomicU64,
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
    /// The table must [`UserTable::grow`] first.
    Crowded,
}

/// The buckets of a server.
#[derive(Debug, Clone, Copy)]
pub struct UserTable<'a> {
    head: &'a TableHead,
    buckets: &'a [Bucket],
}

/// The section, of so many, that a user and his three neighbours belong to. Frozen as [`hash`] is.
#[must_use]
#[inline]
pub fn section_of(id: i64, sections: usize) -> usize {
    (((hash(id >> 2) >> 32) * sections as u64) >> 32) as usize
}

impl<'a> UserTable<'a> {
    /// A table over a power of two of buckets.
    #[must_use]
    pub fn new(head: &'a TableHead, buckets: &'a [Bucket]) -> Self {
        debug_assert!(buckets.len().is_power_of_two());
        Self { head, buckets }
    }

    #[inline]
    fn bucket(&self, bits: u64, level: u32) -> &'a Bucket {
        &self.buckets[(bits & ((1 << level) - 1)) as usize]
    }

    /// Locks the bucket of a user. It may be split before the table says so.
    fn lock(&self, bits: u64) -> Locked<'a> {
        let mut level = self.level();
        loop {
            let locked = self.bucket(bits, level).lock();
            if locked.level() <= level {
                return locked;
            }
            level = locked.level();
        }
    }

    #[inline]
    fn level(&self) -> u32 {
        self.head.level.load(Ordering::Acquire)
    }

    /// The epoch in its place in a tag.
    #[inline]
    fn tag(&self, owner: Owner) -> u64 {
        let epoch = self.head.epoch.load(Ordering::Relaxed) & EPOCHS;
        owner << 16 | u64::from(epoch) << 1
    }

    /// Counts who came.
    fn came(&self) {
        let came = self.head.came.fetch_add(1, Ordering::Relaxed) + 1;
        if came & ((1 << self.level()) - 1) == 0 {
            self.head.epoch.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether more buckets should come into use when one of them is full.
    fn is_crowded(&self) -> bool {
        let in_use = 1_u64 << self.head.level.load(Ordering::Acquire);
        let places = in_use * WAYS as u64;
        in_use < self.buckets.len() as u64 && self.head.used.load(Ordering::Relaxed) >= places / 3
    }

    /// Brings twice as many buckets into use, unless another session has. **The caller holds the table's
    /// lock.** Draws go on meanwhile.
    pub fn grow(&self) {
        if !self.is_crowded() {
            return;
        }
        let level = self.head.level.load(Ordering::Relaxed);
        let count = 1_usize << level;
        let (lower, upper) = self.buckets.split_at(count);
        for (lower, upper) in lower.iter().zip(upper) {
            let both = [lower.lock(), upper.lock()];
            let users = both[0].empty();
            for half in &both {
                half.set_level(level + 1);
            }
            for (id, next, tag) in users {
                let home = Home::of(tag >> 16, id);
                let half = &both[(home.bits >> level & 1) as usize];
                // There is room: half of those who were in one bucket.
                if let Place::Vacant(user) = half.find(home, id, tag >> 16, 0) {
                    user.settle(id, next, tag);
                }
            }
        }
        self.head.level.store(level + 1, Ordering::Release);
    }

    /// Gives a user `want` numbers in a row, at least 1, and returns the first. `evicted` is told of who had
    /// to leave, his section's owner and his next number, before anybody can ask for him.
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
        evicted: impl FnOnce(Owner, i64),
    ) -> Result<i64, Held> {
        let home = Home::of(owner, id);
        // Mostly he is there.
        let bucket = self.bucket(home.bits, self.level());
        if let Some(user) = bucket.glance(home, id, owner)
            && let Some(sole) = user.lock(id, owner)
        {
            return self.draw_more(section, owner, want, sole);
        }
        self.draw_in_bucket(section, owner, id, want, evicted)
    }

    /// The next numbers of a user who is there.
    #[inline]
    fn draw_more(
        &self,
        section: &Section,
        owner: Owner,
        want: u64,
        mut sole: Sole<'_>,
    ) -> Result<i64, Held> {
        // A floor that rose is one that somebody set: nobody stays below it.
        let (first, next) = section.give(owner, want, |floor| sole.next().max(floor))?;
        sole.set(next, self.tag(owner));
        Ok(first)
    }

    /// The next numbers of a user who may have to get a place first.
    #[inline(never)]
    fn draw_in_bucket(
        &self,
        section: &Section,
        owner: Owner,
        id: i64,
        want: u64,
        evicted: impl FnOnce(Owner, i64),
    ) -> Result<i64, Held> {
        let home = Home::of(owner, id);
        let bucket = self.lock(home.bits);
        let place = bucket.find(home, id, owner, self.head.epoch.load(Ordering::Relaxed));
        if let Place::Mine(user) = place
            && let Some(sole) = user.lock(id, owner)
        {
            return self.draw_more(section, owner, want, sole);
        }
        if matches!(place, Place::Oldest(_)) && self.is_crowded() {
            return Err(Held::Crowded);
        }
        let (first, next) = section.give(owner, want, |_| section.start())?;
        match place {
            Place::Mine(user) | Place::Vacant(user) => {
                self.head.used.fetch_add(1, Ordering::Relaxed);
                user.settle(id, next, self.tag(owner));
            }
            Place::Oldest(user) => {
                if let Some(mut sole) = user.lock(user.id(), user.owner()) {
                    evicted(sole.tag >> 16, sole.next());
                    user.id.store(id, Ordering::Relaxed);
                    sole.set(next, self.tag(owner));
                }
            }
        }
        self.came();
        Ok(first)
    }

    /// What a user got last, or the most that he can have got when he is not in memory; 0 if nothing.
    ///
    /// # Errors
    /// When the memory of the section belongs to another.
    pub fn current(&self, section: &Section, owner: Owner, id: i64) -> Result<i64, Held> {
        let home = Home::of(owner, id);
        let bucket = self.lock(home.bits);
        let next = match bucket.find(home, id, owner, 0) {
            Place::Mine(user) => user.next.load(Ordering::Relaxed),
            Place::Vacant(_) | Place::Oldest(_) => section.start(),
        };
        if section.owner() == owner {
            Ok(next - 1)
        } else {
            Err(Held::NotMine)
        }
    }
}
