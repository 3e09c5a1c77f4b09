//! Segments and users.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod nextval;
mod segment_histories;
mod segments;
mod users;
