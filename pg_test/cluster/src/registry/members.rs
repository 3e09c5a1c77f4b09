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
    /// The server that is the registry now. Its clock can be set.
    pub server: Server,
    /// The folder with the link to the server's directory.
    folder: TempDir,
    /// The link, where members look for the server's socket.
    link: PathBuf,
    /// The database that is the registry now.
    pub database: String,
}

/// Length of a lease.
pub const LEASE: Duration = Duration::from_secs(30);
/// The time in which a registry that can have forgotten leases grants nothing new.
pub const WAIT: Duration = Duration::from_secs(35);
/// The setting of a member that mints with a node of the registry.
pub const AUTO: &str = "pg_mint.node = 'auto'";

impl Registry {
    /// Starts a registry, which grants at once. `None`, with a message, where there is no dblink.
    #[must_use]
    pub fn start(story: &str) -> Option<Self> {
        Self::start_with(Server::build(story))
    }

    /// Starts a registry on a server of this kind.
    #[must_use]
    pub fn start_with(builder: Builder) -> Option<Self> {
        if !installation::has_extension("dblink") {
            say(format!(
                "SKIPPED {}: this server tree has no dblink, which members need",
                builder.name()
            ));
            return None;
        }
        let server = builder.with_clock().distinct().start();
        let mut session = server.connect("postgres");
        session.run("CREATE ROLE member LOGIN");
        create_registry(&mut session);
        let folder = tempfile::Builder::new()
            .prefix("mint.link.")
            .tempdir_in(installation::temporary_directory())
            .expect("a temporary directory");
        let registry = Self {
            server,
            link: folder.path().join("registry"),
            folder,
            database: "postgres".to_owned(),
        };
        registry.point_link();
        registry.end_wait();
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
            .start();
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

    /// Starts a member that mints with a node of the registry.
    #[must_use]
    pub fn auto(&self, name: &str) -> Server {
        self.admit(Server::build(name).conf(AUTO))
    }

    /// Makes another server the registry. The old one is stopped and removed.
    pub fn move_to(&mut self, server: Server) {
        self.server.replace_by(server);
        self.point_link();
    }

    /// Lets members find another server, while the one that was the registry lives on.
    #[must_use]
    pub fn switch_to(&mut self, server: Server) -> Server {
        let before = self.server.replaced_by(server);
        self.point_link();
        before
    }

    /// Opens a superuser's session on the registry.
    #[must_use]
    pub fn connect(&self) -> Session {
        self.server.connect(&self.database)
    }

    /// Asks the registry for a node of 13 bits as nobody in particular, and returns its answer.
    #[must_use]
    pub fn ask(&self) -> String {
        request(&mut self.connect(), 13, r#"{"grant": 1}"#)
    }

    /// Lets the wait pass, of which a story is not about: it begins and ends again, in the past.
    pub fn end_wait(&self) {
        end_wait(&self.server, &mut self.connect());
    }
}

/// As [`Registry::end_wait`], of a registry in any database. The request of a member can begin the wait first, by the time as
/// it is: then once more.
pub fn end_wait(server: &Server, session: &mut Session) {
    const DETAIL: &str = "SELECT detail FROM mint.health() WHERE check_name = 'registry'";
    server.until("the end of the wait", || {
        server.shift_time(&format!("-{}", WAIT.as_secs() + 1));
        session.run("UPDATE mint.registry SET run = NULL");
        let answer = request(session, 13, r#"{"grant": 1}"#);
        server.shift_time("+0");
        assert!(answer.contains("wait"), "{answer}");
        !session
            .one::<String>(DETAIL)
            .contains("grants no new leases")
    });
}

/// Creates a registry in the session's database, for the role `member`.
pub fn create_registry(session: &mut Session) {
    session.run(
        "SELECT mint.registry_create(); GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member",
    );
}

/// Sends a request to the registry of the session's database: a demand, as JSON.
#[track_caller]
pub fn request(session: &mut Session, width: u32, demand: &str) -> String {
    session.one(&format!("SELECT {}::text", request_sql(width, demand)))
}

/// Returns the call of such a request.
#[must_use]
pub fn request_sql(width: u32, demand: &str) -> String {
    format!(
        "mint.registry_request(jsonb_build_object('protocol', 1, 'holder', 'x', 'width', {width}, 'demand', '{demand}'::jsonb,
             'clock', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))"
    )
}

/// Retries until the server mints. Returns the id and the time it took.
#[track_caller]
pub fn first_id(server: &Server, sql: &str) -> (i64, Duration) {
    let begun = Instant::now();
    let mut session = server.connect("postgres");
    let id = server.until_minted(|| session.try_one(sql));
    (id, begun.elapsed())
}

/// Waits until a statement is refused for want of a lease, for this reason.
#[track_caller]
pub fn refused_for(server: &Server, sql: &str, words: &str) -> Refusal {
    let mut session = server.connect("postgres");
    let mut refusal = None;
    server.until(words, || {
        refusal = session.try_one::<i64>(sql).err();
        refusal
            .as_ref()
            .is_some_and(|refusal| refusal.to_string().contains(words))
    });
    refusal.expect("a refusal")
}

/// Asserts that a member refuses to mint for want of a lease, for the given reason, without a long wait.
#[track_caller]
pub fn assert_refused(refusal: &Refusal, words: &str) {
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(refusal.to_string().contains(words), "{words}: {refusal}");
    assert!(refusal.after < Duration::from_secs(2), "{refusal}");
}
