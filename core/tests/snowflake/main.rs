//! Lanes, layouts, ceilings and leases, under a scripted clock.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod ceiling;
mod durations;
mod fitting;
mod lane_table;
mod layout_texts;
mod layouts;
mod lease_histories;
mod leases;
mod open_ticks;
mod scripted_clock;
mod start_above;
