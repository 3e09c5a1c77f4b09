//! Snowflake ids, and the ceilings, lanes and shared memory that they rest on.

mod ceiling;
mod clock;
mod concurrency;
mod crash;
mod recovery;
mod reused_oids;
mod shared_memory;
mod standby;
mod transactions;
mod upgrade;
mod waiting;

use mint_cluster::Refusal;

/// Asserts that a call was refused because the clock is behind the ceiling on disk.
#[track_caller]
fn assert_behind_ceiling(refusal: &Refusal) {
    assert_eq!(refusal.code, "58000", "{refusal}");
    let words = "behind the ceiling of this ";
    refusal.assert_message(words);
}
