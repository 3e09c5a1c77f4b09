//! Buckets of users: who is in them, each with a lock of his own.

use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Ordering, pause};
use crate::users::Owner;

/// Users in a bucket.
pub(crate) const WAYS: usize = 21;

/// Some users and the lock on who they are. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Bucket {
    locked: AtomicU32,
    /// The level that the bucket is at. Under the lock.
    level: AtomicU32,
    users: [User; WAYS],
}

/// The bits of a user's tag that are not the owner of his section.
pub(crate) const LOCKED: u64 = 1;
pub(crate) const EPOCHS: u32 = 0x7fff;

/// Who he is changes under the lock of the bucket and his own, and his number under his own.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct User {
    pub(crate) id: AtomicI64,
    /// The number that he gets next.
    pub(crate) next: AtomicI64,
    /// The owner of his section in the upper 48 bits, in which epoch he was used in 15, and whether he is
    /// locked; 0 is a vacant place. Written after the others.
    tag: AtomicU64,
}

const _: () = assert!(cfg!(loom) || size_of::<Bucket>() == 512);

/// One user, locked. Dropped, he is given the tag and let go.
pub(crate) struct Sole<'a> {
    user: &'a User,
    pub(crate) tag: u64,
}

impl Drop for Sole<'_> {
    fn drop(&mut self) {
        self.user.tag.store(self.tag, Ordering::Release);
    }
}

impl Sole<'_> {
    pub(crate) fn next(&self) -> i64 {
        self.user.next.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&mut self, next: i64, tag: u64) {
        self.user.next.store(next, Ordering::Relaxed);
        self.tag = tag;
    }
}

impl User {
    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        self.tag.load(Ordering::Acquire) >> 16
    }

    pub(crate) fn id(&self) -> i64 {
        self.id.load(Ordering::Relaxed)
    }

    /// Locks the place, if it is his.
    #[inline]
    pub(crate) fn lock(&self, id: i64, owner: Owner) -> Option<Sole<'_>> {
        let mut tries = 0;
        loop {
            let tag = self.tag.load(Ordering::Relaxed);
            if tag >> 16 != owner {
                return None;
            }
            if tag & LOCKED == 0
                && self
                    .tag
                    .compare_exchange_weak(tag, tag | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                let sole = Sole { user: self, tag };
                // It may have been given away since we looked. Only now it cannot.
                return (self.id() == id).then_some(sole);
            }
            tries += 1;
            pause(tries);
        }
    }

    /// Puts somebody into a vacant place. The caller holds the bucket's lock.
    pub(crate) fn settle(&self, id: i64, next: i64, tag: u64) {
        self.id.store(id, Ordering::Relaxed);
        self.next.store(next, Ordering::Relaxed);
        self.tag.store(tag, Ordering::Release);
    }
}

/// Where a user of a section is looked for first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Home {
    /// The bits that choose his bucket. Four neighbours have the same.
    pub(crate) bits: u64,
    /// His own place in it, below `WAYS`. Those of four neighbours follow each other.
    place: usize,
}

impl Home {
    #[inline]
    pub(crate) fn of(owner: Owner, id: i64) -> Self {
        let bits = hash((id >> 2) ^ owner.rotate_left(40).cast_signed());
        // The lower half chooses the bucket.
        let first = ((bits >> 32) * WAYS as u64) >> 32;
        let place = (first + (id & 3).cast_unsigned()) as usize;
        Self {
            bits,
            place: if place < WAYS { place } else { place - WAYS },
        }
    }
}

/// Held while it is decided who is in a bucket. Nothing in between can fail.
pub(crate) struct Locked<'a>(&'a Bucket);

impl Bucket {
    pub(crate) fn lock(&self) -> Locked<'_> {
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

    /// The places in the order in which they are looked at and taken.
    #[inline]
    pub(crate) fn from(&self, home: Home) -> impl Iterator<Item = &User> {
        let (before, from) = self.users.split_at(home.place);
        from.iter().chain(before)
    }

    /// Looks for a user without the lock: who is not found may be there, and who is found may leave.
    #[inline]
    pub(crate) fn glance(&self, home: Home, id: i64, owner: Owner) -> Option<&User> {
        self.from(home)
            .map(|user| (user, user.owner()))
            .take_while(|&(_, found)| found != 0)
            .find(|&(user, found)| found == owner && user.id() == id)
            .map(|(user, _)| user)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.locked.store(0, Ordering::Release);
    }
}

/// What was found in a bucket.
pub(crate) enum Place<'a> {
    Mine(&'a User),
    /// Not there, but here is a vacant place to put him.
    Vacant(&'a User),
    /// Not there, and all places are taken. This one was not used for longest.
    Oldest(&'a User),
}

impl<'a> Locked<'a> {
    pub(crate) fn level(&self) -> u32 {
        self.0.level.load(Ordering::Relaxed)
    }

    pub(crate) fn set_level(&self, level: u32) {
        self.0.level.store(level, Ordering::Relaxed);
    }

    /// Looks for a user. Places are taken in their order and not left, so he cannot be behind a vacant one.
    pub(crate) fn find(&self, home: Home, id: i64, owner: Owner, epoch: u32) -> Place<'a> {
        let mut oldest = (0, &self.0.users[home.place]);
        for user in self.0.from(home) {
            let tag = user.tag.load(Ordering::Acquire);
            if tag >> 16 == 0 {
                return Place::Vacant(user);
            }
            if tag >> 16 == owner && user.id() == id {
                return Place::Mine(user);
            }
            let age = epoch.wrapping_sub((tag >> 1) as u32) & EPOCHS;
            if age > oldest.0 {
                oldest = (age, user);
            }
        }
        Place::Oldest(oldest.1)
    }

    /// Takes everybody out.
    pub(crate) fn empty(&self) -> impl Iterator<Item = (i64, i64, u64)> + use<> {
        let mut all = [(0, 0, 0); WAYS];
        for (copy, user) in all.iter_mut().zip(&self.0.users) {
            if let Some(mut sole) = user.lock(user.id(), user.owner())
                && sole.tag != 0
            {
                *copy = (user.id(), sole.next(), sole.tag);
                sole.set(0, 0);
            }
        }
        all.into_iter().filter(|&(_, _, tag)| tag != 0)
    }
}

/// Spreads user ids. **Frozen**: which section a user belongs to depends on it, and the section's page has
/// to be above what he got. The finalizer of splitmix64 (Vigna).
#[must_use]
#[inline]
pub fn hash(id: i64) -> u64 {
    let id = id.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}
