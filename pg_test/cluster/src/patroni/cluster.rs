//! The cluster: three machines under Patroni with a database, and a registry if their nodes are leased.

use crate::patroni::etcd::{Etcd, REST, request};
use crate::patroni::network::Network;
use crate::patroni::node::{Node, Settings, has_patroni};
use crate::patroni::terms::Terms;
use crate::registry::members::Registry;
use crate::report::say;
use crate::server::installation;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The origin of the primary's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// All servers have one number.
    Fixed,
    /// Each leases one from a registry.
    Auto,
}

/// A cluster. Dropping it kills all its processes.
pub struct Cluster {
    pub mode: Mode,
    pub nodes: Vec<Node>,
    pub network: Network,
    pub etcd: Etcd,
    _registry: Option<Registry>,
    _folder: TempDir,
}

/// The life of a leader key that is not renewed: the shortest that Patroni allows.
pub const TTL: Duration = Duration::from_secs(20);
/// The node whose server has a clock that can be set.
pub const WITH_CLOCK: usize = 2;
const NODES: u8 = 3;
/// The time in which the cluster must be whole again after a fault.
const REPAIR: Duration = Duration::from_secs(180);
const INTERVAL: Duration = Duration::from_millis(200);

impl Cluster {
    /// Starts the cluster. `None`, with a message, where Patroni, etcd or the permission to make networks is missing.
    #[must_use]
    pub fn start(story: &str, mode: Mode) -> Option<Self> {
        if !has_patroni() {
            say(format!(
                "SKIPPED {story}: Patroni is not installed (package patroni)"
            ));
            return None;
        }
        let network = Network::start(story, NODES)?;
        let here = network.address(0);
        let Some(etcd) = Etcd::start(here) else {
            say(format!(
                "SKIPPED {story}: etcd is not installed (package etcd-server)"
            ));
            return None;
        };
        let registry = match mode {
            Mode::Fixed => None,
            Mode::Auto => {
                let registry = Registry::start(story)?;
                let address = here.to_string();
                registry.server.listen(&address, &network.cidr());
                Some(registry)
            }
        };
        let folder = tempfile::Builder::new()
            .prefix("mint.ha.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let parameters: &[_] = match mode {
            Mode::Fixed => &[("pg_mint.node", "7")],
            Mode::Auto => &[("pg_mint.node", "auto"), ("pg_mint.registry", "registry")],
        };
        let settings = Settings {
            etcd: etcd.place(),
            network: network.cidr(),
            ttl: TTL.as_secs(),
            parameters,
        };
        installation::give_to_server(folder.path());
        let prepare = |number: u8| {
            let has_clock = usize::from(number) == WITH_CLOCK + 1;
            Node::prepare(&network, number, folder.path(), &settings, has_clock)
        };
        let cluster = Self {
            mode,
            nodes: (1..=NODES).map(prepare).collect(),
            etcd,
            _registry: registry,
            _folder: folder,
            network,
        };
        cluster.nodes[0].start(&cluster.network);
        cluster.until("the first server is the primary", || {
            cluster.primary().is_some()
        });
        cluster.create_database();
        for node in &cluster.nodes[1..] {
            node.start(&cluster.network);
        }
        cluster.until_whole();
        Some(cluster)
    }

    fn create_database(&self) {
        let mut session = self.nodes[0].connect();
        session.run("CREATE EXTENSION pg_mint; CREATE TABLE message (id bigint PRIMARY KEY)");
        if self.mode == Mode::Auto {
            session.run(&format!(
                "CREATE EXTENSION dblink;
                 CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw
                     OPTIONS (host '{}', port '5432', dbname 'postgres', connect_timeout '3');
                 CREATE USER MAPPING FOR postgres SERVER registry OPTIONS (user 'member')",
                self.network.address(0)
            ));
        }
    }

    /// Polls until `is_so` returns true; panics with the logs after three minutes.
    #[track_caller]
    pub fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + REPAIR;
        while !is_so() {
            if Instant::now() > deadline {
                let logs: Vec<String> = self.nodes.iter().map(Node::log).collect();
                panic!("timeout after {REPAIR:?}: {what}\n{}", logs.join("\n"));
            }
            sleep(INTERVAL);
        }
    }

    /// Returns the place of the node that has the leader key, and is a primary.
    #[must_use]
    pub fn primary(&self) -> Option<usize> {
        let name = self.etcd.leader()??;
        let place = self.nodes.iter().position(|node| node.name == name)?;
        let mut session = self.nodes[place].try_connect().ok()?;
        let is_standby = session.try_one::<bool>("SELECT pg_is_in_recovery()");
        (!is_standby.ok()?).then_some(place)
    }

    /// Waits until there is a primary with two standbys that stream from it. Returns its place.
    #[track_caller]
    pub fn until_whole(&self) -> usize {
        let mut found = 0;
        self.until("one primary, two standbys", || {
            let Some(primary) = self.primary() else {
                return false;
            };
            found = primary;
            let Ok(mut session) = self.nodes[primary].try_connect() else {
                return false;
            };
            let standbys = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'
                            AND application_name LIKE 'n_'";
            session
                .try_one::<i64>(standbys)
                .is_ok_and(|standbys| standbys == 2)
        });
        found
    }

    /// Returns the other two nodes.
    pub fn other_nodes(&self, than: usize) -> impl Iterator<Item = &Node> {
        let all = self.nodes.iter().enumerate();
        all.filter(move |&(place, _)| place != than)
            .map(|(_, node)| node)
    }

    /// Makes a standby the primary, as `patronictl switchover` does.
    #[track_caller]
    pub fn switch_over(&self, to: usize) {
        let from = self.until_whole();
        let [leader, candidate] = [from, to].map(|place| &self.nodes[place]);
        let content = format!(
            r#"{{"leader": "{}", "candidate": "{}"}}"#,
            leader.name, candidate.name
        );
        // Patroni answers when it is over, or not at all.
        self.until("a switchover", || {
            ask(leader, "POST", "/switchover", &content);
            self.primary() == Some(to)
        });
    }

    /// Makes a standby's files again, as `patronictl reinit` does.
    #[track_caller]
    pub fn reinitialize(&self, place: usize) {
        let node = &self.nodes[place];
        self.until("a new copy", || {
            ask(node, "POST", "/reinitialize", r#"{"force": true}"#)
        });
    }

    /// Turns synchronous replication on or off.
    #[track_caller]
    pub fn set_synchronous(&self, on: bool) {
        let primary = self.until_whole();
        let content = format!(r#"{{"synchronous_mode": {on}}}"#);
        self.until("a new setting", || {
            ask(&self.nodes[primary], "PATCH", "/config", &content)
        });
        self.until("the standbys follow it", || {
            let has_one =
                "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')";
            let session = self.nodes[primary].try_connect();
            session.is_ok_and(|mut session| {
                session.try_one::<bool>(has_one).is_ok_and(|has| has == on)
            })
        });
    }

    /// Waits until the leader key, as the terms have it, is another node's.
    #[track_caller]
    pub fn until_another_leads(&self, than: usize, terms: &Terms) {
        self.until("another node has the leader key", || {
            terms
                .holder()
                .is_some_and(|holder| holder != self.nodes[than].name)
        });
    }
}

/// Makes a request to a node's Patroni. Returns whether it agrees.
fn ask(node: &Node, method: &str, path: &str, content: &str) -> bool {
    let answer = request(method, node.address, REST, path, content);
    answer.is_some_and(|(status, _)| (200..300).contains(&status))
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Fixed => "a fixed node",
            Self::Auto => "auto",
        })
    }
}
