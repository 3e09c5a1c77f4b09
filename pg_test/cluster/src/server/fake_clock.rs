//! Clocks of servers that a test sets.

use crate::server::process::Server;
use std::fs::{File, copy};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The library of clock.rs.
const LIBRARY: &str = concat!(env!("OUT_DIR"), "/clock.so");

/// A wall clock. It is a file with the offset to the real one, which servers map that preload a library beside it.
pub(crate) struct FakeClock(File);

impl FakeClock {
    /// Makes a clock in a folder. It is right at first.
    pub(crate) fn new(folder: &Path) -> Self {
        copy(LIBRARY, folder.join("clock.so")).expect("the clock's library can be copied");
        let clock = Self(File::create(folder.join("clock")).expect("the clock can be made"));
        clock.set("+0");
        clock
    }

    /// Opens the clock in a copy of a folder that has one.
    pub(crate) fn open(folder: &Path) -> Self {
        let file = File::options().write(true).open(folder.join("clock"));
        Self(file.expect("the clock can be opened"))
    }

    /// Returns the environment of a server whose clock is in a folder.
    pub(crate) fn environment(folder: &Path) -> [(String, String); 2] {
        [("LD_PRELOAD", "clock.so"), ("MINT_CLOCK", "clock")]
            .map(|(name, file)| (name.to_owned(), folder.join(file).display().to_string()))
    }

    /// Sets the offset: see [`Server::set_clock`].
    pub(crate) fn set(&self, offset: &str) {
        let nanoseconds = nanoseconds(offset);
        // A reader waits until the complement fits.
        for (place, number) in [(0, nanoseconds), (8, !nanoseconds)] {
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

impl Server {
    /// Gives this server a fake clock, before it starts.
    pub(crate) fn add_clock(&mut self) {
        self.clock = Some(FakeClock::new(self.path()));
        self.environment
            .extend(FakeClock::environment(self.home.path()));
    }

    /// Gives this server a fake clock with an offset if `other` has one.
    pub(crate) fn clock_like(&mut self, other: &Self, offset: &str) {
        if other.clock.is_some() {
            self.add_clock();
            self.set_clock(offset);
        }
    }

    /// Sets the offset of the server's wall clock to the real one, in seconds, days or years of 365 days: `"-3600"`, `"-0.001"`,
    /// `"+3d"`, `"+2y"`, `"+0"`. Running sessions see it at once. Sleep in the test: `pg_sleep` follows this clock.
    pub fn set_clock(&self, offset: &str) {
        self.clock
            .as_ref()
            .expect("a server with a clock")
            .set(offset);
    }
}
