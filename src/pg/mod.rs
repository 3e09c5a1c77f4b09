//! What the server lends to the algorithms. All `unsafe` code of the project is below this module.

pub mod ceilings;
pub mod clock;
pub mod ends;
pub mod errors;
pub mod fixed;
pub mod lanes;
pub mod moment;
pub mod naming;
pub mod rights;
pub mod sections;
pub mod segments;
pub mod sequence;
pub mod session;
pub mod settings;
pub mod shared;
pub mod users;
pub mod watch;

use std::ffi::CStr;

/// The extension's version, as the server shows it.
pub const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
