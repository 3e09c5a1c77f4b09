//! Disks of servers: file systems of their own, which can be copied while the server runs, as a snapshot of the storage is.

use crate::report::say;
use crate::server::installation;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// An ext4 file system in a file. Unmounted when dropped.
pub(crate) struct Disk {
    /// The folder of the file.
    folder: TempDir,
    place: PathBuf,
}

/// The size in MB. What is not written takes no space.
const SIZE: u64 = 400;
const MB: u64 = 1 << 20;

impl Disk {
    /// Mounts a new disk at a place. `None`, with a message, where that is not permitted.
    pub(crate) fn mount(place: &Path) -> Option<Self> {
        let disk = Self::new(place);
        let image = File::create(disk.image()).expect("a file");
        image.set_len(SIZE * MB).expect("a sparse file");
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-m", "0", "-b", "4096"])
            .arg(disk.image())
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|made| made.success()) || !disk.try_mount() {
            say(
                "a disk cannot be mounted, which takes root and mkfs.ext4: copies are made of its files",
            );
            return None;
        }
        installation::give_to_server(place);
        Some(disk)
    }

    fn new(place: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("mint.image.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        Self {
            folder,
            place: place.to_owned(),
        }
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn try_mount(&self) -> bool {
        Command::new("mount")
            .args(["-o", "loop"])
            .args([&self.image(), &self.place])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Mounts a copy of this disk, as it is at this point in time, at another place. Inode numbers are the same.
    pub(crate) fn copied(&self, place: &Path) -> Self {
        let copy = Self::new(place);
        installation::run(Command::new("fsfreeze").arg("-f").arg(&self.place));
        let copied = Command::new("cp")
            .arg("--sparse=always")
            .args([self.image(), copy.image()])
            .status();
        installation::run(Command::new("fsfreeze").arg("-u").arg(&self.place));
        assert!(
            copied.is_ok_and(|copied| copied.success()) && copy.try_mount(),
            "a disk cannot be copied"
        );
        copy
    }

    /// Returns the file that fills it.
    pub(crate) fn ballast(&self) -> PathBuf {
        self.place.join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, as a server that is about to end may still use it.
        let unmounted = Command::new("umount").arg("-l").arg(&self.place).status();
        drop(unmounted);
    }
}
