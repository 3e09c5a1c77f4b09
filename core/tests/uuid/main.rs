//! UUIDs and ObjectIDs.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod monotonic;
mod properties;
