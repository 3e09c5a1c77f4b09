//! Ids of 64 bits, and what all ids rest on: ceilings, lanes, shared memory.

mod access;
mod ceiling;
mod clock;
mod concurrency;
mod crash;
mod recovery;
mod replaced;
mod reused_oids;
mod shared_memory;
mod standby;
mod transactions;
mod upgrade;
mod waiting;
