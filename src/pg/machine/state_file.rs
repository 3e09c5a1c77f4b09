//! Small files in the data directory, which is the working directory of all processes of a server. They belong to this
//! server, unlike tables: a dump has none of them.

use std::fs::{File, read_to_string, rename};
use std::io::{Error, Write};

/// Reads a file; none if there is none, or it cannot be read.
pub fn read(name: &str) -> Option<String> {
    read_to_string(name).ok()
}

/// Replaces the content of a file, durably: after a crash it has the old content or the new one.
///
/// # Errors
/// When it cannot be written.
pub fn write(name: &str, content: &str) -> Result<(), Error> {
    let new = format!("{name}.tmp");
    let mut file = File::create(&new)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    rename(&new, name)?;
    File::open(".")?.sync_all()
}
