//! The interface to the server: datums, catalogs, shared memory, workers, clocks, errors. It does not know ids.

pub mod backend;
pub mod catalog;
pub mod charset;
pub mod citus;
pub mod datum;
pub mod error;
pub mod machine;
pub mod ports;
pub mod quick;
pub mod sequence;
pub mod shmem;
pub mod worker;
