//! The shared memory of lanes: creation by any session's first call, crashes, and full tables.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, assert_ascending, assert_unique, count};

/// Lets forty sessions make the first call at the same time, after every start.
fn race_for_the_first_use(preload: bool) {
    let server = Server::build("first use").preload(preload).start();
    let rounds = count(6, 4);
    let mut all = Vec::new();
    for round in 0..rounds {
        let drawn = draw_at_once(&server, "postgres", 40, |session, number| {
            // One lane that all share, and one for a few sessions.
            let mut ids: Vec<i64> =
                session.column("SELECT snowflake_next_id(1) FROM generate_series(1, 100)");
            ids.extend(session.column::<i64>("SELECT snowflake_next_ids(1, 100)"));
            session.run(&format!("SELECT snowflake_next_id({})", 2 + number % 4));
            ids
        });
        assert_eq!(drawn.iter().map(Vec::len).sum::<usize>(), 40 * 200);
        assert_sound(&drawn);
        all.extend(drawn);
        // The lanes outlive the sessions.
        let next: i64 = server.one("SELECT snowflake_next_id(1)");
        let last = all.iter().flatten().max();
        assert!(Some(&next) > last, "{next} after {last:?}");
        all.push(vec![next]);
        match round % 3 {
            // One killed process resets the shared memory of the server.
            0 => server.kill9(server.connect("postgres").pid),
            1 => server.crash(),
            _ => server.restart(),
        }
    }
    assert_unique(&all);
}

#[test]
fn forty_sessions_race_for_the_first_use() {
    race_for_the_first_use(false);
}

#[test]
fn forty_sessions_race_for_the_first_use_preloaded() {
    race_for_the_first_use(true);
}

/// A size that is set before the memory is made counts at once; a later one from the next start on.
#[test]
fn a_size_that_is_in_use_takes_effect_at_the_next_start() {
    let server = Server::start("sizes");
    let mut session = server.connect("postgres");
    session.set_for_server("pg_mint.max_lanes", "32");
    let mint = "SELECT count(snowflake_next_id(g)) FROM generate_series(1, 100) g";
    let lanes = "SELECT count(*) FROM mint.lanes WHERE shard IS NOT NULL";
    session.run(mint);
    assert!(session.one::<i64>(lanes) <= 32);
    session.set_for_server("pg_mint.max_lanes", "64");
    session.run(mint);
    assert!(session.one::<i64>(lanes) <= 32);
    server.restart();
    let mut session = server.connect("postgres");
    session.run(mint);
    assert!(session.one::<i64>(lanes) > 32);
}

#[test]
fn a_larger_setting_takes_as_much_more_memory() {
    let server = Server::start("sizes");
    let size = || {
        server.run("SELECT uuid_v7()");
        server.one::<i32>("SELECT substring(detail FROM '(\\d+) kB')::int FROM mint.health() WHERE check_name = 'memory'")
    };
    let mut before = size();
    let mut rest = before - 1_024;
    for (setting, more) in [
        ("max_lanes = 16384", 1_024),
        ("max_sections = 8192", 352),
        ("max_segments = 2048", 192),
        // Users have 1 MB at first, which is all that they can have by the least setting.
        ("user_memory = 1024", 0),
    ] {
        let mut session = server.connect("postgres");
        session.run("LOAD 'pg_mint'");
        session.run(&format!("ALTER SYSTEM SET pg_mint.{setting}"));
        server.restart();
        let after = size();
        assert_eq!(after - before, more, "{setting}");
        before = after;
        rest -= more;
    }
    assert!(
        (450..550).contains(&rest),
        "{rest} kB that no setting changes"
    );
}

/// Sessions that create lanes at the same time create no more than the maximum, and none twice. Lanes are never freed, so
/// when the table is full, further shards of a layout share one lane.
#[test]
fn eight_sessions_race_for_the_last_lanes() {
    let server = Server::build("last lanes")
        .conf("pg_mint.max_lanes = 32768")
        .start();
    for _ in 0..count(6, 3) {
        let drawn = draw_at_once(&server, "postgres", 8, |session, number| {
            session.column(&format!(
                "SELECT CASE shard WHEN snowflake_shard(id, 'sonyflake') THEN id ELSE -id END
                 FROM (SELECT shard, snowflake_next_id(shard, 'sonyflake') AS id
                     FROM generate_series({number}, 65535, 8) AS shard OFFSET 0) AS i"
            ))
        });
        assert_unique(&drawn);
        let foreign = drawn.iter().flatten().filter(|id| **id < 0).count();
        assert_eq!(foreign, 0, "ids of another shard");
        let lanes: Vec<i64> =
            server.column("SELECT count(*) FROM mint.lanes GROUP BY shard IS NULL ORDER BY 1");
        assert_eq!(lanes, [1, 32_768], "shared lanes, and lanes of one shard");
        server.restart();
    }
}

/// A session that is new mints under the bounds that others have published, without the sequence's lock, but only if its page
/// has what was published.
#[test]
fn a_new_session_joins_the_published_bounds() {
    const NEXT: &str = "SELECT snowflake_next_id(7)";
    let server = Server::build("joins")
        // Nobody writes the page meanwhile.
        .conf("pg_mint.ceiling_window = '5s'")
        .start();
    let set_back = || {
        server
            .log()
            .matches("was set back and has been raised")
            .count()
    };
    let mut first = server.connect("postgres");
    let mut all: Vec<i64> = vec![first.one(NEXT)];
    let mut other = server.connect("postgres");
    other.run("BEGIN; ALTER SEQUENCE mint.time_ceiling RESTART WITH 5");
    let mut joined = server.connect("postgres");
    joined.run("SET lock_timeout = '100ms'");
    all.push(joined.one(NEXT));
    other.run("COMMIT");
    all.push(joined.one(NEXT));
    assert_eq!(set_back(), 1, "its file");
    other.run("SELECT setval('mint.time_ceiling', 5)");
    all.push(server.one(NEXT));
    assert_eq!(set_back(), 2, "its value");
    let floor: i64 =
        other.one("SELECT setval('mint.time_ceiling', last_value + 1) FROM mint.time_ceiling");
    let mut last = server.connect("postgres");
    all.push(server.until_minted(|| last.try_one(NEXT)));
    let time = format!(
        "SELECT (extract(epoch FROM snowflake_time({})) * 1000000)::bigint",
        all[4]
    );
    assert!(last.one::<i64>(&time) >= floor / 1_000 * 1_000);
    assert_ascending(&all);
}
