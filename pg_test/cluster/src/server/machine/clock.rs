//! Clocks that a test sets.

use std::fs::{File, copy};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The library of clock.rs.
const LIBRARY: &str = concat!(env!("OUT_DIR"), "/clock.so");

/// The clocks of a server. They are a file with the offsets to the real ones, which servers map that preload a library beside it.
pub(crate) struct FakeClock(File);

impl FakeClock {
    /// Makes a clock in a folder. It is right at first.
    pub(crate) fn new(folder: &Path) -> Self {
        copy(LIBRARY, folder.join("clock.so")).expect("the clock's library can be copied");
        let clock = Self(File::create(folder.join("clock")).expect("the clock can be made"));
        clock.set("+0");
        clock.shift("+0");
        clock
    }

    /// Returns the environment of a server whose clock is in a folder.
    pub(crate) fn environment(folder: &Path) -> [(String, String); 2] {
        [("LD_PRELOAD", "clock.so"), ("MINT_CLOCK", "clock")]
            .map(|(name, file)| (name.to_owned(), folder.join(file).display().to_string()))
    }

    /// Sets the offset of the wall clock: see [`crate::Server::set_clock`].
    pub(crate) fn set(&self, offset: &str) {
        self.write(0, offset);
    }

    /// Sets the offset of the wall clock and of the time since boot, in addition.
    pub(crate) fn shift(&self, offset: &str) {
        self.write(16, offset);
    }

    fn write(&self, place: u64, offset: &str) {
        let nanoseconds = nanoseconds(offset);
        // A reader waits until the complement fits.
        for (place, number) in [(place, nanoseconds), (place + 8, !nanoseconds)] {
            self.0
                .write_all_at(&number.to_ne_bytes(), place)
                .expect("the clock can be set");
        }
    }
}

/// Returns an offset in nanoseconds.
fn nanoseconds(offset: &str) -> i64 {
    const DAY: f64 = 86_400.0;
    let (number, unit) = match (offset.strip_suffix('d'), offset.strip_suffix('y')) {
        (Some(days), _) => (days, DAY),
        (_, Some(years)) => (years, 365.0 * DAY),
        _ => (offset, 1.0),
    };
    let number: f64 = number.parse().expect("an offset of the clock");
    (number * unit * 1e9).round() as i64
}
