//! Where each user's next number is remembered, in bounded memory.
//!
//! Users of a section share a ceiling, which is on disk, and a floor: a user who is not in memory goes on
//! from there. So nothing has to be written for a single user, and anyone can be forgotten: whoever is
//! evicted raises the floor to where he stood. That is how WeChat's seqsvr keeps its sequences.
//!
//! A bucket of 21 users is locked by a word of its own for the few steps of a draw, none of which waits for
//! anything. Few users use few buckets, and four neighbouring ids one of them, so that they fit into the
//! processor's caches. Twice as many buckets come into use when one is full and a third of all places taken;
//! until then, somebody in the full one is evicted: a few in a hundred users, once each.

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
    /// The level that the bucket is at, and in the lower 16 bits a count of its draws, to tell who was used
    /// longest ago.
    state: AtomicU32,
    users: [User; WAYS],
}

/// What a table knows of itself. Zeroed memory is an empty one.
#[derive(Debug, Default)]
#[repr(C, align(512))]
pub struct TableHead {
    /// 2^level buckets are in use. Rises under the table's lock.
    level: AtomicU32,
    /// How many places are taken.
    used: AtomicU64,
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

/// What was found in a bucket.
enum Place<'a> {
    Mine(&'a User),
    /// Not there, but here is a vacant place to put him.
    Vacant(&'a User),
    /// Not there, and all places are taken. This one was not used for longest.
    Oldest(&'a User),
}

impl<'a> Locked<'a> {
    fn level(&self) -> u32 {
        self.0.state.load(Ordering::Relaxed) >> 16
    }

    fn set_level(&self, level: u32) {
        self.0.state.store(level << 16, Ordering::Relaxed);
    }

    /// Counts a draw.
    fn tick(&self) -> u16 {
        let state = self.0.state.load(Ordering::Relaxed);
        let now = (state as u16).wrapping_add(1);
        let level = state & 0xffff_0000;
        self.0
            .state
            .store(level | u32::from(now), Ordering::Relaxed);
        now
    }

    /// Looks for a user. Places are taken in their order and not left, so he cannot be behind a vacant one.
    /// Always from the first on: those share a line of the processor's cache with the lock.
    #[inline]
    fn find(&self, id: i64, owner: Owner) -> Place<'a> {
        let users = &self.0.users;
        let now = self.0.state.load(Ordering::Relaxed) as u16;
        let mut oldest = (0, &users[0]);
        for user in users {
            if user.next.load(Ordering::Relaxed) == 0 {
                return Place::Vacant(user);
            }
            if user.is(id, owner) {
                return Place::Mine(user);
            }
            let age = now.wrapping_sub(user.tag.load(Ordering::Relaxed) as u16);
            if age > oldest.0 {
                oldest = (age, user);
            }
        }
        Place::Oldest(oldest.1)
    }

    /// Takes everybody out.
    fn empty(&self) -> impl Iterator<Item = (i64, i64, u64)> + use<> {
        let mut all = [(0, 0, 0); WAYS];
        for (copy, user) in all.iter_mut().zip(&self.0.users) {
            *copy = (
                user.id.load(Ordering::Relaxed),
                user.next.swap(0, Ordering::Relaxed),
                user.tag.load(Ordering::Relaxed),
            );
        }
        all.into_iter().filter(|&(_, next, _)| next != 0)
    }
}

impl User {
    #[inline]
    fn is(&self, id: i64, owner: Owner) -> bool {
        self.id.load(Ordering::Relaxed) == id
            && self.tag.load(Ordering::Relaxed) >> 16 == owner
            && self.next.load(Ordering::Relaxed) != 0
    }

    fn set(&self, id: i64, next: i64, tag: u64) {
        self.id.store(id, Ordering::Relaxed);
        self.next.store(next, Ordering::Relaxed);
        self.tag.store(tag, Ordering::Relaxed);
    }
}

/// The bits that choose the bucket of a user of a section. Four neighbours have the same.
#[inline]
fn home(owner: Owner, id: i64) -> u64 {
    hash((id >> 2) ^ owner.rotate_left(40).cast_signed())
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
    /// The table must [`UserTable::grow`] first.
    Crowded,
}

/// The buckets of a server.
#[derive(Debug, Clone, Copy)]
pub struct UserTable<'a> {
    head: &'a TableHead,
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
    #[inline]
    fn lock(&self, bits: u64) -> Locked<'a> {
        let mut level = self.head.level.load(Ordering::Acquire);
        loop {
            let locked = self.bucket(bits, level).lock();
            if locked.level() <= level {
                return locked;
            }
            level = locked.level();
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
                let half = &both[(home(tag >> 16, id) >> level & 1) as usize];
                // There is room: half of those who were in one bucket.
                if let Place::Vacant(user) = half.find(id, tag >> 16) {
                    user.set(id, next, tag);
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
        let bucket = self.lock(home(owner, id));
        let place = bucket.find(id, owner);
        let first = match place {
            // A floor that rose is one that somebody set: nobody stays below it.
            Place::Mine(user) => user
                .next
                .load(Ordering::Relaxed)
                .max(section.bounds.floor()),
            Place::Oldest(_) if self.is_crowded() => return Err(Held::Crowded),
            Place::Vacant(_) | Place::Oldest(_) => section.start(),
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
        let user = match place {
            Place::Mine(user) => user,
            Place::Vacant(user) => {
                self.head.used.fetch_add(1, Ordering::Relaxed);
                user
            }
            Place::Oldest(user) => {
                let leaves = user.next.load(Ordering::Relaxed);
                evicted(user.tag.load(Ordering::Relaxed) >> 16, leaves);
                user
            }
        };
        user.set(id, next, owner << 16 | u64::from(bucket.tick()));
        Ok(first)
    }

    /// What a user got last, or the most that he can have got when he is not in memory; 0 if nothing.
    ///
    /// # Errors
    /// When the memory of the section belongs to another.
    pub fn current(&self, section: &Section, owner: Owner, id: i64) -> Result<i64, Held> {
        let bucket = self.lock(home(owner, id));
        let next = match bucket.find(id, owner) {
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
