//! What is measured: pg_mint's generators, and what one would use instead.

use mint_cluster::{Server, Session};

/// One node has 2^18 ids a millisecond in it, so that no lane's capacity is measured.
pub const ROOMY: &str = "'time:41 node:4 seq:18 unit:1ms epoch:2024-01-01T00:00:00Z'";

/// A generator.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub name: &'static str,
    /// An expression, called for each row `i` of a series.
    pub call: String,
    /// Whether it is pg_mint's own.
    pub ours: bool,
}

fn ours(name: &'static str, call: impl Into<String>) -> Candidate {
    Candidate {
        name,
        call: call.into(),
        ours: true,
    }
}

fn theirs(name: &'static str, call: impl Into<String>) -> Candidate {
    Candidate {
        name,
        call: call.into(),
        ours: false,
    }
}

/// What there is to measure on this server, and what there is not, with the reason.
pub fn all(session: &mut Session) -> (Vec<Candidate>, Vec<String>) {
    let wanted = [
        ours(
            "snowflake_next_id",
            format!("snowflake_next_id(1, {ROOMY})"),
        ),
        ours(
            "snowflake_next_id, instagram, 8 shards",
            "snowflake_next_id(i & 7)",
        ),
        ours("uuid_v1", "uuid_v1()"),
        ours("uuid_v4", "uuid_v4()"),
        ours("uuid_v6", "uuid_v6()"),
        ours("uuid_v7", "uuid_v7()"),
        ours("objectid", "objectid()"),
        ours("segment_next", "segment_next('bench_segment')"),
        ours("ticket_next", "ticket_next('bench_ticket')"),
        ours(
            "user_sequence_next",
            "user_sequence_next('bench_family', i & 1023)",
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
        let call = &candidate.call;
        match session.try_one::<i64>(&format!("SELECT count({call}) FROM (SELECT 1) AS s(i)")) {
            Ok(_) => there.push(candidate),
            Err(refusal) => missing.push(format!("{}: {}", candidate.name, refusal.message)),
        }
    }
    (there, missing)
}

/// Makes what the candidates need. Extensions that the server does not have are left out.
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
        "SELECT segment_create('bench_segment', step => 2000)",
        "SELECT ticket_create('bench_ticket')",
        "SELECT user_sequence_create('bench_family')",
    ] {
        let _ = session.try_run(optional);
    }
    // The article's own function, as the tour has it.
    session.run("CREATE SCHEMA insta5");
    session.run(include_str!("../../docs/tour/article.sql"));
}
