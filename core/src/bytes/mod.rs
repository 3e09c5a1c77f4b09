//! Work on words and bytes that does not know ids.

pub mod excerpt;
pub mod hash;
pub mod hash_partition;
#[cfg(feature = "random")]
pub mod random;
