//! What a server has of the machine: clocks, a disk and memory.

pub mod clock;
pub mod scarce_memory;
pub mod small_disk;
