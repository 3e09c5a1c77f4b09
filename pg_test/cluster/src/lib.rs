//! A harness that starts real servers with pg_mint installed and does to them what happens to servers: load from many
//! sessions, a clock that steps, `kill -9`, a crash, a failover.
//!
//! Each file under `tests/` tells one family of faults, each test one story. All are one program, `tests/stories.rs`,
//! which says how to run some of them. What they share is here:
//!
//! * [`Server`] and [`Builder`]: a private server in a directory of its own, gone when dropped.
//! * [`Session`]: a connection whose calls read as SQL and whose errors can be looked at ([`Refusal`]).
//! * [`load`]: many sessions at once, by threads and by pgbench, and the checks on what they drew.
//!
//! `PG_CONFIG` names the `pg_config` of the server tree to test. `MINT_SHORT=1` makes the counts smaller.
//! `MINT_AT_ONCE=1` runs one story at a time, not as many as the machine has room for.

mod clock;
mod copies;
pub mod crowd;
mod dice;
mod disk;
mod faults;
pub mod fleet;
pub mod greed;
mod initdb;
pub mod ledger;
pub mod load;
pub mod neighbours;
pub mod ordeal;
mod programs;
pub mod registry;
pub mod server;
pub mod session;
mod tree;
mod turn;

pub use dice::Dice;
pub use disk::SmallDisk;
pub use ledger::Ledger;
pub use load::{Minter, Record, assert_ascending, assert_unique};
pub use registry::Registry;
pub use server::{Builder, Server};
pub use session::{Place, Refusal, Session};

use std::io::Write;

/// Whether the short form was asked for: the same stories with smaller counts.
pub fn short_form() -> bool {
    std::env::var_os("MINT_SHORT").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The first count in the full form, the second in the short one.
pub fn count<T>(full: T, short: T) -> T {
    if short_form() { short } else { full }
}

/// Writes a line past the capture of the test runner: a skipped test or a measured time must not go unseen only
/// because the test passed.
pub fn say(line: impl AsRef<str>) {
    // A closed stderr is no reason to fail a test.
    let _ = writeln!(std::io::stderr(), "\n    {}", line.as_ref());
}
