//! Leases of nodes.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod assigned;
mod given;
mod nodes;
mod quarantine;
mod rules;
