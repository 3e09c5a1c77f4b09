//! A harness that starts real servers with pg_mint installed and does to them what happens to servers: load from many
//! sessions, a clock that steps, `kill -9`, a crash, a failover.
//!
//! Each file under `tests/stories` tells one family of faults, each test one story. All are one program, whose `main.rs`
//! says how to run some of them. What they share is here:
//!
//! * [`Server`] and [`Builder`]: a private server in a directory of its own, gone when dropped.
//! * [`Session`]: a connection whose calls read as SQL and whose errors can be looked at ([`Refusal`]).
//! * [`load`]: many sessions at once, by threads and by pgbench, and the checks on what they drew.
//!
//! `PG_CONFIG` names the `pg_config` of the server tree to test. `MINT_SHORT=1` makes the counts smaller.
//! `MINT_AT_ONCE=1` runs one story at a time, not as many as the machine has room for.

pub mod load;
pub mod registry;
pub mod report;
pub mod rng;
pub mod server;
pub mod tenants;
pub mod torture;

pub use crate::load::ledger::Ledger;
pub use crate::load::sessions::{Minter, Record, assert_ascending, assert_unique};
pub use crate::registry::members::Registry;
pub use crate::report::{count, say, short_form};
pub use crate::rng::Dice;
pub use crate::server::process::{Builder, Server};
pub use crate::server::session::{Place, Refusal, Session};
pub use crate::server::small_disk::SmallDisk;
