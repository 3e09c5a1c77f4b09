//! The generators to measure: pg_mint's and their alternatives.

use mint_cluster::{Server, Session};

/// A layout with 2^17 ids a millisecond for each node, so that the capacity of a lane is not what is measured.
pub const ROOMY: &str = "'time:41 shard:5 seq:17 unit:1ms epoch:2024-01-01T00:00:00Z'";

/// The call of the quick start: one shard of the default layout.
pub const QUICK_START: &str = "snowflake_next_id(5)";
/// A shard for each of 64 sessions, in a layout with 65,536 ids a millisecond for each. Sessions that start one after the
/// other have consecutive process ids.
pub const APART: &str = "snowflake_next_id(pg_backend_pid() & 63, 'time:41 shard:6 seq:16 unit:1ms epoch:2024-01-01T00:00:00Z')";

/// A generator.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub name: &'static str,
    /// An expression.
    pub call: String,
    /// The argument for row `i`, which replaces `{}` in the call.
    pub argument: Option<String>,
    /// True if pg_mint has it.
    pub ours: bool,
}

impl Candidate {
    pub fn ours(name: &'static str, call: &str) -> Self {
        Self {
            name,
            call: call.to_owned(),
            argument: None,
            ours: true,
        }
    }

    pub fn theirs(name: &'static str, call: &str) -> Self {
        Self {
            ours: false,
            ..Self::ours(name, call)
        }
    }

    /// Gives the call an argument that differs from row to row.
    #[must_use]
    pub fn of(self, argument: &str) -> Self {
        Self {
            argument: Some(argument.to_owned()),
            ..self
        }
    }

    /// Returns the call for each row.
    pub fn expression(&self) -> String {
        let argument = self.argument.as_deref().unwrap_or_default();
        self.call.replace("{}", argument)
    }

    /// Returns a call that does nothing, with the same argument.
    pub fn empty(&self) -> String {
        match &self.argument {
            None => "pg_backend_pid()".to_owned(),
            Some(argument) => format!("abs({argument})"),
        }
    }

    /// Runs the call once.
    ///
    /// # Errors
    /// Why the server cannot run it.
    pub fn try_out(&self, session: &mut Session) -> Result<(), String> {
        let call = self.expression();
        session
            .try_one::<i64>(&format!("SELECT count({call}) FROM (SELECT 1) AS s(i)"))
            .map(|_| ())
            .map_err(|refusal| refusal.message)
    }
}

/// Returns the candidates that this server can run, and the reasons for those that it cannot.
pub fn all(session: &mut Session) -> (Vec<Candidate>, Vec<String>) {
    let ours = Candidate::ours;
    let theirs = Candidate::theirs;
    let wanted = [
        ours(QUICK_START, QUICK_START),
        ours(
            "snowflake_next_id, room",
            &format!("snowflake_next_id(1, {ROOMY})"),
        ),
        ours("snowflake_next_id, 8 shards", "snowflake_next_id({})").of("i & 7"),
        ours(
            "snowflake_next_in, 1 of 16",
            &format!("snowflake_next_in(1, 16, 3, {ROOMY})"),
        ),
        ours(
            "snowflake_next_id, scattered",
            &format!("snowflake_scatter(snowflake_next_id(1, {ROOMY}))"),
        ),
        ours("snowflake_next_id in SQL", "mint_sql.snowflake_next_id(1)"),
        ours("uuid_v7 in SQL", "mint_sql.uuid_v7()"),
        ours("uuid_v1", "uuid_v1()"),
        ours("uuid_v4", "uuid_v4()"),
        ours("uuid_v6", "uuid_v6()"),
        ours("uuid_v7", "uuid_v7()"),
        ours("objectid", "objectid()"),
        ours("segment_next", "segment_next('bench_segment')"),
        ours("ticket_next", "ticket_next('bench_ticket')"),
        ours(
            "user_sequence_next, 1024 users",
            "user_sequence_next('bench_family', {})",
        )
        .of("i & 1023"),
        ours(
            "id_conceal",
            "id_conceal({}, '\\x000102030405060708090a0b0c0d0e0f')",
        )
        .of("i"),
        ours(
            "auto_random of nextval",
            "auto_random(nextval('bench_plain'))",
        ),
        theirs("clock_timestamp", "clock_timestamp()"),
        theirs("nextval", "nextval('bench_plain')"),
        theirs("nextval, CACHE 1000", "nextval('bench_cached')"),
        theirs("gen_random_uuid", "gen_random_uuid()"),
        theirs("core uuidv7", "uuidv7()"),
        theirs("uuid-ossp v1", "uuid_generate_v1()"),
        theirs("uuid-ossp v4", "uuid_generate_v4()"),
        theirs("pg_uuidv7", "uuid_generate_v7()"),
        theirs("pgEdge snowflake", "snowflake.nextval('bench_plain')"),
        theirs("pgx_ulid", "gen_ulid()"),
        theirs("pg_idkit uuidv7", "idkit_uuidv7_generate()"),
        theirs("Instagram's PL/pgSQL", "insta5.next_id()"),
    ];
    let mut there = Vec::new();
    let mut missing = Vec::new();
    for candidate in wanted {
        match candidate.try_out(session) {
            Ok(()) => there.push(candidate),
            Err(reason) => missing.push(format!("{}: {reason}", candidate.name)),
        }
    }
    (there, missing)
}

/// Returns statements that create the function of Instagram's article, as in the tour.
pub fn instagram() -> String {
    let function = include_str!("../../docs/tour/article.sql");
    format!("CREATE SCHEMA insta5; {function}")
}

/// Creates the objects that candidates need, without extensions that the server does not have.
pub fn prepare(server: &Server) {
    let mut session = server.connect("postgres");
    session.run(
        "CREATE SEQUENCE bench_plain;
         CREATE SEQUENCE bench_cached CACHE 1000;",
    );
    for optional in [
        "CREATE EXTENSION \"uuid-ossp\"",
        "CREATE EXTENSION pg_uuidv7",
        "CREATE EXTENSION snowflake",
        "CREATE EXTENSION ulid",
        "CREATE EXTENSION pg_idkit",
        "CREATE EXTENSION pgstattuple",
        "SELECT segment_create('bench_segment')",
        "SELECT ticket_create('bench_ticket')",
        "SELECT user_sequence_create('bench_family')",
    ] {
        let _ = session.try_run(optional);
    }
    session.run(&instagram());
    session.run(concat!(
        "BEGIN;",
        include_str!("../../sql/managed/pg_mint_sql.sql"),
        "COMMIT; SELECT mint_sql.shard_create(1)"
    ));
}
