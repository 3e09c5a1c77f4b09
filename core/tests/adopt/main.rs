//! Plans for existing tables.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod evidence;
mod rename;
