//! Other extensions and programs beside pg_mint: `pg_test/tools/neighbors.sh`, or in a tree of `PG_CONFIG` that has them:
//!
//! ```sh
//! PG_CONFIG=... cargo test -p mint_cluster --test neighbors -- timescaledb::
//! ```
//!
//! A program that the tree or the machine does not have is skipped by its name. Each test that passes leaves a row of the table in
//! docs/contributing/tested-programs.md, see `row.rs`.

mod extensions;
mod orders;
mod partman;
mod pg_tle;
mod programs;
mod replication;
mod row;
mod timescaledb;
