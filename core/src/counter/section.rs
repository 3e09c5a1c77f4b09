//! Sections: users that share a ceiling, and a bound for those that are not in memory.

use crate::atomic::{AtomicI64, AtomicU64, Ordering};
use crate::ceiling::Ceiling;
use crate::counter::user_bucket::{DIGITS, SectionOwner, UserKey, hash, unfold};

/// The most sections.
pub const MOST_SECTIONS: u16 = u16::MAX;

/// The steps by which a section's reach is raised, so that hardly a draw has to.
const AHEAD: i64 = 1 << (DIGITS - 4);

/// The state that the users of a section share, in shared memory.
///
/// - `bounds`: by the ceiling's protocol, with numbers in place of timestamps. A number is issued when it is
///   below the ceiling that is on disk, and starts at the floor.
/// - `reach`: at least the next number of any user of the section. Only rises. If only the last bits of a number are
///   known, the number is taken to be as close below the reach as it can be.
/// - `evicted`: the highest next number of an evicted entry. Only rises.
/// - `owner`: written before the rest when the memory is given to another section.
///
/// A new owner begins with the negative of its own key in `reach` and `evicted`. No earlier owner had this value, so a
/// stale compare-and-swap fails.
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
    /// Returns the owner of the memory. Read after the bounds that it vouches for.
    #[must_use]
    pub fn owner(&self) -> SectionOwner {
        self.owner.load(Ordering::SeqCst)
    }

    /// Gives the memory to another section, unless a session is raising the ceiling of its owner. `is_unused` runs after
    /// the owner has changed: a raising session registers before it reads the owner, so one of the two sees the other.
    pub fn reassign(&self, owner: SectionOwner, is_unused: impl FnOnce() -> bool) -> bool {
        // The owner changes first: a session that reads the bounds of another section reads its owner, too.
        let before = self.owner.swap(owner, Ordering::SeqCst);
        let reassigned = is_unused();
        if reassigned {
            self.bounds.reset(0);
            let nothing = -owner.cast_signed();
            // Swaps, as loom does not know that a store comes after the swaps that have read the value before it.
            self.reach.swap(nothing, Ordering::SeqCst);
            self.evicted.swap(nothing, Ordering::SeqCst);
        } else {
            self.owner.store(before, Ordering::SeqCst);
        }
        reassigned
    }

    /// Returns a number that is at least the next one of any user of the section.
    pub(super) fn reach(&self) -> i64 {
        self.reach.load(Ordering::Acquire)
    }

    /// Returns the next number of a user that is not in memory.
    pub(super) fn next_of_unknown_user(&self) -> i64 {
        self.bounds
            .floor()
            .max(self.evicted.load(Ordering::Acquire))
    }

    /// Gives `want` numbers in a row. `first` computes the first one from the bounds and the reach. Returns the first
    /// number, and the one after the last.
    #[inline]
    pub(super) fn give(
        &self,
        owner: SectionOwner,
        want: u64,
        first: impl FnOnce(&Self, i64) -> i64,
    ) -> Result<(i64, i64), DrawError> {
        // Read the limit before the floor, and the owner last, so that both belong together and to this owner.
        let limit = self.bounds.limit();
        let reach = self.reach.load(Ordering::Acquire);
        let first = first(self, reach);
        if self.owner() != owner {
            return Err(DrawError::NotMine);
        }
        let next = i64::try_from(want)
            .ok()
            .and_then(|want| first.checked_add(want))
            .filter(|&next| next < i64::MAX)
            .ok_or(DrawError::UsedUp)?;
        if next > limit {
            return Err(DrawError::Beyond(next - 1));
        }
        // The reach rises before the entry remembers the number.
        self.raise_reach(reach, next, owner)?;
        Ok((first, next))
    }

    /// Raises the reach above `next`, from the value that was read, while the section is still the owner's.
    #[inline]
    fn raise_reach(&self, mut reach: i64, next: i64, owner: SectionOwner) -> Result<(), DrawError> {
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
                return Err(DrawError::NotMine);
            }
        }
        Ok(())
    }

    /// Returns the next number of an entry, which was read before the reach. No user stays below a floor that rose.
    #[inline]
    pub(super) fn next(&self, word: u64, reach: i64) -> i64 {
        unfold(word, reach).max(self.bounds.floor())
    }

    /// Records the next number of an evicted entry: users that are not in memory continue above it.
    pub fn evict(&self, entry: Evicted) {
        let mut evicted = self.evicted.load(Ordering::Acquire);
        loop {
            let next = self.next(entry.0, self.reach.load(Ordering::Acquire));
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

/// The word of an evicted entry.
#[derive(Debug, Clone, Copy)]
pub struct Evicted(pub(super) u64);

impl Evicted {
    /// Returns the place of its section in memory, the lower bits of the section's owner.
    #[must_use]
    pub fn section(self) -> usize {
        UserKey::of_word(self.0).section()
    }
}

/// Returns which of so many sections a user and three neighboring ids belong to. Frozen as [`hash`] is.
#[must_use]
#[inline]
pub fn section_of(id: i64, sections: usize) -> usize {
    (((hash(id >> 2) >> 32) * sections as u64) >> 32) as usize
}

/// Reason why a draw gave no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawError {
    /// The section's ceiling must be raised first, beyond this number.
    Beyond(i64),
    /// No numbers are left.
    UsedUp,
    /// The memory belongs to another section now.
    NotMine,
    /// The table should `UserTable::grow` first, or `UserTable::draw_or_evict` if it cannot grow now.
    Crowded,
    /// This session has to map more of the table's parts first.
    Unmapped,
}
