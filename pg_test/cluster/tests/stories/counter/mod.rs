//! Segments, tickets and user sequences.

mod ddl;
mod draws;
mod set_sequences;
mod sources;
mod user_locks;
