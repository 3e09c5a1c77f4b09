//! Tenants of one server, who use up whatever they can, make and drop databases and are cut off at random, while their
//! neighbors mint. Every value that anybody saw is kept, and looked at in the end.

use crate::load::sessions::assert_unique;
use crate::rng::Dice;
use crate::server::process::Server;
use crate::server::session::{Refusal, Session};
use crate::tenants::greed::{Greed, MANY, draw_from_many};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Values that must not meet, by the space they are in.
type Values = BTreeMap<String, Vec<i64>>;

/// A server, and what was seen on it.
pub struct Neighbours {
    server: Server,
    seen: Values,
    dice: Dice,
    rounds: usize,
    /// How often an extension was made anew so far.
    made: AtomicUsize,
    /// How often each refusal came to a tenant.
    pub refusals: BTreeMap<String, usize>,
}

const TENANTS: usize = 2;
/// What a neighbor draws, the space of the values, and in which way it may be refused: not at all.
const CALM: [(&str, &str); 5] = [
    (
        "instagram 7",
        "SELECT snowflake_next_id(7) FROM generate_series(1, 30)",
    ),
    (
        "sonyflake 3",
        "SELECT snowflake_next_ids(3, 50, 'sonyflake')",
    ),
    (
        "tag of ",
        "SELECT segment_next('tag') FROM generate_series(1, 20)",
    ),
    (
        "user of ",
        "SELECT user_sequence_next('family', 7) FROM generate_series(1, 20)",
    ),
    ("ticket of ", "SELECT ticket_next('ticket')"),
];

const CREATE: &str =
    "CREATE EXTENSION pg_mint; SELECT segment_create('tag', 20); CREATE SEQUENCE plain;
    SELECT ticket_create('ticket'); SELECT user_sequence_create('family', 4, 20);
    GRANT USAGE ON SEQUENCE tag, ticket, plain TO PUBLIC; GRANT SELECT, INSERT ON family TO PUBLIC";

impl Neighbours {
    /// Starts the server.
    #[must_use]
    pub fn begin(dice: Dice) -> Self {
        let server = Server::build("neighbors")
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
            dice,
            rounds: 0,
            made: AtomicUsize::new(0),
            refusals: BTreeMap::new(),
        }
    }

    /// How many values were seen so far.
    #[must_use]
    pub fn values(&self) -> usize {
        self.seen.values().map(Vec::len).sum()
    }

    /// Lets tenants be greedy for a while, and checks everything.
    #[track_caller]
    pub fn survive(&mut self, greed: Greed, time: Duration) {
        self.rounds += 1;
        let (server, stop, round) = (&self.server, &AtomicBool::new(false), self.rounds);
        let seed = self.dice.below(1 << 30) as u64;
        let (dice, made) = (&mut self.dice, &self.made);
        let (mut seen, told) = std::thread::scope(|scope| {
            let calm: Vec<_> = (0..2)
                .map(|number| scope.spawn(move || mint(server, number, stop)))
                .collect();
            let greedy: Vec<_> = (0..TENANTS)
                .map(|number| {
                    scope.spawn(move || {
                        take(
                            server,
                            number,
                            greed,
                            round,
                            stop,
                            made,
                            Dice::seeded(seed + number as u64),
                        )
                    })
                })
                .collect();
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut seen = Values::new();
                let begun = Instant::now();
                // Ceilings are used up one by one, however long that takes.
                while begun.elapsed() < time
                    || greed == Greed::Ceilings && made.load(Ordering::Relaxed) < MANY
                {
                    if greed == Greed::Oids {
                        reuse_an_oid(server, &mut seen, dice);
                    }
                    cut_somebody_off(server, dice);
                    sleep(Duration::from_millis(if greed == Greed::Ceilings {
                        500
                    } else {
                        50
                    }));
                }
                seen
            }));
            stop.store(true, Ordering::Relaxed);
            let calm: Vec<_> = calm
                .into_iter()
                .map(|client| client.join().expect("a neighbor"))
                .collect();
            let greedy: Vec<_> = greedy
                .into_iter()
                .flat_map(|client| client.join().expect("a tenant"))
                .collect();
            let mut seen = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (values, refusals) in calm {
                if let Some(refusal) = refusals.first() {
                    panic!(
                        "{greed:?}: a neighbor was refused {} times, first: {refusal}",
                        refusals.len()
                    );
                }
                merge(&mut seen, values);
            }
            (seen, greedy)
        });
        for refusal in told {
            // What one database's own sessions do to each other's catalogs is the server's to say.
            let internal =
                refusal.code == "XX000" && !refusal.message.starts_with("tuple concurrently");
            assert!(!internal, "{greed:?}: a tenant was told {refusal}");
            *self.refusals.entry(refusal.code).or_default() += 1;
        }
        self.newcomers(&mut seen);
        if greed == Greed::Segments {
            self.short_sequence_lasts();
        }
        merge(&mut self.seen, seen);
        for (space, values) in &self.seen {
            let outcome = std::panic::catch_unwind(|| assert_unique([values]));
            assert!(outcome.is_ok(), "{greed:?}: not once in {space}");
        }
    }

    /// After all that was used up, who never minted finds room: a layout, nodes, a database, a sequence, a family.
    #[track_caller]
    fn newcomers(&self, seen: &mut Values) {
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
        // A role is sure of a few layouts of its own, and this one has made none.
        session.run(&format!("CREATE ROLE new{round} LOGIN"));
        let mut role = self.server.connect_as(&format!("new{round}"), "calm0");
        role.run(&format!(
            "SELECT snowflake_next_id(1, ('time:41 node:10 seq:12 unit:1ms epoch:2019-01-01T00:00:{:02}Z')::snowflake_layout)",
            round % 60
        ));
        drop(new);
        session.run(&format!("DROP DATABASE new{round} WITH (FORCE)"));
    }

    /// A short sequence that is seldom drawn from is not used up by what others draw.
    #[track_caller]
    fn short_sequence_lasts(&self) {
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

/// Draws of each kind once.
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

/// Whether this is what being cut off looks like.
fn is_cut_off(refusal: &Refusal) -> bool {
    refusal.is_loss() || refusal.code == "57014"
}

/// A neighbor, who keeps minting and is refused nothing.
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

/// A tenant, who takes what there is.
fn take(
    server: &Server,
    number: usize,
    greed: Greed,
    round: usize,
    stop: &AtomicBool,
    made: &AtomicUsize,
    mut dice: Dice,
) -> Vec<Refusal> {
    let me = format!("tenant{number}");
    let (mut refusals, mut session, mut turn) = (Vec::new(), None, 0);
    while !stop.load(Ordering::Relaxed) {
        let Some(open) = &mut session else {
            session = Session::open(&server.config(&me, &me)).ok();
            sleep(Duration::from_millis(5));
            continue;
        };
        turn += 1;
        // Most of the time what this round is about, and else whatever comes.
        let what = if dice.below(8) == 0 && greed != Greed::Ceilings {
            dice.pick(&Greed::ALL)
        } else {
            greed
        };
        let offset = (number * 40 + round) * 100_000 + turn * 500;
        for sql in what.statements(&me, turn, offset) {
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

/// A database takes the oid of another that is gone, and the server stops at once.
fn reuse_an_oid(server: &Server, seen: &mut Values, dice: &mut Dice) {
    const OID: u32 = 99_961;
    let owner = dice.pick(&["postgres", "tenant0"]);
    for life in 0..2 {
        server
            .connect("postgres")
            .run("DROP DATABASE IF EXISTS again WITH (FORCE)");
        let mut session = server.connect_as(owner, "postgres");
        let strategy = dice.pick(&["file_copy", "wal_log"]);
        // A tenant may be copying the template at this moment, which is all that this is refused for.
        let create =
            format!("CREATE DATABASE again OID = {OID} TEMPLATE pattern STRATEGY {strategy}");
        server.until_minted(|| session.try_run(&create));
        // Its sequences are new: a space of their own for each life.
        let name = format!("again, life {}", dice.below(usize::MAX >> 16));
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
            crate::tenants::neighbors::draw(&mut there, &name, seen)
                .unwrap_or_else(|refusal| panic!("{refusal}"));
        };
        draw(seen, [70_000, 10][life]);
        if life == 1 {
            server.stop_immediate();
            server.start_again();
            draw(seen, 10);
        }
    }
}

/// A statement or a session of somebody ends.
fn cut_somebody_off(server: &Server, dice: &mut Dice) {
    let way = dice.pick(&[
        "pg_cancel_backend",
        "pg_cancel_backend",
        "pg_terminate_backend",
    ]);
    if let Ok(mut session) = server.place().try_connect() {
        let _ = session.try_run(&format!(
            "SELECT {way}(pid) FROM pg_stat_activity WHERE usename <> 'postgres' ORDER BY random() LIMIT 1"
        ));
    }
}
