//! Many sessions on one lane and on many: no id occurs twice, and each session's ids ascend, those of
//! a tick that it keeps open too.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, Session, assert_ascending, assert_unique, count};

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
#[test]
fn thirty_two_sessions_in_two_databases() {
    const SESSIONS: usize = 32;
    let server = Server::build("two databases").alone().start();
    server.create_database("other");
    let databases = ["postgres", "other"];
    let transactions = count(32, 4);
    for layout in LAYOUTS {
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
                        server.pgbench(database, script, SESSIONS / 2, transactions)
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
                (SESSIONS * transactions * 801) as i64,
                "{layout}, {lanes}"
            );
            let distinct: i64 = session.one("SELECT count(DISTINCT id) FROM everything");
            assert_eq!(
                distinct,
                rows,
                "{} ids were issued twice: {layout}, {lanes}",
                rows - distinct
            );
        }
    }
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
    session.refused(&next(2), "2200H");
    let second: i64 = session.one(&next(30));
    assert_eq!(second, first + 1, "not from the reservation");
}

#[test]
fn a_million_rows_in_one_statement_from_rest() {
    let server = Server::start("a million rows");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE big (id bigint)");
    session.run("INSERT INTO big SELECT snowflake_next_id(1) FROM generate_series(1, 1000000)");
    let distinct: i64 = session.one("SELECT count(DISTINCT id) FROM big");
    assert_eq!(distinct, 1_000_000);
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

/// Ticks that stay open for the whole story.
const LONG: &str = "time:20 shard:10 seq:30 unit:600s epoch:2024-01-01T00:00:00Z";
/// The same epoch, so that both have their ticks at the same place.
const OTHER_LONG: &str = "time:20 shard:12 seq:30 unit:600s epoch:2024-01-01T00:00:00Z";

/// Returns whether an id's time is after the clock.
fn is_ahead(session: &mut Session, id: i64) -> bool {
    session.one(&format!("SELECT snowflake_time({id}) > clock_timestamp()"))
}

#[test]
fn a_lower_limit_ends_a_tick_ahead_of_the_clock() {
    let server = Server::start("open tick limit");
    let mut session = server.connect("postgres");
    let mut other = server.connect("postgres");
    let mint = |session: &mut Session| session.one::<i64>("SELECT snowflake_next_id(5)");
    let mut ids = vec![mint(&mut session)];
    other.run("SELECT snowflake_start_above(snowflake_min(now() + '1.9 s') + (5 << 10))");
    ids.push(mint(&mut session));
    ids.push(mint(&mut session));
    assert!(is_ahead(&mut session, ids[2]));
    other.set_for_server("pg_mint.max_ahead", "0");
    ids.push(mint(&mut session));
    assert!(!is_ahead(&mut session, ids[3]), "a tick outlived max_ahead");
    assert_ascending(&ids);
}

#[test]
fn a_reservation_ends_an_open_tick() {
    let server = Server::start("open tick cache");
    let mut session = server.connect("postgres");
    let mut other = server.connect("postgres");
    let next = format!("SELECT snowflake_next_id(5, '{LONG}')");
    let mut ids: Vec<i64> = vec![session.one(&next), session.one(&next)];
    other.set_for_server("pg_mint.session_cache", "16");
    ids.push(session.one(&next));
    let beyond: i64 = other.one(&next);
    assert!(beyond > ids[2] + 1, "nothing was reserved");
    other.set_for_server("pg_mint.session_cache", "1");
    for _ in 0..40 {
        ids.push(session.one(&next));
    }
    ids.push(beyond);
    assert_unique([&ids]);
}

/// Layouts and shards that meet in one call site, with refused calls and rollbacks in between.
#[test]
fn call_sites_with_changing_arguments_repeat_nothing() {
    let server = Server::start("open tick sites");
    let mut session = server.connect("postgres");
    session.run(&format!(
        "CREATE TABLE calls (n serial, layout snowflake_layout, shard int, id bigint);
         CREATE FUNCTION by_plpgsql(int, snowflake_layout) RETURNS bigint LANGUAGE plpgsql
             AS 'BEGIN RETURN snowflake_next_id($1, $2); END';
         CREATE FUNCTION by_sql(int, snowflake_layout) RETURNS bigint LANGUAGE sql
             AS 'SELECT snowflake_next_id($1, $2)';
         CREATE FUNCTION of_row() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN NEW.id := snowflake_next_id(NEW.shard, NEW.layout); RETURN NEW; END';
         CREATE TABLE rows (LIKE calls INCLUDING DEFAULTS);
         ALTER TABLE rows ALTER n SET DEFAULT 0;
         CREATE TRIGGER of_row BEFORE INSERT ON rows FOR EACH ROW EXECUTE FUNCTION of_row();
         CREATE TABLE defaults (n serial, id bigint DEFAULT snowflake_next_id(7, '{LONG}'));
         PREPARE call (int, snowflake_layout) AS
             INSERT INTO calls (layout, shard, id) VALUES ($2, $1, snowflake_next_id($1, $2));"
    ));
    for round in 0..30 {
        for name in ["snowflake_next_id", "by_plpgsql", "by_sql"] {
            session.run(&format!(
                "INSERT INTO calls (layout, shard, id) SELECT l, s, {name}(s, l)
                 FROM unnest(ARRAY['{LONG}', 'instagram', '{OTHER_LONG}']::snowflake_layout[]) l,
                      generate_series(0, 1023, 511) s, generate_series(1, 3)"
            ));
        }
        session.run(&format!(
            "EXECUTE call(7, '{LONG}'); EXECUTE call(8, '{OTHER_LONG}'); EXECUTE call(7, 'twitter')"
        ));
        for shard in ["1024", "NULL"] {
            let refused = session.try_one::<i64>(&format!("SELECT by_sql({shard}, '{LONG}')"));
            assert!(refused.is_err());
        }
        session.run(&format!(
            "BEGIN; EXECUTE call(7, '{LONG}'); SAVEPOINT s; SELECT snowflake_next_id(7, '{LONG}');
             ROLLBACK TO s; EXECUTE call(7, '{LONG}'); COMMIT;
             INSERT INTO rows (layout, shard) VALUES ('{LONG}', 7), ('{OTHER_LONG}', 7), ('twitter', 7);
             INSERT INTO defaults SELECT FROM generate_series(1, {round})"
        ));
    }
    let all = "SELECT layout, shard, id FROM calls UNION ALL SELECT layout, shard, id FROM rows
               UNION ALL SELECT '{LONG}', 7, id FROM defaults"
        .replace("{LONG}", LONG);
    let wrong: i64 = session.one(&format!(
        "SELECT count(*) FROM ({all}) a, snowflake_decode(a.id, a.layout) d WHERE d.shard <> a.shard"
    ));
    assert_eq!(wrong, 0, "ids of another shard");
    let repeated: i64 = session.one(&format!(
        "SELECT count(*) - count(DISTINCT (layout, id)) FROM ({all}) a"
    ));
    assert_eq!(repeated, 0, "ids were repeated");
    let descending: i64 = session.one(
        "SELECT count(*) FROM (SELECT id <= lag(id) OVER (PARTITION BY layout, shard ORDER BY n) AS is_below
                               FROM calls) a WHERE is_below",
    );
    assert_eq!(descending, 0, "ids descend");
}
