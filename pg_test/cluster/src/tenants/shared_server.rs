//! Tenants of one server that use up whatever they can, create and drop databases and are cut off at random, while their
//! neighbors mint. Every value that a session got is kept and checked at the end.

use crate::load::sessions::{assert_unique, run_then_stop};
use crate::rng::Rng;
use crate::server::process::Server;
use crate::server::session::{Refusal, Session};
use crate::tenants::resources::{MANY, Resource, draw_from_many};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Values by their space, within which none must occur twice.
type Values = BTreeMap<String, Vec<i64>>;

/// A server, and the values that were drawn on it.
pub struct SharedServer {
    server: Server,
    seen: Values,
    rng: Rng,
    rounds: usize,
    /// How often a tenant has recreated the extension so far.
    made: AtomicUsize,
    /// How often tenants got each SQLSTATE.
    pub refusals: BTreeMap<String, usize>,
}

const TENANTS: usize = 2;
/// The space of the values and the statement of each kind that neighbors draw. None must be refused.
#[rustfmt::skip]
const CALM: [(&str, &str); 5] = [
    ("instagram 7", "SELECT snowflake_next_id(7) FROM generate_series(1, 30)"),
    ("sonyflake 3", "SELECT snowflake_next_ids(3, 50, 'sonyflake')"),
    ("tag of ", "SELECT segment_next('tag') FROM generate_series(1, 20)"),
    ("user of ", "SELECT user_sequence_next('family', 7) FROM generate_series(1, 20)"),
    ("ticket of ", "SELECT ticket_next('ticket')"),
];

const CREATE: &str =
    "CREATE EXTENSION pg_mint; SELECT segment_create('tag', 20); CREATE SEQUENCE plain;
    SELECT ticket_create('ticket'); SELECT user_sequence_create('family', 4, 20);
    GRANT USAGE ON SEQUENCE tag, ticket, plain TO PUBLIC; GRANT SELECT, INSERT ON family TO PUBLIC";

impl SharedServer {
    /// Starts the server.
    #[must_use]
    pub fn begin(rng: Rng) -> Self {
        let server = Server::build("tenants")
            .conf("pg_mint.max_lanes = 1024")
            .conf("pg_mint.max_sections = 256")
            .start_empty();
        let mut session = server.connect("postgres");
        session.run("CREATE ROLE app LOGIN");
        for database in ["calm0", "calm1", "pattern"] {
            session.run(&format!("CREATE DATABASE {database}"));
            server.connect(database).run(CREATE);
        }
        session.run("ALTER DATABASE pattern IS_TEMPLATE true");
        for tenant in 0..TENANTS {
            session.run(&format!("CREATE ROLE tenant{tenant} LOGIN CREATEDB"));
            session.run(&format!(
                "CREATE DATABASE tenant{tenant} OWNER tenant{tenant}"
            ));
        }
        drop(session);
        Self {
            server,
            seen: Values::new(),
            rng,
            rounds: 0,
            made: AtomicUsize::new(0),
            refusals: BTreeMap::new(),
        }
    }

    /// Returns the number of values seen so far.
    #[must_use]
    pub fn values(&self) -> usize {
        self.seen.values().map(Vec::len).sum()
    }

    /// Lets tenants exhaust what they can for a while, and checks all values.
    #[track_caller]
    pub fn survive(&mut self, resource: Resource, time: Duration) {
        self.rounds += 1;
        let (mut seen, refusals) = self.run_round(resource, time);
        for refusal in refusals {
            // Concurrent DDL of one database's own sessions can fail this way without the extension.
            let internal =
                refusal.code == "XX000" && !refusal.message.starts_with("tuple concurrently");
            assert!(!internal, "{resource:?}: a tenant got {refusal}");
            *self.refusals.entry(refusal.code).or_default() += 1;
        }
        self.admit_newcomers(&mut seen);
        if resource == Resource::Segments {
            self.assert_short_sequence_lasts();
        }
        merge(&mut self.seen, seen);
        for (space, values) in &self.seen {
            let outcome = std::panic::catch_unwind(|| assert_unique([values]));
            assert!(outcome.is_ok(), "{resource:?}: a value twice in {space}");
        }
    }

    /// Runs neighbors and tenants side by side. Returns the values that neighbors got and the errors that tenants got.
    #[track_caller]
    fn run_round(&mut self, resource: Resource, time: Duration) -> (Values, Vec<Refusal>) {
        let (server, stop, made) = (&self.server, &AtomicBool::new(false), &self.made);
        let (round, seed) = (self.rounds, self.rng.below(1 << 30) as u64);
        let rng = &mut self.rng;
        std::thread::scope(|scope| {
            let calm: Vec<_> = (0..2)
                .map(|number| scope.spawn(move || mint(server, number, stop)))
                .collect();
            let consumers: Vec<_> = (0..TENANTS)
                .map(|number| Tenant {
                    number,
                    resource,
                    round,
                    rng: Rng::seeded(seed + number as u64),
                })
                .map(|tenant| scope.spawn(move || tenant.exhaust(server, stop, made)))
                .collect();
            let mut seen = run_then_stop(stop, || disturb(server, rng, resource, time, made));
            for client in calm {
                let (values, refusals) = client.join().expect("a neighbor");
                if let Some(refusal) = refusals.first() {
                    panic!(
                        "{resource:?}: a neighbor was refused {} times, first: {refusal}",
                        refusals.len()
                    );
                }
                merge(&mut seen, values);
            }
            let refusals = consumers
                .into_iter()
                .flat_map(|client| client.join().expect("a tenant"))
                .collect();
            (seen, refusals)
        })
    }

    /// Asserts that after everything was used up there is room for a new layout, node, database, sequence and family.
    #[track_caller]
    fn admit_newcomers(&self, seen: &mut Values) {
        let round = self.rounds;
        let mut session = self.server.connect("postgres");
        session.run(&format!("CREATE DATABASE new{round}"));
        let mut new = self.server.connect(&format!("new{round}"));
        new.run(CREATE);
        draw(&mut new, &format!("new{round}"), seen)
            .unwrap_or_else(|refusal| panic!("a new database is refused: {refusal}"));
        let calm = &mut self.server.connect_as("app", "calm0");
        for node in 0..8 {
            let node = 100 + 8 * (round % 100) + node;
            calm.run(&format!("SELECT snowflake_next_id({node}, 'twitter')"));
        }
        // Each role has room for a few layouts of its own, and this role has created none.
        session.run(&format!("CREATE ROLE new{round} LOGIN"));
        let mut role = self.server.connect_as(&format!("new{round}"), "calm0");
        role.run(&format!(
            "SELECT snowflake_next_id(1, ('time:41 shard:10 seq:12 unit:1ms epoch:2019-01-01T00:00:{:02}Z')::snowflake_layout)",
            round % 60
        ));
        drop(new);
        session.run(&format!("DROP DATABASE new{round} WITH (FORCE)"));
    }

    /// Asserts that others' draws do not use up a short sequence that is seldom drawn from.
    #[track_caller]
    fn assert_short_sequence_lasts(&self) {
        let mut calm = self.server.connect("calm0");
        calm.run("DROP SEQUENCE IF EXISTS short; CREATE SEQUENCE short AS smallint");
        let mut tenant = self.server.connect_as("tenant0", "tenant0");
        for drawn in 0..30 {
            let _ = tenant.try_run(&draw_from_many(0));
            let value = calm.try_one::<i64>("SELECT segment_next('short')");
            value.unwrap_or_else(|refusal| {
                panic!("a smallint is used up after {drawn} values: {refusal}")
            });
        }
    }
}

fn merge(into: &mut Values, from: Values) {
    for (space, values) in from {
        into.entry(space).or_default().extend(values);
    }
}

/// Draws once of each kind.
fn draw(session: &mut Session, database: &str, seen: &mut Values) -> Result<(), Refusal> {
    for (space, sql) in CALM {
        let space = if space.ends_with(' ') {
            format!("{space}{database}")
        } else {
            space.to_owned()
        };
        let values = session.try_column::<i64>(sql)?;
        seen.entry(space).or_default().extend(values);
    }
    Ok(())
}

/// Returns whether the statement or its session was ended by another session.
fn is_cut_off(refusal: &Refusal) -> bool {
    refusal.is_loss() || refusal.code == "57014"
}

/// Mints as a neighbor until told to stop.
fn mint(server: &Server, number: usize, stop: &AtomicBool) -> (Values, Vec<Refusal>) {
    let database = format!("calm{number}");
    let (mut seen, mut refusals, mut session) = (Values::new(), Vec::new(), None);
    while !stop.load(Ordering::Relaxed) {
        let Some(open) = &mut session else {
            session = Session::open(&server.config(&database, "app")).ok();
            sleep(Duration::from_millis(5));
            continue;
        };
        match draw(open, &database, &mut seen) {
            Ok(()) => {}
            Err(refusal) if is_cut_off(&refusal) => session = None,
            Err(refusal) => refusals.push(refusal),
        }
    }
    (seen, refusals)
}

/// Cuts sessions off at random until the time is up, and reuses oids where the round is about them.
fn disturb(
    server: &Server,
    rng: &mut Rng,
    resource: Resource,
    time: Duration,
    made: &AtomicUsize,
) -> Values {
    let mut seen = Values::new();
    let begun = Instant::now();
    // Ceilings are used up one by one, however long that takes.
    let is_over = || {
        begun.elapsed() >= time
            && (resource != Resource::Ceilings || made.load(Ordering::Relaxed) >= MANY)
    };
    let pause = if resource == Resource::Ceilings {
        500
    } else {
        50
    };
    while !is_over() {
        if resource == Resource::Oids {
            reuse_an_oid(server, &mut seen, rng);
        }
        cut_a_session_off(server, rng);
        sleep(Duration::from_millis(pause));
    }
    seen
}

/// A tenant that uses up what it can.
struct Tenant {
    number: usize,
    resource: Resource,
    round: usize,
    rng: Rng,
}

impl Tenant {
    fn exhaust(mut self, server: &Server, stop: &AtomicBool, made: &AtomicUsize) -> Vec<Refusal> {
        let me = format!("tenant{}", self.number);
        let (mut refusals, mut session, mut turn) = (Vec::new(), None, 0);
        while !stop.load(Ordering::Relaxed) {
            let Some(open) = &mut session else {
                session = Session::open(&server.config(&me, &me)).ok();
                sleep(Duration::from_millis(5));
                continue;
            };
            turn += 1;
            // Mostly the round's own kind, sometimes any.
            let resource = if self.rng.below(8) == 0 && self.resource != Resource::Ceilings {
                self.rng.pick(&Resource::ALL)
            } else {
                self.resource
            };
            let offset = (self.number * 40 + self.round) * 100_000 + turn * 500;
            for sql in resource.statements(&me, turn, offset) {
                match open.try_run(&sql) {
                    Ok(()) if sql.starts_with("DROP EXTENSION") => {
                        made.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(()) => {}
                    Err(refusal) if refusal.is_loss() => {
                        session = None;
                        break;
                    }
                    Err(refusal) => refusals.push(refusal),
                }
            }
        }
        refusals
    }
}

/// Creates a database under the oid of a dropped one, draws in it, and crashes the server.
fn reuse_an_oid(server: &Server, seen: &mut Values, rng: &mut Rng) {
    const OID: u32 = 99_961;
    let owner = rng.pick(&["postgres", "tenant0"]);
    for life in 0..2 {
        server.run("DROP DATABASE IF EXISTS again WITH (FORCE)");
        let mut session = server.connect_as(owner, "postgres");
        let strategy = rng.pick(&["file_copy", "wal_log"]);
        // The only reason to refuse this is a tenant that copies the template at the same time.
        let create =
            format!("CREATE DATABASE again OID = {OID} TEMPLATE pattern STRATEGY {strategy}");
        server.until_minted(|| session.try_run(&create));
        // The sequences are new for each life, and so is their space.
        let name = format!("again, life {}", rng.below(usize::MAX >> 16));
        let draw = |seen: &mut Values, many: usize| {
            let mut there = server.connect("again");
            let plain: Vec<i64> =
                there.column("SELECT nextval('plain') FROM generate_series(1, 4)");
            let space = seen.entry(format!("plain of {name}")).or_default();
            space.extend(plain);
            space.extend(
                there.column::<i64>("SELECT segment_next('plain') FROM generate_series(1, 4)"),
            );
            let _ = there.one::<i64>(&format!(
                "SELECT count(snowflake_next_id(3, 'sonyflake')) FROM (SELECT generate_series(1, {many})) t"
            ));
            crate::tenants::shared_server::draw(&mut there, &name, seen)
                .unwrap_or_else(|refusal| panic!("{refusal}"));
        };
        draw(seen, [70_000, 10][life]);
        if life == 1 {
            server.crash();
            draw(seen, 10);
        }
    }
}

/// Cancels a statement or terminates a session, chosen at random.
fn cut_a_session_off(server: &Server, rng: &mut Rng) {
    let way = rng.pick(&[
        "pg_cancel_backend", "pg_cancel_backend", "pg_terminate_backend",
    ]);
    if let Ok(mut session) = server.place().try_connect() {
        let _ = session.try_run(&format!(
            "SELECT {way}(pid) FROM pg_stat_activity WHERE usename <> 'postgres' ORDER BY random() LIMIT 1"
        ));
    }
}
