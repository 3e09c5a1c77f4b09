//! Ids of known origin, and what is read in them.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/known.rs"]
mod known;

mod honest;
mod origins;
mod published;
mod ranks;
