//! The parts of the machine that a server has: clocks, a disk and memory.

pub mod clock;
pub mod scarce_memory;
pub mod small_disk;
