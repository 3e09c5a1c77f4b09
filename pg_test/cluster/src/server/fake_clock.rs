//! Servers whose clock a test sets.

use crate::server::machine::clock::FakeClock;
use crate::server::process::Server;

impl Server {
    /// Gives this server a fake clock, before it starts.
    pub(crate) fn add_clock(&mut self) {
        self.clock = Some(FakeClock::new(self.path()));
        self.environment.extend(FakeClock::environment(self.path()));
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
    /// Sets how much more time has passed for the server than for the machine, as of [`Server::set_clock`].
    pub fn shift_time(&self, offset: &str) {
        self.clock
            .as_ref()
            .expect("a server with a clock")
            .shift(offset);
    }
}
