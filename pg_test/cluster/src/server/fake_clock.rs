//! Clocks of servers that a test sets, by libfaketime.

use crate::server::process::Server;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

impl Server {
    pub(crate) fn fake_clock(&mut self, library: &Path) {
        self.set_clock("+0");
        let variable = |name: &str, value: String| (name.to_owned(), value);
        self.environment = vec![
            variable("LD_PRELOAD", library.display().to_string()),
            variable(
                "FAKETIME_TIMESTAMP_FILE",
                self.home.path().join("clock").display().to_string(),
            ),
            // The server must see a step at its next reading of the clock, not seconds later.
            variable("FAKETIME_NO_CACHE", "1".to_owned()),
            // Only the wall clock steps; a real step leaves the monotonic clocks alone too.
            variable("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ];
    }

    pub(crate) fn has_fake_clock(&self) -> bool {
        let is_preload = |(name, _): &(String, String)| name == "LD_PRELOAD";
        self.environment.iter().any(is_preload)
    }

    /// Writes a script that runs `postgres` with memory of its own for libfaketime.
    ///
    /// libfaketime shares memory among all descendants of the first process that loaded it, here `pg_ctl`, and removes it
    /// when that process ends. A `restore_command` that starts then would find it truncated and die of SIGBUS.
    /// `pg_ctl` needs the same clock: it recognizes its server by the start time in `postmaster.pid`.
    pub(crate) fn postgres_with_clock(&self) -> PathBuf {
        let script = self.path().join("postgres.sh");
        let postgres = self.programs().join("postgres");
        let text = format!(
            "#!/bin/sh\nexec env -u FAKETIME_SHARED '{}' \"$@\"\n",
            postgres.display()
        );
        std::fs::write(&script, text).expect("the script can be written");
        std::fs::set_permissions(&script, Permissions::from_mode(0o755))
            .expect("the script can be made executable");
        self.home.path().join("postgres.sh")
    }

    /// Gives this server a fake clock if `other` has one.
    pub(crate) fn clock_like(&mut self, other: &Self) {
        let preload =
            |(name, value): &(String, String)| (name == "LD_PRELOAD").then(|| PathBuf::from(value));
        if let Some(library) = other.environment.iter().find_map(preload) {
            self.fake_clock(&library);
        }
    }

    fn clock_file(&self) -> PathBuf {
        self.path().join("clock")
    }

    /// Sets the offset of the server's wall clock to the real one, in seconds: `"-3600"`, `"-0.001"`, `"+2y"`, `"+0"`.
    /// Running sessions see it at once. Sleep in the test: `pg_sleep` follows this clock.
    pub fn set_clock(&self, offset: &str) {
        let next = self.path().join("clock.next");
        std::fs::write(&next, format!("{offset}\n")).expect("the clock can be written");
        // Renamed into place, so that no reader finds half a file.
        std::fs::rename(&next, self.clock_file()).expect("the clock can be set");
    }
}
