//! Small files in the data directory, which is the working directory of all processes of a server. They belong to this
//! server, unlike tables: a dump has none of them.

use crate::pg::machine::server;
use std::fs::{File, OpenOptions, read_to_string, rename};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::FileExt;

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
    sync(&file)?;
    rename(&new, name)?;
    sync(&File::open(".")?)
}

/// Does the same if the content has the length of the old one, and fits into a sector of a disk, which is written
/// whole: on most file systems that takes no room, so it succeeds on a full disk.
///
/// # Errors
/// When it cannot be written.
pub fn overwrite(name: &str, content: &str) -> Result<(), Error> {
    match OpenOptions::new().write(true).open(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => write(name, content),
        file => {
            let file = file?;
            file.write_all_at(content.as_bytes(), 0)?;
            // Somebody can have appended to the file, and the next start would read it.
            if file.metadata()?.len() != content.len() as u64 {
                file.set_len(content.len() as u64)?;
            }
            if server::is_durable() {
                file.sync_data()?;
            }
            Ok(())
        }
    }
}

/// Returns why an existing file cannot be written.
pub fn write_error(name: &str) -> Option<Error> {
    let opened = OpenOptions::new().write(true).open(name);
    opened
        .err()
        .filter(|error| error.kind() != ErrorKind::NotFound)
}

/// Waits until a file is on disk.
fn sync(file: &File) -> Result<(), Error> {
    if server::is_durable() {
        file.sync_all()?;
    }
    Ok(())
}
