//! A registry of nodes, and servers that are its members.

use crate::report::say;
use crate::server::installation;
use crate::server::process::{Builder, Server};
use crate::server::session::{Refusal, Session};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that lends nodes. Its members find it by a name of its own, which another server can take over.
pub struct Registry {
    /// Which server it is now.
    pub server: Server,
    /// Where members look for its socket: a link to the directory of the server.
    door: TempDir,
    /// How long a slice is.
    pub slice: Duration,
}

/// The line by which a member mints as whatever node it is given.
pub const AUTO: &str = "pg_mint.node = 'auto'";

impl Registry {
    /// Starts a registry with slices of so many seconds. `None`, said out loud, where there is no dblink.
    #[must_use]
    pub fn start(story: &str, slice: u64) -> Option<Self> {
        Self::start_with(Server::build(story), slice)
    }

    /// Starts a registry on a server of this kind.
    #[must_use]
    pub fn start_with(builder: Builder, slice: u64) -> Option<Self> {
        if !installation::has_extension("dblink") {
            say(format!(
                "SKIPPED {}: this server tree has no dblink, by which members ask",
                builder.name()
            ));
            return None;
        }
        let server = builder.distinct().start();
        let mut session = server.connect("postgres");
        session.run(&format!("SELECT snowflake_create_registry('{slice} s')"));
        session.run("SELECT snowflake_end_quarantine()");
        // What a member needs, and nothing else.
        session.run("CREATE ROLE member LOGIN");
        for function in ["snowflake_claim_nodes", "snowflake_release_claim"] {
            session.run(&format!("GRANT EXECUTE ON FUNCTION {function} TO member"));
        }
        let door = tempfile::Builder::new()
            .prefix("mint.door.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let registry = Self {
            server,
            door,
            slice: Duration::from_secs(slice),
        };
        registry.open_door();
        Some(registry)
    }

    fn open_door(&self) {
        let next = self.door.path().join("next");
        std::os::unix::fs::symlink(self.server.path(), &next).expect("a link");
        std::fs::rename(next, self.door.path().join("registry")).expect("a link can be replaced");
        installation::give_to_server(self.door.path());
    }

    /// Starts a server as a member.
    #[must_use]
    pub fn admit(&self, builder: Builder) -> Server {
        let named = format!("cluster_name = '{}'", builder.name());
        let member = builder
            .distinct()
            .conf(&named)
            .conf("pg_mint.registry = 'registry'")
            .start_beside(&self.server);
        member.connect("postgres").run(&format!(
            "CREATE EXTENSION dblink;
             CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw
                 OPTIONS (host '{}', port '5432', dbname 'postgres', connect_timeout '3');
             CREATE USER MAPPING FOR postgres SERVER registry OPTIONS (user 'member')",
            self.door.path().join("registry").display()
        ));
        member
    }

    /// A member that mints as whatever node it is given.
    #[must_use]
    pub fn auto(&self, name: &str) -> Server {
        self.admit(Server::build(name).conf(AUTO))
    }

    /// A member that mints as these nodes.
    #[must_use]
    pub fn fixed(&self, name: &str, nodes: &str) -> Server {
        self.admit(Server::build(name).conf(&format!("pg_mint.nodes = '{nodes}'")))
    }

    /// Members find another server from now on. The old one is stopped and removed.
    pub fn move_to(&mut self, server: Server) {
        self.server.replace_by(server);
        self.open_door();
    }

    /// A session of the registry's superuser.
    #[must_use]
    pub fn connect(&self) -> Session {
        self.server.connect("postgres")
    }

    /// Lets all slices pass that are held now.
    pub fn wait_for_slices(&self) {
        std::thread::sleep(self.slice + Duration::from_millis(100));
    }
}

/// Mints until it is not refused any more, and says how long that was.
#[track_caller]
pub fn first_id(server: &Server, sql: &str) -> (i64, Duration) {
    let begun = Instant::now();
    let mut session = server.connect("postgres");
    let id = server.until_minted(|| session.try_one(sql));
    (id, begun.elapsed())
}

/// A member has no node, says why, and says it soon.
#[track_caller]
pub fn assert_refused(refusal: &Refusal, words: &str) {
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(refusal.to_string().contains(words), "{words}: {refusal}");
    assert!(refusal.after < Duration::from_secs(2), "{refusal}");
}
