//! What the server lends to the algorithms. All `unsafe` code of the project is below this module.

pub mod bound;
pub mod catalog;
pub mod ceilings;
pub mod charset;
pub mod claims;
pub mod clock;
pub mod ends;
pub mod errors;
pub mod fixed;
pub mod grants;
pub mod holds;
pub mod instants;
pub mod keys;
pub mod lanes;
pub mod local;
pub mod mailbox;
pub mod member;
pub mod moment;
pub mod naming;
pub mod nodes;
pub mod objectid_order;
pub mod question;
pub mod random;
pub mod registry;
pub mod remote;
pub mod rights;
pub mod rows;
pub mod sections;
pub mod segment_refill;
pub mod segment_session;
pub mod segment_slots;
pub mod segments;
pub mod sequence;
pub mod session;
pub mod settings;
pub mod shmem;
pub mod slots;
pub mod soft;
pub mod sources;
pub mod statement;
pub mod tasks;
pub mod users;
pub mod uuid_node;
pub mod value_errors;
pub mod varlena;
pub mod watch;
pub mod worker;

use std::ffi::CStr;

/// The extension's version, as the server shows it.
pub const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
