//! Copies of the disks of servers, which take themselves for their originals, and what servers see of the machine.

use crate::server::machine::clock::FakeClock;
use crate::server::process::Server;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

impl Server {
    /// Returns a copy of this server's disk as it is now, not started. When it starts, it takes itself for this server: at the
    /// same path, with the same inode numbers, on a machine of the same name. Where there are no disks, it is a copy of the
    /// files elsewhere.
    #[must_use]
    pub fn twin(&self, name: &str) -> Self {
        let Some(disk) = &self.disk else {
            return self.copied(name);
        };
        let mut twin = Self::in_new_directory(name, None, None);
        twin.disk = Some(disk.copied(twin.path()));
        twin.home = Arc::clone(&self.home);
        twin.environment.clone_from(&self.environment);
        twin.clock = self.clock.as_ref().map(|_| FakeClock::open(twin.path()));
        // As after a crash of the machine.
        for stale in [
            "data/postmaster.pid", ".s.PGSQL.5432", ".s.PGSQL.5432.lock", "log",
        ] {
            // The server may have been stopped.
            let _ = std::fs::remove_file(twin.path().join(stale));
        }
        twin
    }

    /// Returns whether the server has a disk of its own.
    #[must_use]
    pub fn has_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Fills the server's disk.
    pub fn fill_disk(&self) {
        let disk = self.disk.as_ref().expect("a disk of its own");
        let mut ballast = File::create(disk.ballast()).expect("a file");
        while ballast.write_all(&[0; 4_096]).is_ok() {}
        // What is in memory only has room there.
        let _ = ballast.sync_all();
    }

    /// Removes what [`Server::fill_disk`] wrote.
    pub fn free_disk(&self) {
        let disk = self.disk.as_ref().expect("a disk of its own");
        std::fs::remove_file(disk.ballast()).expect("the ballast can be removed");
    }

    /// Returns the path of a file in the data directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    /// Changes the host name that the server sees from its next start on; none is that of the machine.
    pub fn set_host_name(&mut self, name: Option<&str>) {
        self.namespaces.host = name.map(str::to_owned);
    }

    /// Chooses whether the server is in a network of its own from its next start on. Sockets in a folder still reach it.
    pub fn isolate(&mut self, is_isolated: bool) {
        self.namespaces.is_isolated = is_isolated;
    }
}
