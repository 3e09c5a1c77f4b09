//! What a server has in memory only of the nodes that are assigned to it: what its disk, and so a copy, does not tell.

use crate::pg::machine::random;
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// In shared memory, zeroed at first.
///
/// - `instance`: 0 before it is first asked for.
/// - `said`: for each width, [`Said`].
/// - `is_set`: 1 while the settings that the worker uses say that the node of this server is the assigned one.
#[repr(C)]
pub struct AssignedMemory {
    instance: AtomicU64,
    said: [AtomicU32; MAX_SHARD_BITS as usize + 1],
    is_set: AtomicU32,
}

/// What the registry has said of the node that is assigned to this server, from the server's start on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Nothing,
    /// It has leased the node.
    Yes,
    /// It has answered otherwise, and has not leased the node before; or another server has the node.
    No,
}

impl AssignedMemory {
    /// Returns a random number that this server has from its start to its end.
    pub fn instance(&self) -> i64 {
        let new = random::bits() | 1;
        let swap = self
            .instance
            .compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire);
        swap.map_or_else(|known| known, |_| new).cast_signed()
    }

    /// Returns whether the chosen nodes are those that are assigned to this server.
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire) != 0
    }

    /// Says whether they are, from now on: none is chosen yet.
    pub fn set(&self, is_set: bool) {
        self.is_set.store(is_set.into(), Ordering::Release);
    }

    /// Returns what the registry has said.
    pub fn said(&self, width: u32) -> Said {
        let said = self.said.get(width as usize);
        match said.map(|said| said.load(Ordering::Relaxed)) {
            Some(0) => Said::Nothing,
            Some(1) => Said::Yes,
            _ => Said::No,
        }
    }

    /// Remembers what the registry has said.
    pub fn set_said(&self, width: u32, what: Said) {
        if let Some(said) = self.said.get(width as usize) {
            said.store(what as u32, Ordering::Relaxed);
        }
    }
}
