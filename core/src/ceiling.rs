//! The durable ceiling: what makes a crash forget nothing.
//!
//! No id is issued whose tick starts at or after a moment that is on disk, the *ceiling*. A server
//! that starts again takes the ceiling for its *floor*: it may skip, it never repeats. TiKV's
//! placement driver keeps its timestamps in the same way.
//!
//! The value lies on a page of the server's, behind [`Page`]. When half of the window below the ceiling
//! is used up, one session writes and flushes the next window's, and all others go on meanwhile: so
//! hardly any session waits for the disk, and a standby has half a window to receive what it would need.

use crate::atomic::{AtomicI64, Ordering};
use crate::clock::Micros;

/// What the lanes of one database may not mint below, and not at or past. In shared memory.
///
/// All are moments, all only rise, and zeroed memory is a ceiling not yet attached. The order in which
/// they are written is the protocol: a session that reads a limit reads the floor that belongs to it, and none
/// sees a limit that is not on disk.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Ceiling {
    /// No id has a tick that starts before it: an earlier server may have issued those.
    floor: AtomicI64,
    /// Ids whose tick starts before it ask nobody. At most `ceiling`.
    limit: AtomicI64,
    /// On disk. No id has a tick that starts at or after it.
    ceiling: AtomicI64,
    /// The highest value that is known to have been on the page. Changed under the page's lock.
    written: AtomicI64,
}

/// The page that holds a ceiling's value, as the server lends it.
pub trait Page {
    /// A place in the server's log.
    type Position;
    /// What keeps the page from being written: cancellation, a lock, a full disk.
    type Failure;

    /// Under the page's lock: shows the value on the page to `decide`, logs and writes what it
    /// answers, and returns the value that is there now with the log position that makes it durable.
    ///
    /// # Errors
    /// When nothing was written.
    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, Self::Position), Self::Failure>;

    /// Returns when the log is on disk up to `position`.
    ///
    /// # Errors
    /// When it may not be.
    fn flush(&mut self, position: Self::Position) -> Result<(), Self::Failure>;

    /// Someone set the value on the page back; it has been raised again.
    fn set_back(&mut self, from: Micros, to: Micros);
}

impl Ceiling {
    /// Bounds under which nothing can be minted, so that the first attempt asks for others.
    #[must_use]
    #[cfg(not(loom))]
    pub const fn detached() -> Self {
        Self {
            floor: AtomicI64::new(Micros::MIN),
            limit: AtomicI64::new(Micros::MIN),
            ceiling: AtomicI64::new(Micros::MIN),
            written: AtomicI64::new(Micros::MIN),
        }
    }

    /// Bounds that hold nothing back.
    #[must_use]
    pub fn unbounded() -> Self {
        let ceiling = Self::default();
        ceiling.reset(Micros::MAX);
        ceiling.floor.store(Micros::MIN, Ordering::SeqCst);
        ceiling
    }

    /// Takes the value that was found on the page, unless another session was first. Nothing is
    /// minted below it, and nothing at it until it is raised.
    ///
    /// Bounds that were published already are trusted only when the page was [brought up](Ceiling::bring_up) to them.
    pub fn attach(&self, value: Micros) {
        let known = self.written();
        if known != 0 && value > known {
            // Not ours: restored from a dump, say. What came with it is below it.
            self.raise_floor(value);
        }
        // The floor before what lets anyone mint. That another was first is as good.
        for place in [&self.written, &self.floor, &self.ceiling, &self.limit] {
            let _ = place.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Sees to it that the page is on disk and has all that was published, before anything is minted: it may be another
    /// one, which was set back or took the place of that page. Flushes also what another session brought up.
    ///
    /// # Errors
    /// When the page could not be written or flushed.
    pub fn bring_up<P: Page>(&self, page: &mut P) -> Result<(), P::Failure> {
        self.write(Micros::MIN, Micros::MIN, page)?;
        Ok(())
    }

    /// Lets nothing be minted below `value` from now on.
    pub fn raise_floor(&self, value: Micros) {
        self.floor.fetch_max(value, Ordering::AcqRel);
    }

    /// Lets a tick that starts at `beyond` be minted: writes the page when it must, and publishes
    /// only what is on disk. Another session may have done so already.
    ///
    /// # Errors
    /// When the page could not be written or flushed. Nothing has been published then.
    pub fn raise<P: Page>(
        &self,
        beyond: Micros,
        window: Micros,
        page: &mut P,
    ) -> Result<(), P::Failure> {
        let limit = self.limit.load(Ordering::Acquire);
        let ceiling = self.ceiling.load(Ordering::Acquire);
        if beyond < ceiling {
            // Half of the window is used up. One session goes for the next; all others mint on.
            let mine = beyond >= limit
                && self
                    .limit
                    .compare_exchange(limit, ceiling, Ordering::AcqRel, Ordering::Acquire)
                    .is_ok();
            if !mine {
                return Ok(());
            }
        }
        let needed = beyond.max(ceiling);
        let value = self.write(needed, needed.saturating_add(window), page)?;
        self.ceiling.fetch_max(value, Ordering::AcqRel);
        self.limit.fetch_max(value - window / 2, Ordering::AcqRel);
        Ok(())
    }

    /// Brings the page to `wanted`, unless it is past `needed` already. Returns what is there and on
    /// disk.
    fn write<P: Page>(
        &self,
        needed: Micros,
        wanted: Micros,
        page: &mut P,
    ) -> Result<Micros, P::Failure> {
        let mut lost = None;
        let (value, position) = page.update(|found| {
            let known = self.written.load(Ordering::Relaxed);
            if found > known {
                // Not ours: restored from a dump, say. What came with it is below it.
                self.raise_floor(found);
            }
            if found < known {
                lost = Some(found);
            }
            let standing = found.max(known);
            let value = if standing > needed {
                standing
            } else {
                wanted.max(standing)
            };
            self.written.store(value, Ordering::Relaxed);
            (value != found).then_some(value)
        })?;
        // Also when another session wrote it: it may not have come so far.
        page.flush(position)?;
        if let Some(found) = lost {
            page.set_back(found, value);
        }
        Ok(value)
    }

    /// Puts all bounds where a poisoned ceiling shall go on from. No session may be writing the page, and
    /// lanes that minted under the old bounds must be looked at afterwards.
    pub fn reset(&self, value: Micros) {
        for place in [&self.limit, &self.ceiling, &self.written, &self.floor] {
            place.store(value, Ordering::SeqCst);
        }
    }

    /// Ids whose tick starts at or after it must [`Ceiling::raise`] first. Read before the floor.
    #[must_use]
    #[inline]
    pub fn limit(&self) -> Micros {
        self.limit.load(Ordering::Acquire)
    }

    /// Whether these are the bounds of a database, and not [`Ceiling::detached`].
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.limit() != Micros::MIN
    }

    /// Ids have ticks that start at or after it.
    #[must_use]
    #[inline]
    pub fn floor(&self) -> Micros {
        self.floor.load(Ordering::Acquire)
    }

    /// The value that is on disk; 0 when not attached.
    #[must_use]
    pub fn value(&self) -> Micros {
        self.ceiling.load(Ordering::Acquire)
    }

    /// The highest value that is known to have been on the page.
    #[must_use]
    pub fn written(&self) -> Micros {
        self.written.load(Ordering::Acquire)
    }
}
