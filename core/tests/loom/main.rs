//! Every interleaving of the lock-free parts.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counters;
mod ids;
mod lane_table;
mod leases;
mod monotonic;
mod page;
mod users;
mod world;
