//! Test harness that starts real servers with pg_mint installed and puts them through load from many sessions, clock
//! steps, `kill -9`, crashes and failovers.
//!
//! Each file under `tests/stories` covers one topic, each test is one story. All of them are one program, whose `main.rs`
//! says how to run a part of it. This crate is what they share:
//!
//! * [`Server`] and [`Builder`]: a private server in a directory of its own, removed when dropped.
//! * [`Session`]: a connection whose calls take SQL and whose errors can be examined ([`Refusal`]).
//! * [`load`]: many sessions at once, and checks of what they drew.
//!
//! `PG_CONFIG` names the `pg_config` of the server tree to test. `MINT_SHORT=1` reduces the counts.
//! `MINT_AT_ONCE=1` runs one story at a time instead of as many as the machine has room for.

/// Returns from a story for which something is missing: what returned `None` has said so.
#[macro_export]
macro_rules! or_skip {
    ($needed:expr) => {
        match $needed {
            Some(needed) => needed,
            None => return,
        }
    };
}

pub mod citus;
mod faults;
pub mod load;
pub mod patroni;
pub mod registry;
pub mod report;
pub mod rng;
pub mod server;
pub mod torture;

pub use crate::load::ledger::Ledger;
pub use crate::load::sessions::{Record, assert_ascending, assert_unique};
pub use crate::registry::members::Registry;
pub use crate::report::{count, say, short_form};
pub use crate::rng::Rng;
pub use crate::server::builder::Builder;
pub use crate::server::installation::extension_folder;
pub use crate::server::machine::scarce_memory::{Kind as MemoryKind, ScarceMemory};
pub use crate::server::machine::small_disk::SmallDisk;
pub use crate::server::process::Server;
pub use crate::server::session::{BUSY, Place, Refusal, Session};
