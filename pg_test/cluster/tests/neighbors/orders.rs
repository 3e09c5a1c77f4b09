//! An extension in the same database, created first and last, each in a server of its own; what it is for, on a table with
//! our defaults; and a dump of that, restored.

use crate::row::Neighbor;
use mint_cluster::{Server, Session};

/// An extension of the table of neighbors.
pub struct Extension {
    neighbor: Neighbor,
    /// Its name for `CREATE EXTENSION`.
    name: &'static str,
    /// Lines of postgresql.conf.
    conf: String,
}

/// The work of an extension.
type Work = fn(&Server, &mut Session);

/// Keys of each kind, and their rows.
const TABLE: &str = "CREATE TABLE item (
        id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), uuid uuid NOT NULL UNIQUE DEFAULT uuid_v7(),
        oid objectid NOT NULL UNIQUE DEFAULT objectid(), ulid text NOT NULL UNIQUE DEFAULT ulid(), body text
    );
    INSERT INTO item (body) SELECT 'x' FROM generate_series(1, 1000)";

/// Conditions on the time of each kind of id, which all rows meet.
const OF_NOW: &str = "SELECT count(*) FROM item WHERE snowflake_time(id) > now() - interval '1 hour' AND uuid_v7_time(uuid) > now() - interval '1 hour'
    AND objectid_between(oid, now() - interval '1 hour', 'infinity') AND ulid_time(ulid) > now() - interval '1 hour'";

fn rows(session: &mut Session) -> i64 {
    session.one(OF_NOW)
}

impl Extension {
    /// Describes an extension by its name in the table, what is done beside it, and its name for `CREATE EXTENSION`.
    pub fn new(shown: &'static str, what: &'static str, name: &'static str) -> Self {
        Self {
            neighbor: Neighbor { name: shown, what },
            name,
            conf: String::new(),
        }
    }

    /// Loads it when the server starts, before pg_mint, with more lines of postgresql.conf.
    pub fn preloaded(mut self, more: &str) -> Self {
        let name = self.name;
        self.conf = format!("shared_preload_libraries = '{name}, pg_mint'\n{more}");
        self
    }

    /// Runs all, in both orders; skipped where the tree does not have it.
    pub fn run(&self, work: Work) {
        let build = |order: &str| {
            Server::build(&format!("{} {order}", self.neighbor.name))
                .conf(&format!("max_worker_processes = 20\n{}", self.conf))
        };
        if !self.neighbor.is_there(self.name) {
            return;
        }
        let first = build("first").start_empty();
        self.one(&first, [self.name, "pg_mint"], work);
        let last = build("last").start_empty();
        let version = self.one(&last, ["pg_mint", self.name], work);

        let restored = build("restored").start_empty();
        restored.restore("postgres", "postgres", &first.dump("postgres", "postgres"));
        let mut session = restored.connect("postgres");
        let before = rows(&mut first.connect("postgres"));
        assert_eq!(rows(&mut session), before, "rows of the restored dump");
        session.run("INSERT INTO item (body) SELECT 'later' FROM generate_series(1, 1000)");
        assert_eq!(rows(&mut session), before + 1000);
        self.neighbor.works(&version);
    }

    /// Creates both in this order, and returns the version of the neighbor.
    fn one(&self, server: &Server, order: [&str; 2], work: Work) -> String {
        let mut session = server.connect("postgres");
        for name in order {
            session.run(&format!("CREATE EXTENSION {name}"));
        }
        session.run(TABLE);
        assert_eq!(rows(&mut session), 1000, "rows of the last hour");
        work(server, &mut session);
        let name = self.name;
        session.one(&format!(
            "SELECT extversion FROM pg_extension WHERE extname = '{name}'"
        ))
    }
}
