//! The stories of all files of this folder, as one program: a new file is one line in its folder's mod.rs.
//!
//! ```sh
//! export PG_CONFIG=... MINT_SHORT=1
//! cargo test -p mint_cluster -- standby::                      # those of one file
//! cargo test -p mint_cluster -- standby::failover              # whose names begin so
//! ```
//!
//! As many run side by side as there are test threads and places ([`mint_cluster::Builder::alone`] says which run by
//! themselves).

// The longest comes first, so that it is not what all wait for in the end; the test runner goes by the alphabet.
#[path = "registry_faults.rs"]
mod a_registry_faults;

mod company;
mod counter;
mod hostile;
mod ids;
mod readme;
mod registry;
mod uuid;
