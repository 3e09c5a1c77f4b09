//! A tenant that owns one database uses up shared resources, while the others continue to mint.

use mint_cluster::{Server, Session, assert_ascending, assert_unique, count, say};
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Starts a server with a database of one tenant beside that of the others.
fn server_with_tenant(name: &str, conf: &[&str]) -> Server {
    let server = Server::build(name).conf(&conf.join("\n")).start();
    let mut eve = server.owned_database("eve", "evedb");
    eve.run("CREATE EXTENSION pg_mint");
    server
}

fn eve(server: &Server) -> Session {
    server.connect_as("eve", "evedb")
}

/// Uses all shards of a layout, or thousands of layouts.
const ALL_LANES: &str =
    "SELECT count(snowflake_next_id(shard, 'sonyflake')) FROM generate_series(0, 65535) AS shard";
const LAYOUTS: &str = "CREATE FUNCTION lay(i int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    RETURN snowflake_next_id(0, ('time:41 shard:10 seq:12 epoch:' || to_char(timestamp '2001-01-01' + i * interval '1 second',
        'YYYY-MM-DD\"T\"HH24:MI:SS') || 'Z')::snowflake_layout);
    EXCEPTION WHEN configuration_limit_exceeded THEN RETURN NULL; END $$;
    SELECT count(lay(i)) FROM generate_series(1, 5000) i";

#[test]
fn lanes_of_others_are_never_refused() {
    let server = server_with_tenant("lanes", &["pg_mint.max_lanes = 1024"]);
    let mut eve = eve(&server);
    eve.run(ALL_LANES);
    eve.run(LAYOUTS);
    let refused: i64 =
        eve.one("SELECT count(*) FILTER (WHERE lay(i) IS NULL) FROM generate_series(1, 5000) i");
    assert!(
        refused > 4_000,
        "only {refused} of 5000 layouts were refused"
    );
    let refusal = eve.refusal(
        "SELECT snowflake_next_id(0, 'time:41 shard:10 seq:12 epoch:1999-01-01T00:00:00Z')",
    );
    assert_eq!(refusal.code, "53400", "{refusal}");
    assert_eq!(
        refusal.detail,
        "All lanes are in use, including those that custom layouts share and the 2 reserved for this role."
    );
    let mut other = server.connect("postgres");
    // Built-in layouts always have a lane, and a layout of this database's own finds one as well.
    let ids: Vec<i64> =
        other.column("SELECT snowflake_next_id(4321) FROM generate_series(1, 1000)");
    assert_ascending(&ids);
    let own: Vec<i64> = other.column(
        "SELECT snowflake_next_id(1, 'time:41 shard:10 seq:12 epoch:2011-11-11T11:11:11Z') FROM generate_series(1, 1000)",
    );
    assert_ascending(&own);
    // So does a new session, which has no cached lanes.
    let again: Vec<i64> =
        server.column("SELECT snowflake_next_id(4321) FROM generate_series(1, 1000)");
    assert_unique([&ids, &again]);
}

/// The extension is recreated many times in one database, with an id each time.
#[test]
fn ceilings_of_others_are_never_refused() {
    let server = server_with_tenant("ceilings", &[]);
    let mut session = eve(&server);
    for _ in 0..count(60, 12) {
        session.run("DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint");
        session.run("SELECT snowflake_next_id(5)");
    }
    let ceilings: i64 = server.one("SELECT count(*) FROM mint.ceilings WHERE database = 'evedb'");
    assert_eq!(ceilings, 1);
    server.create_database("late");
    assert!(
        server
            .connect("late")
            .one::<i64>("SELECT snowflake_next_id(5)")
            > 0
    );
}

#[test]
fn sections_of_others_stay() {
    let server = server_with_tenant("sections", &["pg_mint.max_sections = 64"]);
    let mut eve = eve(&server);
    eve.run("SELECT user_sequence_create('many', 500)");
    let mut other = server.connect("postgres");
    other.run("SELECT user_sequence_create('box', 1)");
    let mut numbers = Vec::new();
    for _ in 0..5 {
        numbers.push(other.one::<i64>("SELECT user_sequence_next('box', 1)"));
        eve.run("SELECT count(user_sequence_next('many', uid)) FROM generate_series(1, 20000) uid");
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(other.one::<bool>("SELECT section_evictions >= 436 FROM mint.stats"));
}

/// The memory of users grows to a size that takes seconds to allocate at once, while others mint.
#[test]
fn growth_of_the_memory_of_users_delays_no_session() {
    let server = server_with_tenant("users", &["pg_mint.user_memory = '2GB'"]);
    eve(&server).run("SELECT user_sequence_create('box', 1)");
    let longest = std::thread::scope(|scope| {
        let drawing = scope.spawn(|| {
            let mut eve = eve(&server);
            eve.run(&format!(
                "SELECT count(user_sequence_next('box', uid)) FROM generate_series(1, {}) uid",
                count(3_000_000, 500_000)
            ));
        });
        let mut longest = Duration::ZERO;
        let mut shard = 0;
        while !drawing.is_finished() {
            let begun = Instant::now();
            let mut other = server.connect("postgres");
            let connected = begun.elapsed();
            shard += 1;
            // A new lane, a ceiling to be raised now and then, and a segment.
            other.run(&format!(
                "SET statement_timeout = '2s'; SELECT snowflake_next_id({})",
                shard % 8_000
            ));
            longest = longest.max(begun.elapsed() - connected);
        }
        drawing.join().expect("the tenant draws");
        longest
    });
    // On two busy cores a statement can wait for a core, but not for a second.
    assert!(longest < Duration::from_secs(1), "an id took {longest:?}");
}

/// Databases with sequences of other servers take a part of the background workers, and give them back.
#[test]
fn background_workers_are_left_to_others() {
    let server = server_with_tenant(
        "workers",
        &["max_worker_processes = 8", "pg_mint.max_wait = 0"],
    );
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE pattern");
    let mut pattern = server.connect("pattern");
    if pattern.try_run("CREATE EXTENSION dblink").is_err() {
        say("SKIPPED workers: this server tree has no dblink");
        return;
    }
    // Accepts connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    pattern.run(&format!(
        "CREATE SERVER srv FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '127.0.0.1', port '{port}');
         CREATE USER MAPPING FOR PUBLIC SERVER srv OPTIONS (user 'x', password 'y');
         CREATE EXTENSION pg_mint; SELECT segment_create('orders', step => 100, source => 'srv')"
    ));
    drop(pattern);
    let draw = |number: usize| {
        let mut session = server.connect(&format!("taker{number}"));
        let refusal = session.refused("SELECT segment_next('orders')", "55000");
        refusal.detail
    };
    for number in 0..7 {
        session.run(&format!("CREATE DATABASE taker{number} TEMPLATE pattern"));
    }
    let runs = "The foreign server has not responded yet.";
    let details: Vec<String> = (0..7).map(draw).collect();
    assert!(
        details[..3].iter().all(|detail| detail == runs),
        "{details:?}"
    );
    let refused = details[3..].iter();
    let refused = refused.filter(|detail| detail.starts_with("No background worker was free"));
    assert_eq!(refused.count(), 4, "{details:?}");
    let workers: i64 = session
        .one("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'pg_mint segments'");
    assert_eq!(workers, 3);
    // They end when the source does not respond.
    server.until("a worker for the last one", || draw(6) == runs);
    // Workers that have failed leave a turn to others.
    let all = || (0..7).map(draw).collect::<Vec<String>>();
    server.until("all have failed", || {
        let failed = |detail: &String| detail.starts_with("The last request failed");
        all().iter().all(failed)
    });
    server.until("they ask again", || {
        let details = all();
        let many = details.iter().filter(|&detail| detail == runs).count();
        assert!(many < 3, "{details:?}");
        many == 2
    });
}
