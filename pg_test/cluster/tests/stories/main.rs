//! All stories, as one program: a new file is one line in its folder's mod.rs.
//!
//! ```sh
//! export PG_CONFIG=... MINT_SHORT=1
//! cargo test -p mint_cluster -- standby::                      # the stories of one file
//! cargo test -p mint_cluster -- standby::failover              # the stories whose names begin so
//! ```
//!
//! Several run side by side, except for those that ask to be alone ([`mint_cluster::Builder::alone`]).

mod counter;
mod environment;
mod existing;
mod hostile;
mod ids;
mod managed;
mod monitor;
mod planner;
mod readme;
mod registry;
mod servers;
mod uuid;
