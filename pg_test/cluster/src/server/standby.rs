//! Servers made from servers: standbys, copies, restored backups and upgrades.

use crate::report::say;
use crate::server::data_directory::copy;
use crate::server::installation;
use crate::server::process::Server;
use std::path::PathBuf;

/// A base backup, kept in the directory of its server.
pub struct Backup(PathBuf);

impl Server {
    /// Starts a hot standby that streams from this server. It has a fake clock if this server has one, set to the real time.
    #[must_use]
    pub fn standby(&self, name: &str) -> Self {
        let mut standby = Self::in_new_directory(name, None, None);
        standby.clock_like(self, "+0");
        self.base_backup(&standby.data(), &["-R"]);
        standby.configure("hot_standby = on");
        standby.start_again();
        standby
    }

    fn base_backup(&self, to: &std::path::Path, options: &[&str]) {
        installation::run(
            self.client_program("pg_basebackup", "postgres")
                .args(["--no-sync", "-X", "stream", "-c", "fast", "-D"])
                .arg(to)
                .args(options),
        );
    }

    /// Waits until a standby has replayed all WAL that this server has written so far.
    pub fn wait_for(&self, standby: &Self) {
        let written: String = self.one("SELECT pg_current_wal_lsn()::text");
        let mut session = standby.connect("postgres");
        let reached = format!("SELECT coalesce(pg_last_wal_replay_lsn() >= '{written}', false)");
        standby.until("the standby replays", || session.one(&reached));
    }

    /// Lets a standby receive nothing from now on.
    pub fn stop_receiving(&self) {
        let mut session = self.connect("postgres");
        session.set_for_server("primary_conninfo", "''");
        self.until("the standby receives nothing any more", || {
            session.one("SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
        });
    }

    /// Promotes a standby.
    pub fn promote(&self) {
        assert!(
            self.one::<bool>("SELECT pg_promote(true, 60)"),
            "promotion:\n{}",
            self.log()
        );
    }

    /// Returns a copy of this server's files, not started and not marked as a standby, like a clone of a disk or an old
    /// backup. It has a clock as a standby has.
    #[must_use]
    pub fn copied(&self, name: &str) -> Self {
        let mut made = Self::in_new_directory(name, None, None);
        made.clock_like(self, "+0");
        if self.file("postmaster.pid").exists() {
            self.base_backup(&made.data(), &[]);
        } else {
            copy(&self.data(), &made.data());
        }
        made.configure("");
        made
    }

    fn archive_folder(&self) -> PathBuf {
        self.path().join("archive")
    }

    pub(crate) fn archive(&self) {
        let place = self.archive_folder();
        std::fs::create_dir(&place).expect("an archive");
        installation::give_to_server(&place);
        self.configure(&format!(
            "archive_mode = on\narchive_command = 'cp \"%p\" \"{}/%f\"'",
            place.display()
        ));
    }

    /// Takes a base backup.
    #[must_use]
    pub fn backup(&self) -> Backup {
        let place = self.path().join("backup");
        self.base_backup(&place, &[]);
        Backup(place)
    }

    /// Waits until all WAL so far is in the archive.
    pub fn fill_archive(&self) {
        let mut session = self.connect("postgres");
        let last: String = session.one("SELECT pg_walfile_name(pg_switch_wal())");
        let archived =
            format!("SELECT coalesce(last_archived_wal >= '{last}', false) FROM pg_stat_archiver");
        self.until("the archive has all WAL", || session.one(&archived));
    }

    /// Starts another server from a backup of this one, recovered to a target: a setting as in `postgresql.conf`. Its clock
    /// is set before it starts.
    #[must_use]
    pub fn restored(&self, name: &str, backup: Backup, target: &str, clock: &str) -> Self {
        let mut restored = Self::in_new_directory(name, None, None);
        restored.clock_like(self, clock);
        copy(&backup.0, &restored.data());
        restored.configure(&format!(
            "archive_mode = off\nrestore_command = 'cp \"{}/%f\" \"%p\"'\n\
             {target}\nrecovery_target_action = promote",
            self.archive_folder().display()
        ));
        let signal = restored.data().join("recovery.signal");
        std::fs::write(&signal, "").expect("recovery.signal");
        installation::give_to_server(&signal);
        restored.start_again();
        let mut session = restored.connect("postgres");
        restored.until("recovery ends", || {
            !session.one::<bool>("SELECT pg_is_in_recovery()")
        });
        drop(session);
        restored
    }

    /// Upgrades this server, which must be stopped, to the version of `PG_CONFIG_NEW`, with lines of `postgresql.conf`.
    /// `None`, with a message, where that is not set.
    #[must_use]
    pub fn upgraded(&self, name: &str, clock: &str, conf: &str) -> Option<Self> {
        let Some(programs) = installation::newer_programs() else {
            say(format!(
                "SKIPPED {name}: PG_CONFIG_NEW names no newer server"
            ));
            return None;
        };
        let mut newer = Self::in_new_directory(name, None, None);
        newer.set_programs(programs);
        newer.clock_like(self, clock);
        // Both have checksums, or neither; from 18 on they are the default.
        let is_default = |server: &Self| server.major() >= 18;
        let has_none = is_default(&newer) && !is_default(self);
        let options = has_none.then_some("--no-data-checksums");
        newer.initdb(&newer.data(), options.as_slice());
        newer.configure(&format!("fsync = off\n{conf}"));

        let output = newer
            .program("pg_upgrade", &[])
            .args(["--no-sync", "-U", "postgres"])
            .arg("-b")
            .arg(self.programs())
            .arg("-d")
            .arg(self.data())
            .arg("-D")
            .arg(newer.data())
            .output()
            .expect("pg_upgrade runs");
        if !output.status.success() {
            let complaints = installation::run(
                std::process::Command::new("find")
                    .arg(newer.path())
                    .args(["-path", "*pg_upgrade*", "-name", "*.log"])
                    .args(["-exec", "grep", "-i", "-h", "error", "{}", ";"]),
            );
            let said = String::from_utf8_lossy(&output.stdout);
            panic!("pg_upgrade:\n{said}{complaints}");
        }
        newer.start_again();
        Some(newer)
    }
}
