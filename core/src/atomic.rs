//! The atomics of the lanes: the processor's, or loom's when it explores their interleavings.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

use std::ops::Deref;

/// A value alone on its cache line, so that writing its neighbors does not slow its readers. Lines have 64 bytes on
/// x86-64 and on the servers of arm64 (Graviton, Ampere). Where they have 128, as on Apple's, two values share one.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct CacheLine<T>(T);

impl<T> Deref for CacheLine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Pauses between two tries for a lock that is held for a few steps only. Its holder can have lost the
/// processor, so after some tries the caller yields its own.
pub fn pause(tries: u32) {
    #[cfg(loom)]
    {
        let _ = tries;
        loom::thread::yield_now();
    }
    #[cfg(not(loom))]
    if tries < 64 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}
