//! The atomics of the lanes: the processor's, or loom's when it explores their interleavings.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
