//! A registry of nodes and the servers that are its members.

use crate::report::say;
use crate::server::builder::Builder;
use crate::server::installation;
use crate::server::process::Server;
use crate::server::session::{Refusal, Session};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server that grants leases of nodes. Members find it by a link, which another server can take over.
pub struct Registry {
    /// The server that is the registry now.
    pub server: Server,
    /// The folder with the link to the server's directory.
    folder: TempDir,
    /// The link, where members look for the server's socket.
    link: PathBuf,
    /// The database that is the registry now.
    pub database: String,
    /// Length of a lease.
    pub lease: Duration,
}

/// How long a registry that can have forgotten something grants nothing new.
pub const QUARANTINE: Duration = Duration::from_secs(70);
/// The setting of a member that mints with any node that the registry grants.
pub const AUTO: &str = "pg_mint.node = 'auto'";

impl Registry {
    /// Starts a registry with leases of `lease` seconds. `None`, with a message, where there is no dblink.
    #[must_use]
    pub fn start(story: &str, lease: u64) -> Option<Self> {
        Self::start_with(Server::build(story), lease)
    }

    /// Starts a registry on a server of this kind.
    #[must_use]
    pub fn start_with(builder: Builder, lease: u64) -> Option<Self> {
        if !installation::has_extension("dblink") {
            say(format!(
                "SKIPPED {}: this server tree has no dblink, which members need",
                builder.name()
            ));
            return None;
        }
        let server = builder.distinct().start();
        let mut session = server.connect("postgres");
        session.run("CREATE ROLE member LOGIN");
        create_registry(&mut session, lease);
        let folder = tempfile::Builder::new()
            .prefix("mint.link.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let registry = Self {
            server,
            link: folder.path().join("registry"),
            folder,
            database: "postgres".to_owned(),
            lease: Duration::from_secs(lease),
        };
        registry.point_link();
        Some(registry)
    }

    fn point_link(&self) {
        let next = self.folder.path().join("next");
        std::os::unix::fs::symlink(self.server.path(), &next).expect("a link");
        std::fs::rename(next, &self.link).expect("a link can be replaced");
        installation::give_to_server(self.folder.path());
    }

    /// Returns the directory of the socket of the server that is the registry at any time.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.link
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
        let mut session = member.connect("postgres");
        session.run("CREATE EXTENSION dblink");
        self.create_server(&mut session, "registry", "postgres");
        member
    }

    /// Creates a foreign server by which a member's database asks the registry in database `registry`.
    pub fn create_server(&self, session: &mut Session, name: &str, registry: &str) {
        session.run(&format!(
            "CREATE SERVER {name} FOREIGN DATA WRAPPER dblink_fdw
                 OPTIONS (host '{}', port '5432', dbname '{registry}', connect_timeout '3');
             CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'member')",
            self.link.display()
        ));
    }

    /// Starts a member that mints with any node that the registry grants.
    #[must_use]
    pub fn auto(&self, name: &str) -> Server {
        self.admit(Server::build(name).conf(AUTO))
    }

    /// Starts a member that mints with these nodes.
    #[must_use]
    pub fn fixed(&self, name: &str, nodes: &str) -> Server {
        self.admit(Server::build(name).conf(&format!("pg_mint.nodes = '{nodes}'")))
    }

    /// Makes another server the registry. The old one is stopped and removed.
    pub fn move_to(&mut self, server: Server) {
        self.server.replace_by(server);
        self.point_link();
    }

    /// Opens a superuser's session on the registry.
    #[must_use]
    pub fn connect(&self) -> Session {
        self.server.connect(&self.database)
    }

    /// Waits until all current leases have ended, and their nodes are free.
    pub fn wait_for_leases(&self) {
        std::thread::sleep(self.lease * 5 / 4 + Duration::from_millis(100));
    }

    /// Returns how long it takes at most until a member gets the node of another one that is gone.
    #[must_use]
    pub fn takeover(&self) -> Duration {
        self.lease * 5 / 4 + Duration::from_secs(3)
    }

    /// Returns how long it takes at most until a member that asks gets a lease, whatever the registry has forgotten.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        QUARANTINE + self.takeover() + Duration::from_secs(10)
    }

    /// Returns whether the registry is in quarantine and has noticed it.
    #[must_use]
    pub fn is_in_quarantine(&self) -> bool {
        self.connect()
            .one("SELECT quarantine > clock_timestamp() FROM mint_registry.registry")
    }

    /// Ends the quarantine, as an operator does who knows that nothing was forgotten.
    pub fn end_quarantine(&self) {
        self.connect().run("SELECT mint.registry_end_quarantine()");
    }
}

/// Creates a registry in the session's database, for the role `member`, with leases of `lease` seconds.
pub fn create_registry(session: &mut Session, lease: u64) {
    create_registry_in_quarantine(session, lease);
    session.run("SELECT mint.registry_end_quarantine()");
}

/// Creates a registry as [`create_registry`] does, and leaves it in the quarantine in which it begins.
pub fn create_registry_in_quarantine(session: &mut Session, lease: u64) {
    session.run(&format!("SELECT mint.registry_create('{lease} s')"));
    // Members need this privilege and no other.
    session.run("GRANT INSERT ON mint_registry.nodes TO member");
}

/// Retries until the server mints. Returns the id and the time it took.
#[track_caller]
pub fn first_id(server: &Server, sql: &str) -> (i64, Duration) {
    let begun = Instant::now();
    let mut session = server.connect("postgres");
    let id = server.until_minted(|| session.try_one(sql));
    (id, begun.elapsed())
}

/// Asserts that a member refuses to mint for want of a lease, for the given reason, without a long wait.
#[track_caller]
pub fn assert_refused(refusal: &Refusal, words: &str) {
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(refusal.to_string().contains(words), "{words}: {refusal}");
    assert!(refusal.after < Duration::from_secs(2), "{refusal}");
}
