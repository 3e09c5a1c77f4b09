//! Where each user's next number is remembered, in bounded memory.
//!
//! Users of a section share a ceiling, which is on disk, and a floor: a user who is not in memory goes on
//! from there. So nothing has to be written for a single user, and anyone can be forgotten: whoever is
//! evicted raises the floor to where he stood. That is how WeChat's seqsvr keeps its sequences.
//!
//! A bucket of five users is two cache lines, and locked by a bit of its own for the few steps of a draw,
//! none of which waits for anything.

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
const WAYS: usize = 5;

/// Five users and the lock on them. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(128))]
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

const _: () = assert!(cfg!(loom) || size_of::<Bucket>() == 128);

/// Held while a bucket is looked at. Nothing in between can fail.
struct Locked<'a>(&'a Bucket);

impl Bucket {
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

impl Locked<'_> {
    fn find(&self, id: i64, owner: Owner) -> Option<&User> {
        self.0.users.iter().find(|user| {
            user.id.load(Ordering::Relaxed) == id
                && user.next.load(Ordering::Relaxed) != 0
                && user.tag.load(Ordering::Relaxed) >> 16 == owner
        })
    }

    /// A place for another user: a vacant one, or of the one who was not used for longest.
    fn place(&self, now: u16) -> Option<&User> {
        let age = |user: &User| {
            if user.next.load(Ordering::Relaxed) == 0 {
                u32::MAX
            } else {
                u32::from(now.wrapping_sub(user.tag.load(Ordering::Relaxed) as u16))
            }
        };
        self.0.users.iter().max_by_key(|user| age(user))
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

    #[inline]
    fn bucket(&self, id: i64, owner: Owner) -> &'a Bucket {
        // The section is made of the hash's upper half. Users of one section must not meet in few buckets.
        let mixed = hash(id ^ owner.rotate_left(40).cast_signed()) >> 32;
        &self.buckets[(mixed * self.buckets.len() as u64 >> 32) as usize]
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
        let bucket = self.bucket(id, owner).lock();
        let user = bucket.find(id, owner);
        let first = match user {
            // A floor that rose is one that somebody set: nobody stays below it.
            Some(user) => user
                .next
                .load(Ordering::Relaxed)
                .max(section.bounds.floor()),
            None => section.start(),
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
        let now = bucket.0.clock.load(Ordering::Relaxed).wrapping_add(1);
        bucket.0.clock.store(now, Ordering::Relaxed);
        let place = user.or_else(|| {
            let place = bucket.place(now as u16)?;
            let leaves = place.next.load(Ordering::Relaxed);
            if leaves != 0 {
                evicted(place.tag.load(Ordering::Relaxed) >> 16, leaves);
            }
            place.id.store(id, Ordering::Relaxed);
            Some(place)
        });
        if let Some(place) = place {
            place.next.store(next, Ordering::Relaxed);
            place
                .tag
                .store(owner << 16 | u64::from(now as u16), Ordering::Relaxed);
        }
        Ok(first)
    }

    /// What a user got last, or the most that he can have got when he is not in memory; 0 if nothing.
    ///
    /// # Errors
    /// When the memory of the section belongs to another.
    pub fn current(&self, section: &Section, owner: Owner, id: i64) -> Result<i64, Held> {
        let bucket = self.bucket(id, owner).lock();
        let next = bucket
            .find(id, owner)
            .map_or_else(|| section.start(), |user| user.next.load(Ordering::Relaxed));
        if section.owner() == owner {
            Ok(next - 1)
        } else {
            Err(Held::NotMine)
        }
    }
}
