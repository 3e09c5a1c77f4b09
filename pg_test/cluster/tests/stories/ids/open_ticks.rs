//! Ids of a tick from which the session has minted before, which come by a shorter way: it must not outlive what it was
//! found under.

use mint_cluster::{Server, Session, assert_ascending, assert_unique};

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
        assert!(
            session
                .try_one::<i64>(&format!("SELECT by_sql(1024, '{LONG}')"))
                .is_err()
        );
        assert!(
            session
                .try_one::<i64>(&format!("SELECT by_sql(NULL, '{LONG}')"))
                .is_err()
        );
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
