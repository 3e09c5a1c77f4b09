//! A Citus cluster: a coordinator and workers, each a server of its own, in database `postgres`.
//!
//! Nodes find each other by the folders of their sockets, so that no port is used.

use crate::report::say;
use crate::server::builder::Builder;
use crate::server::installation;
use crate::server::process::Server;
use crate::server::session::Session;
use std::fmt;
use std::time::{Duration, Instant};

/// The setting `pg_mint.node` of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The group of the node in the cluster, written into its own `postgresql.conf`.
    Group,
    /// `citus`, the same on all.
    Citus,
    /// It is not set.
    Unset,
}

/// Settings of all nodes. Few shards, as each statement on all of them costs a task each; metadata is sent at once, and
/// moves of shards copy by logical replication.
const SETTINGS: [&str; 10] = [
    "citus.shard_count = 8",
    "citus.node_conninfo = 'sslmode=prefer'",
    "citus.metadata_sync_interval = '200ms'",
    "citus.metadata_sync_retry_interval = '200ms'",
    "citus.defer_shard_delete_interval = '1s'",
    // Each node ends the transactions that it has prepared on others.
    "citus.recover_2pc_interval = '1s'",
    "wal_level = logical",
    "max_connections = 200",
    "max_wal_senders = 20",
    // A standby can lag by half a window.
    "pg_mint.ceiling_window = '2s'",
];

/// Nodes of a cluster: the coordinator is the first.
pub struct Cluster {
    nodes: Vec<Server>,
    number: Number,
    settings: Vec<String>,
    /// The group that Citus gives to the next worker.
    next_group: usize,
}

impl Cluster {
    /// Starts a coordinator and workers with pg_mint, without a setting of their numbers. `None`, with a message, where the
    /// tree of `PG_CONFIG` has no Citus.
    #[must_use]
    pub fn start(name: &str, workers: usize) -> Option<Self> {
        Self::start_with(name, workers, Number::Unset, &[])
    }

    /// Starts a cluster whose nodes get their numbers in another way, with further settings on all.
    #[must_use]
    pub fn start_with(
        name: &str,
        workers: usize,
        number: Number,
        settings: &[&str],
    ) -> Option<Self> {
        if !is_installed(name) {
            return None;
        }
        let settings: Vec<String> = settings.iter().map(|&line| line.to_owned()).collect();
        let coordinator = builder(name, 0, number, &settings);
        let coordinator = coordinator.start_empty();
        introduce(&coordinator);
        let here = coordinator.socket().display().to_string();
        let mut session = coordinator.connect("postgres");
        session.run("CREATE EXTENSION citus; CREATE EXTENSION pg_mint");
        session.run(&format!(
            "SELECT citus_set_coordinator_host('{here}', 5432)"
        ));
        drop(session);
        let mut cluster = Self {
            nodes: vec![coordinator],
            number,
            settings,
            next_group: 1,
        };
        for _ in 0..workers {
            cluster.add_worker();
        }
        Some(cluster)
    }

    /// Creates the table `ev`, distributed by its column `tenant`, with ids of the node that evaluates their default.
    pub fn create_events(&self) {
        self.run(
            "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL);
             SELECT create_distributed_table('ev', 'tenant')",
        );
    }

    /// Inserts so many rows of each node into `ev`, and as many of the workers. Returns the number of all.
    pub fn insert_events(&self, rows: usize) -> usize {
        for mut session in self.sessions() {
            session.run(&format!(
                "INSERT INTO ev (tenant) SELECT n FROM generate_series(1, {rows}) AS n"
            ));
            session.run(&format!(
                "INSERT INTO ev (tenant) SELECT tenant FROM ev LIMIT {rows}"
            ));
        }
        2 * rows * self.count()
    }

    /// Starts a worker and adds it to the cluster. Returns its place among the nodes.
    pub fn add_worker(&mut self) -> usize {
        let group = self.next_group;
        let worker = builder(
            &format!("worker {group}"),
            group,
            self.number,
            &self.settings,
        );
        let worker = worker.start_empty();
        introduce(&worker);
        worker.run("CREATE EXTENSION citus");
        self.nodes.push(worker);
        let place = self.nodes.len() - 1;
        if self.number == Number::Group {
            // After a crash of the coordinator its sequence of groups skips some.
            let there = self.address(place);
            self.run(&format!(
                "SELECT citus_add_node('{there}', 5432, groupid := {group})"
            ));
        } else {
            self.add_node(place);
        }
        self.next_group += 1;
        place
    }

    /// Adds a server to the metadata: it becomes a worker of a new group.
    pub fn add_node(&self, place: usize) -> i32 {
        let added = format!("SELECT citus_add_node('{}', 5432)", self.address(place));
        self.session(0).one(&added)
    }

    /// Moves all shards off a worker and removes it from the metadata. Its server continues.
    pub fn remove_node(&self, place: usize) {
        let there = self.address(place);
        self.insist(&format!(
            "SELECT citus_drain_node('{there}', 5432, 'block_writes')"
        ));
        self.insist("CALL citus_cleanup_orphaned_resources()");
        self.insist(&format!("SELECT citus_remove_node('{there}', 5432)"));
    }

    /// Runs a command on the coordinator until it succeeds: under load, Citus's own can meet a lock or a change of each other.
    fn insist(&self, command: &str) {
        let mut coordinator = self.session(0);
        self.nodes[0].until_minted(|| coordinator.try_run(command));
    }

    /// Takes a server out of the cluster's list.
    pub fn discard(&mut self, place: usize) -> Server {
        self.nodes.remove(place)
    }

    /// Distributes the shards over all workers again.
    pub fn rebalance(&self) {
        self.insist("SELECT rebalance_table_shards(shard_transfer_mode := 'block_writes')");
    }

    /// Returns a standby of a node, which has all that the node has written.
    #[must_use]
    pub fn standby_of(&self, place: usize) -> Server {
        let standby = self.nodes[place].standby("a standby of a worker");
        self.nodes[place].wait_for(&standby);
        standby
    }

    /// Kills a worker, promotes its standby and tells the cluster where the group is now.
    pub fn fail_over(&mut self, place: usize, standby: Server) {
        let group = self.group(place);
        self.nodes[place].cut_power();
        standby.promote();
        self.move_group(group, place, standby);
    }

    /// Upgrades a worker to the version of `PG_CONFIG_NEW`; `before` sees the new server before Citus's tables are filled.
    /// `None`, with a message, where that is not set.
    pub fn upgrade(&mut self, place: usize, before: impl FnOnce(&Server)) -> Option<()> {
        let group = self.group(place);
        let old = &self.nodes[place];
        let mut session = old.connect("postgres");
        session.run("SELECT citus_prepare_pg_upgrade()");
        // Builds of 15 and 17 write an option of their own into every column, which other servers do not know.
        session.run(
            "UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '%pg_attver%'",
        );
        drop(session);
        old.stop_fast();
        let settings = "shared_preload_libraries = 'citus'\ncitus.node_conninfo = 'sslmode=prefer'\nwal_level = logical";
        let newer = old.upgraded("a worker is upgraded", "+0", settings)?;
        before(&newer);
        newer.run("SELECT citus_finish_pg_upgrade()");
        self.move_group(group, place, newer);
        Some(())
    }

    /// Puts a server in the place of a node, and tells the cluster where its group is now.
    fn move_group(&mut self, group: i32, place: usize, server: Server) {
        introduce(&server);
        let moved = format!(
            "SELECT citus_update_node(nodeid, '{}', 5432, force := true) FROM pg_dist_node WHERE groupid = {group} AND noderole = 'primary'",
            server.socket().display()
        );
        self.nodes[place].replace_by(server);
        self.insist(&moved);
        self.wait_for_metadata();
    }

    /// Starts a clone of a node and makes it known to the cluster. Returns it with its number in the metadata.
    #[must_use]
    pub fn clone_of(&self, place: usize) -> (Server, i32) {
        let clone = self.standby_of(place);
        let there = clone.socket().display().to_string();
        // Citus finds the replication of a clone whose host has no address by this name.
        clone.configure(&format!("cluster_name = '{there}'"));
        clone.restart();
        introduce(&clone);
        let added = format!(
            "SELECT citus_add_clone_node('{there}', 5432, '{}', 5432)",
            self.address(place)
        );
        let number = self.session(0).one(&added);
        self.nodes[place].wait_for(&clone);
        (clone, number)
    }

    /// Promotes a clone: it becomes a worker of a new group, with a part of the shards of its node.
    pub fn promote_clone(&self, number: i32) {
        self.run(&format!(
            "SELECT citus_promote_clone_and_rebalance({number})"
        ));
    }

    /// Waits until all nodes that run know all nodes.
    pub fn wait_for_metadata(&self) {
        let mut coordinator = self.session(0);
        self.nodes[0].until("metadata is synchronized", || {
            coordinator.one("SELECT bool_and(metadatasynced) FROM pg_dist_node WHERE isactive")
        });
    }

    /// Returns the node at a place; the coordinator is at 0.
    #[must_use]
    pub fn node(&self, place: usize) -> &Server {
        &self.nodes[place]
    }

    /// Returns how many nodes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Opens a session on a node.
    #[must_use]
    pub fn session(&self, place: usize) -> Session {
        self.nodes[place].connect("postgres")
    }

    /// Opens a session on each node.
    #[must_use]
    pub fn sessions(&self) -> Vec<Session> {
        (0..self.count()).map(|place| self.session(place)).collect()
    }

    fn address(&self, place: usize) -> String {
        self.nodes[place].socket().display().to_string()
    }

    /// Returns the group of a node, as the node itself knows it.
    #[must_use]
    pub fn group(&self, place: usize) -> i32 {
        self.session(place)
            .one("SELECT groupid FROM pg_dist_local_group")
    }

    /// Runs SQL on the coordinator.
    #[track_caller]
    pub fn run(&self, sql: &str) {
        self.session(0).run(sql);
    }

    /// Asserts that a table has so many rows and that none of its values occurs twice, counted over the cluster.
    #[track_caller]
    pub fn assert_unique(&self, table: &str, column: &str, rows: usize) {
        let mut session = self.session(0);
        let counts = |distinct: &str| format!("SELECT count({distinct}{column}) FROM {table}");
        let all: i64 = session.one(&counts(""));
        let different: i64 = session.one(&counts("DISTINCT "));
        assert_eq!(all, rows as i64, "rows of {table}");
        assert_eq!(different, all, "different values of {table}.{column}");
    }

    /// Returns the shards of the ids in a table, which are the numbers of the servers that generated them.
    #[must_use]
    pub fn shards_of(&self, table: &str, column: &str, layout: &str) -> Vec<i32> {
        self.session(0).column(&format!(
            "SELECT DISTINCT snowflake_shard({column}, '{layout}') FROM {table} ORDER BY 1"
        ))
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} nodes, {:?}", self.count(), self.number)
    }
}

/// Returns whether the tree of `PG_CONFIG` has Citus; says so where it has not.
#[must_use]
pub fn is_installed(name: &str) -> bool {
    let is_here = installation::has_extension("citus");
    if !is_here {
        say(format!(
            "SKIPPED {name}: the server has no Citus (make citus)"
        ));
    }
    is_here
}

/// Returns a server that has Citus loaded and is no member of a cluster yet.
#[must_use]
pub fn builder(name: &str, group: usize, number: Number, settings: &[String]) -> Builder {
    let mut builder = Server::build(name).conf("shared_preload_libraries = 'citus'");
    for line in SETTINGS {
        builder = builder.conf(line);
    }
    builder = match number {
        Number::Group => builder.conf(&format!("pg_mint.node = {group}")),
        Number::Citus => builder.conf("pg_mint.node = 'citus'"),
        Number::Unset => builder,
    };
    builder.conf(&settings.join("\n"))
}

/// Tells a server under which name it reaches itself.
pub fn introduce(server: &Server) {
    let here = server.socket().display().to_string();
    server.configure(&format!("citus.local_hostname = '{here}'"));
    let mut session = server.connect("postgres");
    session.run("SELECT pg_reload_conf()");
    let deadline = Instant::now() + Duration::from_secs(10);
    while session.one::<String>("SHOW citus.local_hostname") != here {
        assert!(Instant::now() < deadline, "the name is not read");
        std::thread::sleep(Duration::from_millis(10));
    }
}
