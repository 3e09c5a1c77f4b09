//! Private servers: installation, start, faults, copies and removal.

pub mod builder;
pub mod client_programs;
pub mod data_directory;
pub mod fake_clock;
pub mod fault;
pub mod installation;
pub mod machine;
pub mod process;
pub mod session;
pub mod shared_memory;
pub mod standby;
pub mod turn;
