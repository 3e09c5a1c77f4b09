//! The builder that starts servers with options.

use crate::server::machine::scarce_memory::ScarceMemory;
use crate::server::machine::small_disk::SmallDisk;
use crate::server::process::Server;
use crate::server::turn::Turn;

/// Options of a server to be started.
#[derive(Default)]
pub struct Builder {
    name: String,
    conf: Vec<String>,
    durable: bool,
    has_clock: bool,
    environment: Vec<(String, String)>,
    archiving: bool,
    wal_disk: Option<SmallDisk>,
    memory: Option<ScarceMemory>,
    distinct: bool,
    alone: bool,
}

impl Builder {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds a line, or several, to `postgresql.conf`.
    #[must_use]
    pub fn conf(mut self, line: &str) -> Self {
        self.conf.push(line.to_owned());
        self
    }

    /// Chooses whether the postmaster loads the library, or each session at its first call.
    #[must_use]
    pub fn preload(self, preload: bool) -> Self {
        if preload {
            self.conf("shared_preload_libraries = 'pg_mint'")
        } else {
            self
        }
    }

    /// Adds a variable to the environment of the server.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Turns fsync on, as in production. Other servers here do without it: a killed process loses nothing that the
    /// operating system already has.
    #[must_use]
    pub fn durable(mut self) -> Self {
        self.durable = true;
        self
    }

    /// Archives all WAL, so that a backup can be recovered to any later point.
    #[must_use]
    pub fn archiving(mut self) -> Self {
        self.archiving = true;
        self
    }

    /// Gives the server a system identifier of its own in the story. Other servers are copies of one data directory.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// Runs no other story at the same time: for stories that measure times or load all cores.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Puts WAL on a disk of its own, in segments of 1 MB.
    #[must_use]
    pub fn wal_on(mut self, disk: SmallDisk) -> Self {
        self.wal_disk = Some(disk);
        self
    }

    /// Limits the dynamic shared memory.
    #[must_use]
    pub fn memory(mut self, limit: ScarceMemory) -> Self {
        self.memory = Some(limit);
        self.conf(limit.conf())
    }

    /// Gives the server a clock that the test sets.
    #[must_use]
    pub fn with_clock(mut self) -> Self {
        self.has_clock = true;
        self
    }

    /// Starts the server and creates the extension in database `postgres`.
    #[must_use]
    pub fn start(self) -> Server {
        let server = self.start_empty();
        server.run("CREATE EXTENSION pg_mint");
        server
    }

    /// Starts the server without the extension in any database. The first server of a story waits for the story's turn.
    #[must_use]
    pub fn start_empty(self) -> Server {
        let turn = Turn::wait(self.alone);
        let mut server = Server::in_new_directory(&self.name, turn, self.memory);
        if self.has_clock {
            server.add_clock();
        }
        server.environment.extend(self.environment);
        match &self.wal_disk {
            None if self.distinct => server.fill_distinctly(),
            None => server.fill_from_cache(0),
            Some(disk) => {
                let wal = disk.wal().display().to_string();
                server.initdb(&server.data(), &["--wal-segsize=1", "-X", &wal]);
            }
        }
        server.wal_disk = self.wal_disk;
        if self.archiving {
            server.archive();
        }
        server.configure(&self.conf.join("\n"));
        server.configure(if self.durable {
            "fsync = on"
        } else {
            "fsync = off"
        });
        server.start_again();
        server
    }
}

impl Server {
    /// Returns a builder for a server on default settings.
    #[must_use]
    pub fn build(name: &str) -> Builder {
        Builder {
            name: name.to_owned(),
            ..Builder::default()
        }
    }

    /// Starts a server on default settings with the extension in database `postgres`.
    #[must_use]
    pub fn start(name: &str) -> Self {
        Self::build(name).start()
    }

    /// Returns a builder for a server whose clock the test sets ([`Server::set_clock`]).
    #[must_use]
    pub fn build_with_clock(name: &str) -> Builder {
        Self::build(name).with_clock()
    }

    /// Starts a server whose clock the test sets; see [`Server::build_with_clock`].
    #[must_use]
    pub fn start_with_clock(name: &str) -> Self {
        Self::build_with_clock(name).start()
    }
}
