//! What a server has of the machine: a clock, disks, memory, and namespaces in which it sees another one.

pub mod clock;
pub mod disk;
pub mod namespaces;
pub mod scarce_memory;
pub mod small_disk;
