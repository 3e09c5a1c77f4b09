//! A cluster under load that goes through one fault after another: every node inserts all the time, and the ids of all rows
//! that clients saw, and of all rows that are in the tables, are different.

use crate::citus::cluster::{Cluster, Number};
use crate::faults::faults;
use crate::load::clients::{Answers, Clients, Group};
use crate::load::sessions::assert_unique;
use crate::rng::Rng;
use std::thread::sleep;
use std::time::Duration;

faults! {
    /// A fault of a node, or a change of the shards. A worker that is removed or added loses or gets shards.
    Fault {
        WorkerKilled: "kill -9 of a worker",
        WorkerReplaced: "a standby replaces a worker",
        WorkerRemoved: "a worker is removed",
        WorkerAdded: "a worker is added",
        WorkerRestarted: "a worker restarts",
        CoordinatorDown: "the coordinator is down",
        Rebalanced: "shards are rebalanced",
    }
}

/// Workers at the beginning, the fewest, and the most: each has sessions on each other.
const WORKERS: usize = 3;
const FEWEST: usize = 2;
const MOST: usize = 4;

/// The tables: distributed by the tenant, distributed by the id, and on all nodes.
const SCHEMA: &str = "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL);
    SELECT create_distributed_table('ev', 'tenant');
    CREATE TABLE by_id (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL);
    SELECT create_distributed_table('by_id', 'id');
    CREATE TABLE shared (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL);
    SELECT create_reference_table('shared');
    CREATE TABLE src (author bigint PRIMARY KEY);
    SELECT create_distributed_table('src', 'author');
    INSERT INTO src SELECT n FROM generate_series(1, 40) AS n";
const TABLES: [&str; 3] = ["ev", "by_id", "shared"];

/// The statements of the clients of each node, with values of their node, and of the workers.
const INSERTS: [&str; 3] = [
    "INSERT INTO ev (tenant) SELECT (random() * 1000)::bigint FROM generate_series(1, 10) RETURNING id",
    "INSERT INTO by_id (tenant) SELECT author FROM src RETURNING id",
    "INSERT INTO shared (tenant) VALUES (1), (2) RETURNING id",
];

/// Errors of Citus where a node is away, a shard moves, a killed worker has lost the files of a repartition, or a transaction met
/// one that was cut off. Ids do not cause them.
const DUE: [&str; 13] = [
    "08000", "08001", "08006", "25006", "40001", "40P01", "55006", "55P03", "57P01", "57P03",
    "58P01", "CIINF", "XX000",
];

/// A cluster, and what came of it so far.
pub struct Torture {
    cluster: Cluster,
    rng: Rng,
    /// Ids that clients saw and that were counted in the tables.
    pub ids: usize,
    pub refusals: usize,
    seen: Vec<Vec<i64>>,
}

impl Torture {
    /// Starts the cluster. `None`, with a message, where there is no Citus.
    #[must_use]
    pub fn begin(rng: Rng, number: Number) -> Option<Self> {
        let cluster = Cluster::start_with("torture of Citus", WORKERS, number, &[])?;
        cluster.run(SCHEMA);
        Some(Self {
            cluster,
            rng,
            ids: 0,
            refusals: 0,
            seen: Vec::new(),
        })
    }

    /// Returns whether a fault is possible in the cluster as it is now.
    #[must_use]
    pub fn is_possible(&self, fault: Fault) -> bool {
        let workers = self.cluster.count() - 1;
        match fault {
            Fault::WorkerRemoved => workers > FEWEST,
            Fault::WorkerAdded => workers < MOST,
            _ => true,
        }
    }

    /// Inflicts a fault while clients of all nodes insert, and counts all ids.
    #[track_caller]
    pub fn survive(&mut self, fault: Fault) {
        let groups = (0..self.cluster.count())
            .map(|place| Group::new(self.cluster.node(place).place(), &INSERTS))
            .collect();
        let clients = Clients::new(groups);
        let answers = clients.while_minting(|| {
            sleep(Duration::from_secs(1));
            self.inflict(fault, &clients);
            sleep(Duration::from_secs(1));
        });
        self.enter(fault, answers);
    }

    fn inflict(&mut self, fault: Fault, clients: &Clients) {
        let place = 1 + self.rng.below(self.cluster.count() - 1);
        let cluster = &mut self.cluster;
        match fault {
            Fault::WorkerKilled => {
                cluster.node(place).lose_power();
            }
            Fault::WorkerReplaced => {
                let standby = cluster.standby_of(place);
                cluster.fail_over(place, standby);
                clients.lead(place, &cluster.node(place).place());
            }
            Fault::WorkerRemoved => {
                // Its clients are those of another node from now on.
                clients.lead(place, &cluster.node(0).place());
                sleep(Duration::from_secs(1));
                cluster.remove_node(place);
                drop(cluster.discard(place));
            }
            Fault::WorkerAdded => {
                let new = cluster.add_worker();
                cluster.rebalance();
                cluster.session(new).run("SELECT count(*) FROM ev");
            }
            Fault::WorkerRestarted => cluster.node(place).restart(),
            Fault::CoordinatorDown => {
                cluster.node(0).cut_power();
                sleep(Duration::from_secs(1));
                cluster.node(0).start_again();
            }
            Fault::Rebalanced => cluster.rebalance(),
        }
    }

    /// Enters what clients saw, and counts the tables.
    #[track_caller]
    fn enter(&mut self, fault: Fault, answers: Answers) {
        for (code, (count, first)) in answers.refusals {
            assert!(DUE.contains(&code.as_str()), "{fault}: {first}");
            self.refusals += count;
        }
        self.seen.extend(answers.ids);
        assert_unique(&self.seen);
        self.settle();
        let stored = self.stored_ids();
        assert_unique([&stored]);
        self.ids = self.ids.max(stored.len());
    }

    /// Waits until the nodes that were away have finished their transactions.
    fn settle(&self) {
        let mut coordinator = self.cluster.session(0);
        self.cluster.node(0).until("transactions are recovered", || {
            coordinator
                .try_one::<i64>("SELECT sum(result::bigint)::bigint FROM run_command_on_all_nodes('SELECT count(*) FROM pg_prepared_xacts')")
                .is_ok_and(|count| count == 0)
        });
    }

    /// Returns the ids of all rows, of all tables.
    fn stored_ids(&self) -> Vec<i64> {
        let mut session = self.cluster.session(0);
        TABLES
            .iter()
            .flat_map(|table| session.column::<i64>(&format!("SELECT id FROM {table}")))
            .collect()
    }
}
