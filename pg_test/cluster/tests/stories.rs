//! The stories of all files of this folder, as one program: a new file is one line here.
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

mod access;
mod ceiling;
mod clock;
mod concurrency;
mod counters;
mod counters_ddl;
mod crash;
mod encodings;
mod extremes;
mod held;
mod held_sql;
mod hostile;
mod id_input;
mod memory;
mod randomness;
mod readme;
mod recovery;
mod registry;
mod registry_access;
mod registry_copies;
mod registry_outages;
mod registry_replication;
mod registry_settings;
mod replaced;
mod reused_oids;
mod set_sequences;
mod shared_memory;
mod sources;
mod standby;
mod tenants;
mod transactions;
mod upgrade;
mod user_locks;
mod uuid;
mod waiting;
