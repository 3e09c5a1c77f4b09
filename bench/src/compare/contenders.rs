//! The generators that are compared, each as its documentation says to use it.

use crate::candidates::{self, Candidate, ROOMY};
use mint_cluster::{Server, Session};

/// The way to find rows of a span of time by the id alone.
#[derive(Clone, Copy)]
pub enum ByTime {
    /// A range of the key, as a timestamp `{}` has a bound among ids.
    Range(&'static str),
    /// The timestamp of each row's id, as there is no such bound.
    Filter(&'static str),
    /// There is none: the id has no time.
    No,
}

impl ByTime {
    pub fn word(self) -> &'static str {
        match self {
            Self::Range(_) => "range",
            Self::Filter(_) => "each row",
            Self::No => "none",
        }
    }

    pub fn condition(self, at: &str) -> Option<String> {
        match self {
            Self::Range(condition) | Self::Filter(condition) => Some(condition.replace("{}", at)),
            Self::No => None,
        }
    }
}

/// The tables in which a generator is measured.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    All,
    /// It differs from another one in its calls only.
    Calls,
    /// It differs from another one in its dump only.
    Dump,
}

/// A generator. `{t}` in its texts is the name of a table.
#[derive(Clone)]
pub struct Contender {
    pub name: &'static str,
    pub ours: bool,
    /// The statements that a new database needs.
    setup: String,
    /// Statements before a table is created.
    before: &'static str,
    /// The type and default of its column `id`.
    column: &'static str,
    /// Statements after the table was created.
    after: &'static str,
    /// A call, for loops of calls.
    call: String,
    pub by_time: ByTime,
    /// The setting `pg_mint.session_cache`.
    pub cache: u32,
    pub part: Part,
    pub method: &'static str,
}

impl Contender {
    fn of(name: &'static str, setup: &str, column: &'static str, call: &str) -> Self {
        Self {
            name,
            ours: false,
            setup: setup.to_owned(),
            before: "",
            column,
            after: "",
            call: call.to_owned(),
            by_time: ByTime::No,
            cache: 1,
            part: Part::All,
            method: "",
        }
    }

    fn ours(name: &'static str, column: &'static str, call: &str) -> Self {
        Self {
            ours: true,
            ..Self::of(name, "CREATE EXTENSION IF NOT EXISTS pg_mint", column, call)
        }
    }

    fn by_time(self, by_time: ByTime) -> Self {
        Self { by_time, ..self }
    }

    /// Returns whether it is measured there.
    pub fn is_in(&self, part: Part) -> bool {
        self.part == Part::All || self.part == part
    }

    fn before(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    fn method(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    /// Prepares a database.
    ///
    /// # Errors
    /// Why the server has no such generator.
    pub fn set_up(&self, session: &mut Session) -> Result<(), String> {
        session
            .try_run(&self.setup)
            .map_err(|refusal| refusal.message)
    }

    /// Creates a table with columns `id`, `at` and `body`, without a key.
    ///
    /// # Errors
    /// Why the server has no such generator.
    pub fn create(&self, session: &mut Session, table: &str) -> Result<(), String> {
        let create = format!(
            "CREATE TABLE {{t}} (id {}, at timestamptz NOT NULL DEFAULT clock_timestamp(), body text)",
            self.column
        );
        for statement in [self.before, &create, self.after] {
            session
                .try_run(&statement.replace("{t}", table))
                .map_err(|refusal| refusal.message)?;
        }
        Ok(())
    }

    /// Drops a table, with what was created before it.
    pub fn drop(&self, session: &mut Session, table: &str) {
        session.run(&format!(
            "DROP TABLE IF EXISTS {table}; DROP SEQUENCE IF EXISTS {table}_id_seq"
        ));
    }

    /// Returns the call that makes ids of a table.
    pub fn call(&self, table: &str) -> String {
        self.call.replace("{t}", table)
    }

    /// Returns the generator as a candidate for loops of calls.
    pub fn candidate(&self, table: &str) -> Candidate {
        let of = if self.ours {
            Candidate::ours
        } else {
            Candidate::theirs
        };
        of(self.name, &self.call(table))
    }
}

/// Returns an INSERT of rows whose ids are made by the default of the column.
pub fn insert(table: &str, rows: u32) -> String {
    format!("INSERT INTO {table} (body) SELECT repeat('x', 40) FROM generate_series(1, {rows})")
}

const SNOWFLAKE: &str = "bigint DEFAULT snowflake_next_id(1, 'twitter')";
const SEQUENCE: &str = "CREATE SEQUENCE {t}_id_seq";

/// Returns a generator of pgEdge, whose column begins as this one.
fn pgedge(name: &'static str, column: &'static str) -> Contender {
    let setup = "CREATE EXTENSION IF NOT EXISTS snowflake";
    Contender {
        after: "SELECT snowflake.convert_sequence_to_snowflake('{t}_id_seq')",
        ..Contender::of(name, setup, column, "snowflake.nextval('{t}_id_seq')")
    }
    .by_time(ByTime::Filter(
        "snowflake.get_epoch(id) >= extract(epoch FROM timestamptz '{}')",
    ))
}

/// Returns all contenders, pg_mint's first.
#[rustfmt::skip]
fn all_contenders() -> Vec<Contender> {
    let of = Contender::of;
    let ours = Contender::ours;
    let roomy = format!("snowflake_next_id(1, {ROOMY})");
    let snowflake = ours("snowflake_next_id", SNOWFLAKE, &roomy).by_time(ByTime::Range("id >= snowflake_min('{}', 'twitter')"));
    vec![
        snowflake.clone().method("One shard. Tables: the layout 'twitter'; calls: one with 2^17 ids a millisecond, so that the capacity of a lane is not what is measured."),
        Contender { name: "snowflake_next_id, session_cache 100", cache: 100, ..snowflake }.method("The same with `pg_mint.session_cache = 100`."),
        Contender { part: Part::Calls, ..ours("snowflake_next_id, 'twitter'", SNOWFLAKE, "snowflake_next_id(1, 'twitter')") }
            .method("The calls with the layout of the tables: a lane has 4.1 million ids a second, and can be 2 s ahead of the clock (`pg_mint.max_ahead`)."),
        ours("uuid_v7", "uuid DEFAULT uuid_v7()", "uuid_v7()").by_time(ByTime::Range("id >= uuid_v7_min('{}')"))
            .method("The default of a `uuid`."),
        ours("objectid", "objectid DEFAULT objectid()", "objectid()").by_time(ByTime::Range("id >= objectid_min('{}')"))
            .method("The default of an `objectid`."),
        ours("segment_next", "bigint DEFAULT segment_next('{t}_id_seq')", "segment_next('{t}_id_seq')").before(SEQUENCE)
            .method("A sequence for each table, whose numbers are its own."),
        ours("ticket_next", "bigint DEFAULT ticket_next('{t}_id_seq')", "ticket_next('{t}_id_seq')").before("SELECT ticket_create('{t}_id_seq')")
            .method("A ticket for each table, whose numbers are its own."),
        of("identity", "", "bigint GENERATED ALWAYS AS IDENTITY", "nextval('{t}_id_seq')")
            .method("A sequence for each table, whose numbers are its own; the calls are of `nextval` on it."),
        of("core uuidv7", "", "uuid DEFAULT uuidv7()", "uuidv7()").by_time(ByTime::Filter("uuid_extract_timestamp(id) >= '{}'"))
            .method("The default of a `uuid`. PostgreSQL has no bound of a timestamp among UUIDs, so the timestamp of each row is compared."),
        of("gen_random_uuid", "", "uuid DEFAULT gen_random_uuid()", "gen_random_uuid()").method("The default of a `uuid`."),
        pgedge("pgEdge snowflake", "bigserial")
            .method("`snowflake.node = 1`. A `bigserial` of each table, converted by `snowflake.convert_sequence_to_snowflake`, as in the example of its documentation. \
                     It has no bound of a timestamp among ids, so the timestamp of each row is compared."),
        Contender { part: Part::Dump, ..pgedge("pgEdge snowflake, of an identity", "bigint GENERATED BY DEFAULT AS IDENTITY") }
            .method("The same with an identity, which its documentation recommends."),
        of("pg_uuidv7", "CREATE EXTENSION IF NOT EXISTS pg_uuidv7", "uuid DEFAULT uuid_generate_v7()", "uuid_generate_v7()")
            .by_time(ByTime::Range("id >= uuid_timestamptz_to_v7('{}', true)")).method("The default of a `uuid`."),
        of("pgx_ulid", "CREATE EXTENSION IF NOT EXISTS pgx_ulid", "ulid DEFAULT gen_ulid()", "gen_ulid()").by_time(ByTime::Range("id >= timestamptz '{}'::ulid"))
            .method("The default of its type `ulid`."),
        of("pgx_ulid, monotonic", "CREATE EXTENSION IF NOT EXISTS pgx_ulid", "ulid DEFAULT gen_monotonic_ulid()", "gen_monotonic_ulid()")
            .by_time(ByTime::Range("id >= timestamptz '{}'::ulid"))
            .method("The default of its type `ulid`; its library is in `shared_preload_libraries`, which this function needs."),
        of("pg_idkit UUIDv7", "CREATE EXTENSION IF NOT EXISTS pg_idkit", "uuid DEFAULT idkit_uuidv7_generate_uuid()", "idkit_uuidv7_generate_uuid()")
            .by_time(ByTime::Filter("idkit_uuidv7_extract_timestamptz(id::text) >= '{}'"))
            .method("The default of a `uuid`. It has no bound of a timestamp among UUIDs, so the timestamp of each row is compared; it reads it from text."),
        of("Instagram's PL/pgSQL", &candidates::instagram(), "bigint DEFAULT insta5.next_id()", "insta5.next_id()")
            .by_time(ByTime::Range("id >= (extract(epoch FROM timestamptz '{}') * 1000 - 1314220021721)::bigint << 23"))
            .method("The article's function and sequence, one for all tables of the schema, as there. The bound is computed by hand."),
    ]
}

/// Returns the contenders that this server has, prepared in database `postgres`, and the others with the reasons.
pub fn all(server: &Server) -> (Vec<Contender>, Vec<(&'static str, String)>) {
    let mut session = server.connect("postgres");
    let mut there = Vec::new();
    let mut missing = Vec::new();
    for contender in all_contenders() {
        let tried = contender.set_up(&mut session).and_then(|()| {
            contender.create(&mut session, "compare_try")?;
            session
                .try_run(&insert("compare_try", 1))
                .map_err(|refusal| refusal.message)
        });
        contender.drop(&mut session, "compare_try");
        match tried {
            Ok(()) => there.push(contender),
            Err(reason) => missing.push((contender.name, reason)),
        }
    }
    (there, missing)
}
