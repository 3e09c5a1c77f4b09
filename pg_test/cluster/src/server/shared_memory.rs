//! Shared memory that outlives the processes of a killed server.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The beginning of the paths of segments of POSIX.
const POSIX: &str = "/dev/shm/PostgreSQL.";

/// Segments of shared memory. Dropping it removes them from the machine; those that the server itself removed when it
/// started again are gone already.
#[derive(Default)]
pub struct SharedMemory {
    /// Paths of those of POSIX.
    files: BTreeSet<String>,
    /// Identifiers of those of System V.
    ids: BTreeSet<String>,
}

impl SharedMemory {
    /// Adds what these processes have mapped.
    pub fn add_those_of(&mut self, processes: &[String]) {
        for process in processes {
            // A process can have ended since it was found.
            let maps = std::fs::read_to_string(Path::new("/proc").join(process).join("maps"));
            for line in maps.unwrap_or_default().lines() {
                // Address, rights, offset, device, inode and path; System V's identifier is in the place of the inode.
                let mut fields = line.split_whitespace().skip(4);
                let (Some(inode), Some(path)) = (fields.next(), fields.next()) else {
                    continue;
                };
                if path.starts_with(POSIX) {
                    self.files.insert(path.to_owned());
                } else if path.starts_with("/SYSV") {
                    self.ids.insert(inode.to_owned());
                }
            }
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        for file in &self.files {
            drop(std::fs::remove_file(file));
        }
        for id in &self.ids {
            drop(Command::new("ipcrm").arg("-m").arg(id).output());
        }
    }
}
