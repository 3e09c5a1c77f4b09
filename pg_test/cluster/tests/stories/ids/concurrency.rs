//! Many sessions on one lane and on many: no id occurs twice, and each session's ids ascend.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, count, say, short_form};

/// Layouts with few, more, and many ids for each tick.
const LAYOUTS: [&str; 3] = [
    "instagram",
    "twitter",
    "time:41 shard:4 seq:18 unit:1ms epoch:2024-01-01T00:00:00Z",
];

/// Returns a pgbench script of statements of many rows and of one. `n` counts a client's own ids.
fn script(shard: &str, layout: &str) -> String {
    let insert = format!(
        "INSERT INTO minted SELECT :client_id, :n + g, snowflake_next_id({shard}, '{layout}')"
    );
    format!(
        "{insert} FROM generate_series(1, 800) g;\n\\set n :n + 800\n\
         {insert} FROM generate_series(1, 1) g;\n\\set n :n + 1\n"
    )
}

/// Mints in two databases of one server at the same time, then checks all ids.
fn two_databases(sessions: usize) {
    let server = Server::build("two databases").alone().start();
    server.create_database("other");
    let databases = ["postgres", "other"];
    let transactions = count(128, 16) / (sessions / 8);
    let mut minted = 0;
    // The short form has many sessions on the first layout only.
    let layouts = if short_form() && sessions > 8 {
        &LAYOUTS[..1]
    } else {
        &LAYOUTS[..]
    };
    for layout in layouts {
        for (lanes, shard) in [
            ("a shared lane", "5"),
            ("separate lanes", ":client_id % 16"),
        ] {
            for database in databases {
                server.connect(database).run(
                    "DROP TABLE IF EXISTS minted; CREATE UNLOGGED TABLE minted (client int, n bigint, id bigint)",
                );
            }
            let script = &script(shard, layout);
            std::thread::scope(|scope| {
                for database in databases {
                    let server = &server;
                    scope.spawn(move || {
                        server.pgbench(database, script, sessions / 2, transactions)
                    });
                }
            });
            let mut session = server.connect("postgres");
            session.run(
                "DROP TABLE IF EXISTS everything; CREATE UNLOGGED TABLE everything (id bigint)",
            );
            for database in databases {
                let mut source = server.connect(database);
                let backwards: i64 = source.one(
                    "SELECT count(*) FROM (SELECT id <= lag(id) OVER (PARTITION BY client ORDER BY n) AS back FROM minted) m WHERE back",
                );
                assert_eq!(
                    backwards, 0,
                    "ids out of order within a session: {layout}, {lanes}, {database}"
                );
                source.copy("SELECT id FROM minted", &mut session, "everything");
            }
            let rows: i64 = session.one("SELECT count(*) FROM everything");
            assert_eq!(
                rows,
                (sessions * transactions * 801) as i64,
                "{layout}, {lanes}"
            );
            let distinct: i64 = session.one("SELECT count(DISTINCT id) FROM everything");
            assert_eq!(
                distinct,
                rows,
                "{} ids were issued twice: {layout}, {lanes}",
                rows - distinct
            );
            minted += rows;
        }
    }
    say(format!("{sessions} sessions: {minted} ids, each once"));
}

#[test]
fn eight_sessions_in_two_databases() {
    two_databases(8);
}

#[test]
fn thirty_two_sessions_in_two_databases() {
    two_databases(32);
}

/// One server, and every way of drawing from a lane at once.
#[test]
fn eight_connections_on_one_lane() {
    let server = Server::build("one lane").alone().start();
    one_by_one(&server);
    by_layouts_of_equal_ids(&server);
    by_chunks_and_one_by_one(&server);
    server
        .connect("postgres")
        .set_for_server("pg_mint.session_cache", "64");
    from_reservations(&server);
}

fn one_by_one(server: &Server) {
    let each = count(20_000, 1_500);
    let drawn = draw_at_once(server, "postgres", 8, |session, _| {
        (0..each)
            .map(|_| session.one("SELECT snowflake_next_id(7)"))
            .collect()
    });
    assert_sound(&drawn);
}

/// Layouts with the same fields in the same places could make equal ids, so their shards share a lane.
fn by_layouts_of_equal_ids(server: &Server) {
    let each = count(10_000, 1_000);
    let drawn = draw_at_once(server, "postgres", 8, |session, number| {
        let layout = ["twitter", "leaf"][number % 2];
        let next = format!("SELECT snowflake_next_id(3, '{layout}')");
        (0..each).map(|_| session.one(&next)).collect()
    });
    assert_sound(&drawn);
}

/// `snowflake_next_ids` takes many ids in one swap, beside calls for single ids on the same lane.
fn by_chunks_and_one_by_one(server: &Server) {
    let rounds = count(300, 30);
    let drawn = draw_at_once(server, "postgres", 8, |session, number| {
        let mut ids = Vec::new();
        for round in 0..rounds {
            let chunk = 1 + (number * 97 + round * 31) % 900;
            ids.extend(session.column::<i64>(&format!("SELECT snowflake_next_ids(7, {chunk})")));
            ids.push(session.one("SELECT snowflake_next_id(7)"));
        }
        ids
    });
    assert_sound(&drawn);
}

/// No other session gets the ids that a session has reserved, and those of a past tick are not used any more.
fn from_reservations(server: &Server) {
    let rounds = count(3_000, 300);
    let drawn = draw_at_once(server, "postgres", 8, |session, number| {
        let mut ids: Vec<i64> = Vec::new();
        for round in 0..rounds {
            ids.extend(match (number + round) % 5 {
                0 => session.column("SELECT snowflake_next_ids(7, 100)"),
                1 => session.column("SELECT snowflake_next_id(7) FROM generate_series(1, 150)"),
                _ => vec![session.one::<i64>("SELECT snowflake_next_id(7)")],
            });
        }
        ids
    });
    assert_sound(&drawn);
}

/// Layouts that differ only in their bits of time share lanes and reservations. Ids that the wider one reserved can be
/// past the end of the narrower one.
#[test]
fn a_reservation_does_not_outlive_a_layout() {
    let server = Server::start("reserved past the end");
    let mut session = server.connect("postgres");
    session.set_for_server("pg_mint.session_cache", "64");
    let next = |bits: u8| {
        format!(
            "SELECT snowflake_next_id(3, 'time:{bits} shard:10 seq:12 unit:3600s epoch:2020-01-01T00:00:00Z')"
        )
    };
    let first: i64 = session.one(&next(30));
    assert_eq!(session.refusal(&next(2)).code, "2200H");
    let second: i64 = session.one(&next(30));
    assert_eq!(second, first + 1, "not from the reservation");
}

#[test]
fn a_million_rows_in_one_statement_from_rest() {
    let server = Server::start("a million rows");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE big (id bigint)");
    session.run("INSERT INTO big SELECT snowflake_next_id(1) FROM generate_series(1, 1000000)");
    assert_eq!(
        session.one::<i64>("SELECT count(DISTINCT id) FROM big"),
        1_000_000
    );
}

/// Without time ahead of the clock, a full tick makes calls wait for the next one, and is never taken for a step back.
#[test]
fn a_full_tick_without_slack_is_never_an_error() {
    let server = Server::build("strict")
        .conf("pg_mint.max_ahead = 0")
        .conf("pg_mint.max_wait = 0")
        .start();
    let each = count(100_000, 25_000);
    let drawn = draw_at_once(&server, "postgres", 4, |session, number| match number {
        0 | 1 => session.column(&format!(
            "SELECT snowflake_next_id(1, 'twitter') FROM generate_series(1, {each})"
        )),
        2 => session.column(&format!("SELECT snowflake_next_ids(1, {each}, 'twitter')")),
        _ => (0..each / 10)
            .map(|_| session.one("SELECT snowflake_next_id(1, 'twitter')"))
            .collect(),
    });
    assert_sound(&drawn);
}
