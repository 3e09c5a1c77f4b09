//! Numbers that are given once: segments of sequences, and the sequences of users.

pub mod section;
pub mod segment;
pub mod sequence;
pub mod sequence_table;
pub mod user_bucket;
pub mod user_table;
