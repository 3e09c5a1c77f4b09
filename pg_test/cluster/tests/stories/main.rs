//! All stories, as one program: a new file is one line in its folder's mod.rs.
//!
//! ```sh
//! export PG_CONFIG=... MINT_SHORT=1
//! cargo test -p mint_cluster -- standby::                      # the stories of one file
//! cargo test -p mint_cluster -- standby::failover              # the stories whose names begin so
//! ```
//!
//! Several run side by side, except for those that ask to be alone ([`mint_cluster::Builder::alone`]).

// The longest story starts first, so that the others do not wait for it at the end; the test runner sorts by name.
#[path = "registry_faults.rs"]
mod a_registry_faults;

mod adopt;
mod company;
mod counter;
mod hostile;
mod ids;
mod monitor;
mod planner;
mod readme;
mod registry;
mod servers;
mod uuid;
