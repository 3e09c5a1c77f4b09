//! A disk that is small enough to be filled.

use crate::report::say;
use crate::server::installation;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A file system of 16 MB in memory, for a server's WAL. Unmounted when dropped.
pub struct SmallDisk {
    place: TempDir,
}

impl SmallDisk {
    /// Mounts the disk. `None`, with a message, where that is not permitted.
    #[must_use]
    pub fn mount(story: &str) -> Option<Self> {
        let place = tempfile::Builder::new()
            .prefix("mint.disk.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m", "pg_mint"])
            .arg(place.path())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !mounted {
            say(format!("SKIPPED {story}: mounting a tmpfs takes root"));
            return None;
        }
        let disk = Self { place };
        std::fs::create_dir(disk.wal()).expect("a folder on a new disk");
        installation::give_to_server(disk.place.path());
        Some(disk)
    }

    pub(crate) fn wal(&self) -> PathBuf {
        self.place.path().join("wal")
    }

    fn ballast(&self) -> PathBuf {
        self.place.path().join("ballast")
    }

    /// Fills the disk.
    pub fn fill(&self) {
        let mut ballast = std::fs::File::create(self.ballast()).expect("a file");
        while ballast.write_all(&[0; 4_096]).is_ok() {}
    }

    /// Removes what [`SmallDisk::fill`] wrote.
    pub fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("the ballast can be removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(self.place.path());
    }
}

fn unmount(place: &Path) {
    // Lazily, as a server that is about to end may still use it.
    let unmounted = Command::new("umount").arg("-l").arg(place).status();
    drop(unmounted);
}
