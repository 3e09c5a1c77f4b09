//! Small files in the data directory, which is the working directory of all processes of a server. They belong to this
//! server, unlike tables: a dump has none of them.

use std::fs::{File, read_to_string, rename};
use std::io::{Error, ErrorKind, Write};

/// Reads a file; none if there is none.
///
/// # Errors
/// When it cannot be read.
pub fn read(name: &str) -> Result<Option<String>, Error> {
    match read_to_string(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
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
