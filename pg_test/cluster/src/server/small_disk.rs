//! A disk so small that it can be full.

use crate::report::say;
use crate::server::installation;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A file system in memory of 16 MB, for a server's WAL. Gone when dropped.
pub struct SmallDisk {
    place: TempDir,
}

impl SmallDisk {
    /// Mounts it. `None`, said out loud, where that is not allowed.
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

    /// Writes until nothing more goes in.
    pub fn fill(&self) {
        let mut ballast = std::fs::File::create(self.ballast()).expect("a file");
        while ballast.write_all(&[0; 4_096]).is_ok() {}
    }

    /// Makes room again.
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
    // Detached at once and freed with its last user, who may be a server that is just ending.
    let unmounted = Command::new("umount").arg("-l").arg(place).status();
    drop(unmounted);
}
