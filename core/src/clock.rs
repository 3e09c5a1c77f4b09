//! Timestamps as numbers and text, and the detection of a clock that jumps forward.

use crate::atomic::{AtomicI64, Ordering};
use jiff::Timestamp;

/// A timestamp as microseconds since 1970-01-01T00:00:00Z without leap seconds, or a duration in
/// microseconds. PostgreSQL's resolution; negative before 1970.
pub type Micros = i64;

/// A second.
pub const SECOND: Micros = 1_000_000;
/// A day of 24 hours.
pub const DAY: Micros = 86_400 * SECOND;

/// Formats a timestamp by RFC 3339, with years after 9999 as PostgreSQL writes and reads them: 73376-10-30T15:27:27.247Z.
#[must_use]
pub fn timestamp_text(at: Micros) -> String {
    /// The 400 years after which the calendar repeats, and the start of the last of them that `Timestamp` has whole.
    const CYCLE: Micros = 146_097 * DAY;
    const LAST: Micros = 19 * CYCLE;
    let cycles = (at - LAST.min(at)) / CYCLE;
    let Ok(timestamp) = Timestamp::from_microsecond(at - cycles * CYCLE) else {
        return format!("{at} us");
    };
    let text = timestamp.to_string();
    match text.split_once('-') {
        Some((year, rest)) if cycles > 0 => {
            let year = year.parse::<i64>().unwrap_or_default() + 400 * cycles;
            format!("{year}-{rest}")
        }
        _ => text,
    }
}

/// Formats a duration: in milliseconds below a second, in whole days from two on, else in seconds, which are whole from ten
/// on. `1.5 s`, `12 ms`, `730 days`.
#[must_use]
pub fn duration_text(micros: Micros) -> String {
    let (number, unit) = match micros / 1_000 {
        ..1_000 => (micros, "ms"),
        ms @ ..=9_999 => (ms, "s"),
        _ if micros >= 2 * DAY => (micros.saturating_add(DAY / 2) / DAY * 1_000, "days"),
        ms => ((ms + 500) / 1_000 * 1_000, "s"),
    };
    let text = format!("{}.{:03}", number / 1_000, number % 1_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {unit}")
}

/// The wall clock's reading when the time since boot was zero, as last trusted.
///
/// A clock that jumps to 2040 for a second would carry every lane there, and keep it there for
/// years. So a lane that is about to move far compares the wall clock with the time since boot,
/// which cannot be set. Lives in shared memory; zeroed memory is an anchor not yet set.
#[derive(Debug, Default)]
#[repr(C)]
pub struct ClockAnchor {
    /// Wall clock minus time since boot; 0 when not yet known.
    offset: AtomicI64,
    /// The same difference at the last reading, trusted or not; 0 when not yet read.
    last_read: AtomicI64,
}

/// The least difference that counts as a step: less is a slewed clock, or a reading that was interrupted.
const STEP: Micros = 100_000;

impl ClockAnchor {
    /// Returns an anchor not yet set, which trusts the first clock that it sees.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks the wall clock `now` against the time since boot `up`.
    ///
    /// Small differences (a slewed clock, a leap second) move the anchor along. It never moves
    /// back: a clock that is set back and then forward again to the right time has not jumped.
    ///
    /// # Errors
    /// The surplus in microseconds when the clock ran ahead by more than `max_jump`.
    pub fn check(&self, now: Micros, up: Micros, max_jump: Micros) -> Result<(), Micros> {
        let offset = now.saturating_sub(up);
        let set = (self.offset).compare_exchange(0, offset, Ordering::AcqRel, Ordering::Acquire);
        let Err(trusted) = set else {
            return Ok(());
        };
        let surplus = offset.saturating_sub(trusted);
        if surplus > max_jump {
            return Err(surplus);
        }
        self.offset.fetch_max(offset, Ordering::AcqRel);
        Ok(())
    }

    /// Returns by how much the wall clock has run ahead of the trusted one; none before one is. Trusts nothing.
    pub fn surplus(&self, now: Micros, up: Micros) -> Option<Micros> {
        let trusted = self.offset.load(Ordering::Acquire);
        (trusted != 0).then(|| now.saturating_sub(up).saturating_sub(trusted))
    }

    /// Returns by how much the clock was stepped since it was read last, if it was: a tenth of a second or
    /// more, negative when back. Each step is reported once.
    pub fn step(&self, now: Micros, up: Micros) -> Option<Micros> {
        let offset = now.saturating_sub(up);
        let last = self.last_read.load(Ordering::Relaxed);
        let by = offset.saturating_sub(last);
        if by == 0 {
            return None;
        }
        // Small differences are stored too, so that they never add up to a step.
        let stored =
            (self.last_read).compare_exchange(last, offset, Ordering::Relaxed, Ordering::Relaxed);
        (stored.is_ok() && last != 0 && by.saturating_abs() >= STEP).then_some(by)
    }

    /// Trusts the clock as it stands, and returns by how much it differs from the one that was trusted.
    pub fn accept(&self, now: Micros, up: Micros) -> Micros {
        let offset = now.saturating_sub(up);
        match self.offset.swap(offset, Ordering::AcqRel) {
            0 => 0,
            trusted => offset.saturating_sub(trusted),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const HOUR: Micros = 3_600 * SECOND;

    #[test]
    fn a_jump_is_refused_until_accepted() {
        let anchor = ClockAnchor::new();
        assert_eq!(anchor.surplus(100 * HOUR, HOUR), None);
        assert_eq!(anchor.check(100 * HOUR, HOUR, HOUR), Ok(()));
        assert_eq!(anchor.check(102 * HOUR, 2 * HOUR, HOUR), Ok(()));
        assert_eq!(anchor.check(110 * HOUR, 2 * HOUR, HOUR), Err(8 * HOUR));
        assert_eq!(anchor.surplus(110 * HOUR, 2 * HOUR), Some(8 * HOUR));
        assert_eq!(anchor.accept(110 * HOUR, 2 * HOUR), 8 * HOUR);
        assert_eq!(anchor.check(110 * HOUR, 2 * HOUR, HOUR), Ok(()));
    }

    #[test]
    fn each_step_is_reported_once_and_a_slewed_clock_is_none() {
        let anchor = ClockAnchor::new();
        assert_eq!(anchor.step(100 * HOUR, HOUR), None);
        for slewed in 1..100 {
            let drift = slewed * (STEP - 1);
            assert_eq!(anchor.step(100 * HOUR + drift, HOUR), None);
        }
        let anchor = ClockAnchor::new();
        assert_eq!(anchor.step(100 * HOUR, HOUR), None);
        assert_eq!(anchor.step(100 * HOUR, 2 * HOUR), Some(-HOUR));
        assert_eq!(anchor.step(101 * HOUR, 3 * HOUR), None);
        assert_eq!(anchor.step(103 * HOUR, 3 * HOUR), Some(2 * HOUR));
    }

    #[test]
    fn back_and_forth_is_no_jump() {
        let anchor = ClockAnchor::new();
        assert_eq!(anchor.check(100 * HOUR, 0, HOUR), Ok(()));
        assert_eq!(anchor.check(50 * HOUR, 0, HOUR), Ok(()));
        assert_eq!(anchor.check(100 * HOUR, 0, HOUR), Ok(()));
    }
}
