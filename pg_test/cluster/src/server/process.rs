//! A private server: its files, its start and its sessions.

use crate::report::say;
use crate::server::installation;
use crate::server::machine::clock::FakeClock;
use crate::server::machine::scarce_memory::ScarceMemory;
use crate::server::machine::small_disk::SmallDisk;
use crate::server::session::{Place, Refusal, Session};
use crate::server::shared_memory::SharedMemory;
use crate::server::turn::Turn;
use postgres::Config;
use postgres::types::FromSqlOwned;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server, reached over a socket in its own directory only. Dropping it stops the server and removes it.
pub struct Server {
    name: String,
    pub(crate) clock: Option<FakeClock>,
    directory: TempDir,
    /// The programs of its version.
    programs: PathBuf,
    /// Environment of the postmaster.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) wal_disk: Option<SmallDisk>,
    limit: Option<ScarceMemory>,
    /// The memory that it had when it was killed.
    pub(crate) memory: Mutex<SharedMemory>,
    /// The turn of its story, which its first server has.
    _turn: Option<Turn>,
}

impl Server {
    pub(crate) fn in_new_directory(
        name: &str,
        turn: Option<Turn>,
        limit: Option<ScarceMemory>,
    ) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("mint.")
            .tempdir_in(ScarceMemory::temporary_directory(limit))
            .expect("a temporary directory");
        installation::give_to_server(directory.path());
        Self {
            name: name.to_owned(),
            directory,
            programs: installation::programs().to_owned(),
            environment: Vec::new(),
            clock: None,
            wal_disk: None,
            limit,
            memory: Mutex::default(),
            _turn: turn,
        }
    }

    /// Returns its name in the test.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory of its socket, for other servers.
    #[must_use]
    pub fn socket(&self) -> &Path {
        self.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Returns the path of a file in the data directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    /// Appends to `postgresql.conf`, where the last line about a setting wins.
    pub fn configure(&self, lines: &str) {
        let place = self.data().join("postgresql.conf");
        let before = std::fs::read_to_string(&place).expect("postgresql.conf");
        let here = self.path().display();
        let after = format!(
            "{before}\nlisten_addresses = ''\nunix_socket_directories = '{here}'\n\
             dynamic_library_path = '{here}:$libdir'\n{lines}\n"
        );
        // Written in place, which keeps the owner of the file.
        std::fs::write(&place, after).expect("postgresql.conf can be written");
    }

    /// Returns the WAL's own disk; panics if it has none.
    #[must_use]
    pub fn wal_disk(&self) -> &SmallDisk {
        self.wal_disk.as_ref().expect("a disk for the WAL")
    }

    /// Returns a command that runs a program of the server's version.
    pub(crate) fn program(&self, name: &str, environment: &[(String, String)]) -> Command {
        installation::program(&self.programs, name, self.path(), environment)
    }

    pub(crate) fn programs(&self) -> &Path {
        &self.programs
    }

    /// Changes the version of a server that was not started yet.
    pub(crate) fn set_programs(&mut self, programs: PathBuf) {
        self.programs = programs;
    }

    /// Replaces this server by another; this one is stopped and removed.
    pub fn replace_by(&mut self, other: Self) {
        drop(self.replaced_by(other));
    }

    /// Replaces this server by another, and returns this one. The story's turn is the other's.
    #[must_use]
    pub(crate) fn replaced_by(&mut self, mut other: Self) -> Self {
        other._turn = self._turn.take();
        std::mem::replace(self, other)
    }

    /// Starts a stopped server, and waits until it takes connections.
    pub fn start_again(&self) {
        assert!(
            self.starts(),
            "server of {:?} does not start:\n{}",
            self.name,
            self.end_of_log()
        );
    }

    /// Returns whether a stopped server starts. If so, it takes connections.
    #[must_use]
    pub fn starts(&self) -> bool {
        let mut pg_ctl = self.program("pg_ctl", &self.environment);
        pg_ctl
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.path().join("log"))
            .args(["-w", "-t", "60", "-s", "start"]);
        if let Some(limit) = self.limit {
            pg_ctl = limit.wrap(&pg_ctl, &self.data());
        }
        let started = pg_ctl.output().expect("pg_ctl runs");
        started.status.success()
    }

    /// Polls until `is_so` returns true; panics with the log after a minute.
    pub fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(
                Instant::now() < deadline,
                "timeout after a minute: {what}\n{}",
                self.end_of_log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reads the server's log.
    #[must_use]
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path().join("log")).unwrap_or_default())
            .into_owned()
    }

    /// Returns where clients of database `postgres` connect.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place_of("postgres")
    }

    /// Returns where clients of a role connect to database `postgres`.
    #[must_use]
    pub fn place_of(&self, role: &str) -> Place {
        Place::new(self.config("postgres", role))
    }

    fn end_of_log(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n    ")
    }

    /// Returns how to connect with the interface of the crate postgres.
    #[must_use]
    pub fn config(&self, database: &str, user: &str) -> Config {
        let mut config = Config::new();
        config
            .host_path(self.path())
            .port(5432)
            .dbname(database)
            .user(user);
        config
    }

    /// Asks a role for its password from now on, where others are trusted.
    pub fn require_password(&self, role: &str) {
        self.admit_by(&format!("local all {role} scram-sha-256"));
        self.until("the role is asked for a password", || {
            Session::open(&self.config("postgres", role)).is_err()
        });
    }

    /// Listens at an address as well, for all machines of a network. Restarts the server.
    pub(crate) fn listen(&self, address: &str, network: &str) {
        self.admit_by(&format!("host all all {network} trust"));
        self.configure(&format!("listen_addresses = '{address}'"));
        self.restart();
    }

    /// Puts a line before all others of `pg_hba.conf`.
    fn admit_by(&self, line: &str) {
        let place = self.data().join("pg_hba.conf");
        let before = std::fs::read_to_string(&place).expect("pg_hba.conf");
        // Written in place, which keeps the owner of the file.
        std::fs::write(&place, format!("{line}\n{before}")).expect("pg_hba.conf can be written");
        self.run("SELECT pg_reload_conf()");
    }

    /// Opens a session of the superuser.
    #[must_use]
    pub fn connect(&self, database: &str) -> Session {
        self.connect_as("postgres", database)
    }

    /// Opens a session of any user.
    #[must_use]
    pub fn connect_as(&self, user: &str, database: &str) -> Session {
        Session::open(&self.config(database, user)).unwrap_or_else(|error| {
            panic!(
                "{user} cannot connect to {database}: {error:?}\n{}",
                self.log()
            )
        })
    }

    /// Runs statements in a session of their own: the superuser's, in database `postgres`.
    #[track_caller]
    pub fn run(&self, sql: &str) {
        self.connect("postgres").run(sql);
    }

    /// Returns the single value of a query in a session of its own, as [`Server::run`].
    #[track_caller]
    pub fn one<T: FromSqlOwned>(&self, sql: &str) -> T {
        self.connect("postgres").one(sql)
    }

    /// Returns the first column of a query in a session of its own, as [`Server::run`].
    #[track_caller]
    pub fn column<T: FromSqlOwned>(&self, sql: &str) -> Vec<T> {
        self.connect("postgres").column(sql)
    }

    /// Returns the error of statements that must fail, in a session of their own, as [`Server::run`].
    #[track_caller]
    pub fn refusal(&self, sql: &str) -> Refusal {
        self.connect("postgres").refusal(sql)
    }

    /// Returns the error of statements that must fail with this SQLSTATE, as [`Server::refusal`].
    #[track_caller]
    pub fn refused(&self, sql: &str, code: &str) -> Refusal {
        self.connect("postgres").refused(sql, code)
    }

    /// Creates a database with the extension in it.
    pub fn create_database(&self, name: &str) {
        self.run(&format!("CREATE DATABASE {name}"));
        self.connect(name).run("CREATE EXTENSION pg_mint");
    }

    /// Creates a database of a role, which is made if it is not there, and opens a session of the role.
    #[must_use]
    pub fn owned_database(&self, owner: &str, name: &str) -> Session {
        let mut session = self.connect("postgres");
        session.run(&format!(
            "DO $$ BEGIN CREATE ROLE {owner} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        ));
        session.run(&format!("CREATE DATABASE {name} OWNER {owner}"));
        self.connect_as(owner, name)
    }

    /// Installs the extension's library, changed by `change`, for this server alone. Sessions that have loaded the old file
    /// keep it; sessions that load the library from now on get the new one.
    pub fn install_library(&self, change: impl FnOnce(&mut [u8])) {
        let mut library = installation::library();
        change(&mut library);
        let next = self.path().join("pg_mint.next");
        std::fs::write(&next, library).expect("the library can be written");
        std::fs::rename(&next, self.path().join("pg_mint.so")).expect("the library can be put in");
    }

    /// Polls `ask` until it succeeds; panics with the last refusal after 15 s.
    pub fn until_minted<T>(&self, mut ask: impl FnMut() -> Result<T, Refusal>) -> T {
        let deadline = Instant::now() + Duration::from_secs(90);
        loop {
            match ask() {
                Ok(value) => return value,
                Err(refusal) => assert!(
                    Instant::now() < deadline,
                    "still refused after 90 s: {refusal}"
                ),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            say(format!(
                "the log of {:?} ends:\n    {}",
                self.name,
                self.end_of_log()
            ));
        }
        // The server may be stopped already, and a failure here would hide that of the test.
        let stopped = self
            .program("pg_ctl", &[])
            .arg("-D")
            .arg(self.data())
            .args(["-m", "immediate", "-w", "-s", "stop"])
            .output();
        drop(stopped);
    }
}
