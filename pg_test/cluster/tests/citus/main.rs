//! Clusters of Citus: `pg_test/tools/citus.sh`, or in a tree of `PG_CONFIG` that has Citus:
//!
//! ```sh
//! PG_CONFIG=... cargo test -p mint_cluster --test citus -- statements::
//! ```
//!
//! Where the tree has no Citus, each test is skipped by its name.

mod changes;
mod clones;
mod extension;
mod metadata;
mod nodes;
mod predicates;
mod refused;
mod registry;
mod routines;
mod sequences;
mod statements;
mod tables;
mod warnings;
