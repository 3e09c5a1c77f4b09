//! Segments, tickets and user sequences.

mod commit_order;
mod ddl;
mod draws;
mod restarts;
mod set_back;
mod set_sequences;
mod shared_slots;
mod slow_sources;
mod sources;
mod user_locks;
