//! The durable ceiling: after a crash, no id is issued twice.
//!
//! No id is issued with a tick that starts at or after a timestamp that is on disk, the *ceiling*. A server
//! that starts again takes the ceiling for its *floor*: it can skip, it never repeats. TiKV's
//! placement driver keeps its timestamps in the same way.
//!
//! The value lies on a page of the server's, behind [`Page`]. When half of the window below the ceiling
//! is used up, one session writes and flushes the next window's, and all others continue meanwhile: so
//! hardly any session waits for the disk, and a standby has half a window to receive the next value.

use crate::atomic::{AtomicI64, Ordering};
use crate::clock::Micros;

/// The bounds of the lanes of one database. In shared memory.
///
/// All are timestamps, all only rise, and zeroed memory is a ceiling not yet attached. The order in which
/// they are written is the protocol: a session that reads a limit reads the floor that belongs to it, and none
/// sees a limit that is not on disk.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Ceiling {
    /// No id has a tick that starts before the floor: an earlier server can have issued those.
    floor: AtomicI64,
    /// Ids with ticks that start before the limit need no further check. At most `ceiling`.
    limit: AtomicI64,
    /// The value on disk. No id has a tick that starts at or after it.
    ceiling: AtomicI64,
    /// The highest value that is known to have been on the page. Changed under the page's lock.
    written: AtomicI64,
}

/// The server's page for a value that only rises: the ceiling of ids in microseconds, or that of the numbers of a
/// section of users.
pub trait Page {
    /// A position in the server's log.
    type Position;
    /// Reason why the page is not written: cancellation, a lock, a full disk.
    type Failure;

    /// Takes the page's lock, passes the value on the page to `decide`, logs and writes the value that it
    /// returns, if any, and returns the value on the page with the log position that makes it durable.
    ///
    /// # Errors
    /// When nothing was written.
    fn update(
        &mut self,
        decide: impl FnOnce(i64) -> Option<i64>,
    ) -> Result<(i64, Self::Position), Self::Failure>;

    /// Waits until the log is on disk up to `position`.
    ///
    /// # Errors
    /// When it cannot be.
    fn flush(&mut self, position: Self::Position) -> Result<(), Self::Failure>;

    /// Makes durable that everything in use is below `value`, for those that do not read the page.
    ///
    /// # Errors
    /// When it cannot be.
    fn cover(&mut self, _value: i64) -> Result<(), Self::Failure> {
        Ok(())
    }

    /// Reports that the value on the page was set back, and has been raised again.
    fn set_back(&mut self, from: i64, to: i64);
}

impl Ceiling {
    /// Returns bounds under which nothing can be minted, so that the first attempt asks for others.
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

    /// Returns bounds that allow every tick.
    #[must_use]
    pub fn unbounded() -> Self {
        let ceiling = Self::default();
        ceiling.reset(Micros::MAX);
        ceiling.floor.store(Micros::MIN, Ordering::SeqCst);
        ceiling
    }

    /// Takes the value that was found on the page, unless another session did so first. No id is minted below the
    /// value, and none at it until it is raised.
    ///
    /// Bounds that were published already are trusted only when the page was [brought up](Ceiling::bring_up) to them.
    pub fn attach(&self, value: Micros) {
        let known = self.written();
        if known != 0 && value > known {
            // Another server wrote the value, which came from a dump, say. The ids that came with it are below it.
            self.raise_floor(value);
        }
        // The floor rises before the limits that let sessions mint. Values of another session are as good.
        for place in [&self.written, &self.floor, &self.ceiling, &self.limit] {
            let _ = place.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Brings the page up to the published bounds, and flushes it, before any id is minted: it can have been set back,
    /// or have replaced the page of the bounds. Flushes also when another session has brought it up.
    ///
    /// # Errors
    /// When the page could not be written or flushed.
    pub fn bring_up<P: Page>(&self, page: &mut P) -> Result<(), P::Failure> {
        self.write(Micros::MIN, Micros::MIN, page)?;
        Ok(())
    }

    /// Lets no id be minted below `value` from now on.
    pub fn raise_floor(&self, value: Micros) {
        self.floor.fetch_max(value, Ordering::AcqRel);
    }

    /// Lets a tick that starts at `beyond` be minted: writes the page when it must, and publishes
    /// only what is on disk, at most a window of it. Another session can have done so already.
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
            // Half of the window is used up. One session writes the next; all others continue to mint.
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
        let wanted = needed.saturating_add(window);
        // A page that somebody has set far ahead must not keep others from minting.
        let value = self.write(needed, wanted, page)?.min(wanted);
        page.cover(value)?;
        self.ceiling.fetch_max(value, Ordering::AcqRel);
        self.limit.fetch_max(value - window / 2, Ordering::AcqRel);
        Ok(())
    }

    /// Brings the page to `wanted`, unless it is past `needed` already. Returns its value, which is on
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
                // Another server wrote the value, which came from a dump, say. The ids that came with it are below it.
                self.raise_floor(found);
            }
            if found < known {
                lost = Some(found);
            }
            let current = found.max(known);
            let value = if current > needed {
                current
            } else {
                wanted.max(current)
            };
            self.written.store(value, Ordering::Relaxed);
            (value != found).then_some(value)
        })?;
        // Another session that wrote the value might not have flushed it yet.
        page.flush(position)?;
        if let Some(found) = lost {
            page.set_back(found, value);
        }
        Ok(value)
    }

    /// Sets all bounds to `value`, where a wrong ceiling must continue. No session can be writing the page, and the
    /// caller checks the lanes that minted under the old bounds afterwards.
    pub fn reset(&self, value: Micros) {
        for place in [&self.limit, &self.ceiling, &self.written, &self.floor] {
            place.store(value, Ordering::SeqCst);
        }
    }

    /// Lowers a floor that was raised to `from` for others, which is wrong. It stays above what was on the page.
    pub fn lower_floor(&self, from: Micros, to: Micros) {
        let to = to.max(self.written());
        if to < from {
            let _ = (self.floor).compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Returns the limit: ids with ticks that start at or after it must [`Ceiling::raise`] first. Read before the floor.
    #[must_use]
    #[inline]
    pub fn limit(&self) -> Micros {
        self.limit.load(Ordering::Acquire)
    }

    /// Returns true for the bounds of a database, and not for [`Ceiling::detached`].
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.limit() != Micros::MIN
    }

    /// Returns the floor: ids have ticks that start at or after it.
    #[must_use]
    #[inline]
    pub fn floor(&self) -> Micros {
        self.floor.load(Ordering::Acquire)
    }

    /// Returns the value that is on disk; 0 when not attached.
    #[must_use]
    pub fn value(&self) -> Micros {
        self.ceiling.load(Ordering::Acquire)
    }

    /// Returns the highest value that is known to have been on the page.
    #[must_use]
    pub fn written(&self) -> Micros {
        self.written.load(Ordering::Acquire)
    }
}
