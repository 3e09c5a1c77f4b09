//! Where each user's next number is remembered, in bounded memory.
//!
//! Users of a section share a ceiling, which is on disk, and a floor: a user who is not in memory goes on
//! from there. So nothing has to be written for a single user, and anyone can be forgotten: whoever is
//! evicted raises the floor to where he stood. That is how WeChat's seqsvr keeps its sequences.
//!
//! A bucket of 21 users is locked by a word of its own for the few steps of a draw, none of which waits for
//! anything. Four neighbouring ids are neighbours in memory as well.

use crate::Ceiling;
use crate::sync::{AtomicI64, AtomicU32, AtomicU64, Ordering, pause};

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

    /// Remembers of somebody who is evicted that others must go on above.
    pub fn evict(&self, next: i64) {
        self.evicted.fetch_max(next, Ordering::AcqRel);
    }
}

/// Users in a bucket.
const WAYS: usize = 21;

/// Some users and the lock on them. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(512))]
pub struct Bucket {
    locked: AtomicU32,
    /// Counts the draws of the bucket, to tell who was used longest ago.
    clock: AtomicU32,
    users: [User; WAYS],
}

/// All under the bucket's lock.
#[derive(Debug, Default)]
#[repr(C)]
struct User {
    id: AtomicI64,
    /// The number that he gets next; 0 is a vacant place.
    next: AtomicI64,
    /// The owner of his section in the upper 48 bits, and when he was used in the lower 16.
    tag: AtomicU64,
}

const _: () = assert!(cfg!(loom) || size_of::<Bucket>() == 512);

/// Held while a bucket is looked at. Nothing in between can fail.
struct Locked<'a>(&'a Bucket);

impl Bucket {
    #[inline]
    fn lock(&self) -> Locked<'_> {
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
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.locked.store(0, Ordering::Release);
    }
}

/// Where to look for a user.
#[derive(Clone, Copy)]
struct Home<'a> {
    bucket: &'a Bucket,
    /// The first place. The others follow, and after the last one comes the first again.
    start: usize,
}

/// What was found there.
enum Place<'a> {
    Mine(&'a User),
    /// Not there, but here is a place to put him: a vacant one, or of the one not used for longest.
    Other(&'a User),
}

impl<'a> Home<'a> {
    /// Looks for a user. Nobody leaves a place vacant, so he cannot be behind a vacant one. **The bucket is
    /// locked.**
    #[inline]
    fn find(self, id: i64, owner: Owner) -> Place<'a> {
        let users = &self.bucket.users;
        let now = self.bucket.clock.load(Ordering::Relaxed) as u16;
        let mut oldest = (0, &users[self.start]);
        for user in users[self.start..].iter().chain(&users[..self.start]) {
            if user.next.load(Ordering::Relaxed) == 0 {
                return Place::Other(user);
            }
            let tag = user.tag.load(Ordering::Relaxed);
            if user.id.load(Ordering::Relaxed) == id && tag >> 16 == owner {
                return Place::Mine(user);
            }
            let age = now.wrapping_sub(tag as u16);
            if age > oldest.0 {
                oldest = (age, user);
            }
        }
        Place::Other(oldest.1)
    }
}

/// Why a user got no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The section's ceiling must be raised first, beyond this number.
    Beyond(i64),
    /// There are no numbers any more.
    UsedUp,
    /// The memory of the section belongs to another now.
    NotMine,
}

/// The buckets of a server.
#[derive(Debug, Clone, Copy)]
pub struct UserTable<'a> {
    buckets: &'a [Bucket],
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

/// The section, of so many, that a user belongs to. Frozen as [`hash`] is.
#[must_use]
#[inline]
pub fn section_of(id: i64, sections: usize) -> usize {
    ((hash(id) >> 32) * sections as u64 >> 32) as usize
}

impl<'a> UserTable<'a> {
    /// A table over at least one bucket.
    #[must_use]
    pub fn new(buckets: &'a [Bucket]) -> Self {
        Self { buckets }
    }

    /// Where four neighbours of a family are.
    #[inline]
    fn home(&self, family: u32, id: i64) -> Home<'a> {
        let hash = hash((id >> 2) ^ i64::from(family) << 32);
        let bucket = (hash >> 32) * self.buckets.len() as u64 >> 32;
        let start = ((hash & 0xffff_ffff) * WAYS as u64 >> 32) as usize;
        Home {
            bucket: &self.buckets[bucket as usize],
            start: (start + (id & 3) as usize) % WAYS,
        }
    }

    /// Gives a user of a family `want` numbers in a row, at least 1, and returns the first. `evicted` is told of who had
    /// to leave, his section's owner and his next number, before anybody can ask for him.
    ///
    /// # Errors
    /// When nothing was given.
    #[inline]
    pub fn draw(
        &self,
        section: &Section,
        owner: Owner,
        (family, id): (u32, i64),
        want: u64,
        evicted: impl FnOnce(Owner, i64),
    ) -> Result<i64, Held> {
        let home = self.home(family, id);
        let _lock = home.bucket.lock();
        let place = home.find(id, owner);
        let first = match place {
            // A floor that rose is one that somebody set: nobody stays below it.
            Place::Mine(user) => user
                .next
                .load(Ordering::Relaxed)
                .max(section.bounds.floor()),
            Place::Other(_) => section.start(),
        };
        let limit = section.bounds.limit();
        if section.owner() != owner {
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
        let now = home.bucket.clock.load(Ordering::Relaxed).wrapping_add(1);
        home.bucket.clock.store(now, Ordering::Relaxed);
        let user = match place {
            Place::Mine(user) => user,
            Place::Other(user) => {
                let leaves = user.next.load(Ordering::Relaxed);
                if leaves != 0 {
                    evicted(user.tag.load(Ordering::Relaxed) >> 16, leaves);
                }
                user.id.store(id, Ordering::Relaxed);
                user
            }
        };
        user.next.store(next, Ordering::Relaxed);
        let tag = owner << 16 | u64::from(now as u16);
        user.tag.store(tag, Ordering::Relaxed);
        Ok(first)
    }

    /// What a user got last, or the most that he can have got when he is not in memory; 0 if nothing.
    ///
    /// # Errors
    /// When the memory of the section belongs to another.
    pub fn current(
        &self,
        section: &Section,
        owner: Owner,
        (family, id): (u32, i64),
    ) -> Result<i64, Held> {
        let home = self.home(family, id);
        let _lock = home.bucket.lock();
        let next = match home.find(id, owner) {
            Place::Mine(user) => user.next.load(Ordering::Relaxed),
            Place::Other(_) => section.start(),
        };
        if section.owner() == owner {
            Ok(next - 1)
        } else {
            Err(Held::NotMine)
        }
    }
}
