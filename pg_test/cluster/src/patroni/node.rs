//! A machine of the cluster: Patroni and the server that it runs.

use crate::patroni::network::Network;
use crate::server::installation;
use crate::server::machine::clock::FakeClock;
use crate::server::session::{Refusal, Session};
use crate::server::shared_memory::SharedMemory;
use postgres::Config;
use std::fmt::Write;
use std::fs::{self, Permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A machine, with its files in a directory of its own.
pub struct Node {
    pub number: u8,
    /// Its name in the leader key.
    pub name: String,
    pub address: Ipv4Addr,
    directory: PathBuf,
    /// The clock of its server, if it can be set.
    clock: Option<FakeClock>,
    /// The memory that its server had when it was killed.
    memory: Mutex<SharedMemory>,
}

/// The parts of the configuration of a node.
pub struct Settings<'a> {
    /// The address of etcd.
    pub etcd: String,
    /// The network of all nodes, as in `pg_hba.conf`.
    pub network: String,
    pub ttl: u64,
    /// Parameters of the servers, in the configuration that all nodes share.
    pub parameters: &'a [(&'a str, &'a str)],
}

impl Node {
    /// Writes the configuration of a machine. Its server has a clock that can be set if `has_clock`.
    #[must_use]
    pub fn prepare(
        network: &Network,
        number: u8,
        folder: &Path,
        settings: &Settings<'_>,
        has_clock: bool,
    ) -> Self {
        let directory = folder.join(format!("n{number}"));
        fs::create_dir(&directory).expect("a directory");
        let node = Self {
            number,
            name: format!("n{number}"),
            address: network.address(number),
            clock: has_clock.then(|| FakeClock::new(&directory)),
            directory,
            memory: Mutex::default(),
        };
        node.link_programs();
        fs::write(node.configuration(), node.yaml(settings)).expect("a configuration");
        installation::give_to_server(&node.directory);
        node
    }

    /// Makes the folder of the server's programs: links, and for a clock that can be set a script in place of `postgres`.
    /// Patroni recognizes its server by the start time in `postmaster.pid`: let the clock be right when the server starts.
    fn link_programs(&self) {
        let folder = self.directory.join("programs");
        fs::create_dir(&folder).expect("a directory");
        for program in fs::read_dir(installation::programs()).expect("the server's programs") {
            let program = program.expect("a program").path();
            let place = folder.join(program.file_name().expect("its name"));
            match &self.clock {
                Some(_) if place.ends_with("postgres") => {
                    let variables = FakeClock::environment(&self.directory)
                        .map(|(name, value)| format!("{name}='{value}'"))
                        .join(" ");
                    let script = format!(
                        "#!/bin/sh\nexec env {variables} '{}' \"$@\"\n",
                        program.display()
                    );
                    fs::write(&place, script).expect("a script");
                    fs::set_permissions(&place, Permissions::from_mode(0o755)).expect("a mode");
                }
                _ => std::os::unix::fs::symlink(&program, &place).expect("a link"),
            }
        }
    }

    /// Sets the offset of the server's clock to the real one in seconds: see [`crate::Server::set_clock`].
    pub fn set_clock(&self, offset: &str) {
        self.clock.as_ref().expect("a clock").set(offset);
    }

    fn configuration(&self) -> PathBuf {
        self.directory.join("patroni.yml")
    }

    fn yaml(&self, settings: &Settings<'_>) -> String {
        let Settings {
            etcd, network, ttl, ..
        } = settings;
        let (name, address, place) = (&self.name, self.address, self.directory.display());
        let mut shared = String::new();
        for (parameter, value) in settings.parameters {
            let _ = write!(shared, "\n        {parameter}: '{value}'");
        }
        // The time of a switch depends on `ttl` alone: the other times are as short as it allows.
        format!(
            "scope: mint
name: {name}
restapi:
  listen: {address}:8008
  connect_address: {address}:8008
etcd:
  host: {etcd}
bootstrap:
  dcs:
    ttl: {ttl}
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 104857600
    postgresql:
      use_pg_rewind: true
      parameters:
        fsync: 'off'
        log_min_messages: log
        max_connections: '100'{shared}
  initdb:
  - encoding: UTF8
  - no-locale
postgresql:
  listen: {address}:5432
  connect_address: {address}:5432
  data_dir: {place}/data
  bin_dir: {place}/programs
  pgpass: {place}/pgpass
  authentication:
    superuser: {{username: postgres, password: postgres}}
    replication: {{username: replicator, password: replicator}}
  parameters:
    unix_socket_directories: '{place}'
  basebackup:
  - checkpoint: fast
  - no-sync
  pg_hba:
  - local all all trust
  - host all all {network} trust
  - host replication all {network} trust
watchdog:
  mode: 'off'
"
        )
    }

    /// Starts Patroni, which starts the server.
    pub fn start(&self, network: &Network) {
        let log = || {
            let place = self.directory.join("patroni.log");
            let log = fs::OpenOptions::new().create(true).append(true).open(place);
            Stdio::from(log.expect("a log"))
        };
        // Unlike runuser, setpriv leaves no process of its own, which would stop with Patroni and stay so.
        let child = network
            .command_on(self.number)
            .args([
                "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "env",
            ])
            .args([
                "-u", "RUST_BACKTRACE", "-u", "PGHOST", "-u", "PGPORT", "LC_ALL=C", "patroni",
            ])
            .arg(self.configuration())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log())
            .spawn();
        let mut child = child.expect("Patroni can be started");
        // Collects the process when it ends.
        std::thread::spawn(move || drop(child.wait()));
    }

    /// Signals Patroni, and the programs that it runs other than the server.
    pub fn signal_patroni(&self, signal: &str) {
        for process in self.processes(|place| place == self.directory) {
            installation::try_signal(signal, &process);
        }
    }

    /// Signals all processes of the server, the postmaster first, so that it does not react to the end of the others.
    pub fn signal_server(&self, signal: &str) {
        self.signal_postmaster(signal);
        for process in self.processes_of_server() {
            installation::try_signal(signal, &process);
        }
    }

    /// Signals the postmaster alone.
    pub fn signal_postmaster(&self, signal: &str) {
        if signal == "-9" {
            let memory = self.memory.lock();
            memory
                .unwrap_or_else(PoisonError::into_inner)
                .add_those_of(&self.processes_of_server());
        }
        let file = fs::read_to_string(self.directory.join("data/postmaster.pid"));
        if let Some(postmaster) = file
            .ok()
            .and_then(|file| file.lines().next().map(str::to_owned))
        {
            installation::try_signal(signal, postmaster);
        }
    }

    /// Kills all processes of the machine, as a loss of power or a watchdog does.
    pub fn cut_power(&self) {
        self.signal_patroni("-9");
        self.signal_server("-9");
    }

    /// Signals the processes of the server that send WAL to the standbys.
    pub fn signal_walsenders(&self, signal: &str) {
        let mut session = self.connect();
        let all: Vec<i32> = session.column("SELECT pid FROM pg_stat_replication");
        for process in all {
            installation::try_signal(signal, process.to_string());
        }
    }

    fn processes_of_server(&self) -> Vec<String> {
        self.processes(|place| place.starts_with(self.directory.join("data")))
    }

    /// Returns the processes whose working directory is such a place.
    fn processes(&self, is_there: impl Fn(&Path) -> bool) -> Vec<String> {
        let has_place =
            |process: &Path| fs::read_link(process.join("cwd")).is_ok_and(|place| is_there(&place));
        let all = fs::read_dir("/proc").expect("/proc").flatten();
        all.filter(|process| has_place(&process.path()))
            .map(|process| process.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Returns how a program on this machine connects, by the socket.
    #[must_use]
    pub fn inside(&self) -> Config {
        let mut config = Config::new();
        config.host_path(&self.directory);
        config.port(5432).dbname("postgres").user("postgres");
        config
    }

    /// Returns how a program on another machine connects. It notices soon when a connection is dead.
    #[must_use]
    pub fn outside(&self) -> Config {
        const SOON: Duration = Duration::from_secs(2);
        let mut config = Config::new();
        config.host(&self.address.to_string());
        config.port(5432).dbname("postgres").user("postgres");
        config.connect_timeout(SOON).tcp_user_timeout(2 * SOON);
        config.keepalives_idle(SOON).keepalives_interval(SOON / 2);
        config.keepalives_retries(2);
        config
    }

    /// Opens a session by the socket.
    #[must_use]
    pub fn connect(&self) -> Session {
        self.try_connect()
            .unwrap_or_else(|refusal| panic!("{}: {refusal}\n{}", self.name, self.log()))
    }

    /// Opens a session by the socket, if the server takes any.
    ///
    /// # Errors
    /// The server's error, or that there is no server.
    pub fn try_connect(&self) -> Result<Session, Refusal> {
        let begun = Instant::now();
        Session::open(&self.inside()).map_err(|error| Refusal::new(&error, begun.elapsed()))
    }

    /// Returns the last lines of Patroni's log, which has the server's as well.
    #[must_use]
    pub fn log(&self) -> String {
        let log = fs::read(self.directory.join("patroni.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let lines: Vec<&str> = log.lines().collect();
        format!(
            "{}:\n    {}",
            self.name,
            lines[lines.len().saturating_sub(30)..].join("\n    ")
        )
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.signal_patroni("-9");
        self.signal_server("-9");
    }
}

/// Returns whether Patroni is installed.
#[must_use]
pub fn has_patroni() -> bool {
    let asked = Command::new("patroni").arg("--version").output();
    asked.is_ok_and(|output| output.status.success())
}
