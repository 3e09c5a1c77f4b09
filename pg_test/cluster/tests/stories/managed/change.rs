//! The way from the file to the extension, and back, with everything that uses the functions.

use super::{FILE, install};
use mint_cluster::{Server, Session, assert_ascending};

const TO: &str = include_str!("../../../../../sql/managed/to_extension.sql");
pub(super) const FROM: &str = include_str!("../../../../../sql/managed/from_extension.sql");

/// The parts of the tables, and the files in which they are stored.
const SHAPE: &str = "SELECT string_agg(concat_ws(' ', c.relname, c.relfilenode, pg_get_expr(d.adbin, d.adrelid), pg_get_indexdef(i.indexrelid),
        pg_get_constraintdef(k.oid)), E'\\n' ORDER BY c.relname, d.adnum, k.oid)
    FROM pg_class AS c LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
        LEFT JOIN pg_constraint AS k ON k.conrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace";

fn fill(session: &mut Session, from: u32) {
    session.run(&format!(
        "INSERT INTO item (n) SELECT generate_series({from}, {})",
        from + 99
    ));
}

/// Asserts that ids of rows ascend in the order of the rows, and that expressions mean the same.
#[track_caller]
fn assert_whole(session: &mut Session, rows: i64) {
    let whole: bool = session.one(&format!(
        "SELECT count(*) = {rows} AND count(DISTINCT id) = {rows} AND bool_and(id > before IS NOT FALSE) AND bool_and(at = mint_sql.snowflake_time(id))
         FROM (SELECT *, lag(id) OVER (ORDER BY n) AS before FROM item) AS i"
    ));
    assert!(whole, "rows are not as they were");
    session.run("SET enable_seqscan = off");
    let plan =
        session.explain("SELECT * FROM item WHERE mint_sql.snowflake_time(id) = '2026-01-01'");
    assert!(plan.contains("item_time"), "the index is not used:\n{plan}");
    session.run("REINDEX TABLE item");
}

#[test]
fn there_and_back_without_touching_a_table() {
    let server = Server::build("managed: change").start_empty();
    let mut session = server.connect("postgres");
    install(&mut session);
    session.run(
        "SELECT mint_sql.shard_create(8, 'time:41 shard:8 seq:14 epoch:2020-01-01T00:00:00Z');
         CREATE TABLE item (n bigint, id bigint PRIMARY KEY DEFAULT mint_sql.snowflake_next_id(7),
             at timestamptz GENERATED ALWAYS AS (mint_sql.snowflake_time(id)) STORED, u uuid DEFAULT mint_sql.uuid_v7(),
             layout mint_sql.snowflake_layout DEFAULT 'twitter', CHECK (mint_sql.snowflake_shard(id) = 7));
         CREATE INDEX item_time ON item (mint_sql.snowflake_time(id));
         CREATE VIEW shown AS SELECT mint_sql.id_to_text(id, 'base58') AS id FROM item;",
    );
    session.run(
        "SELECT mint_sql.snowflake_next_id(8, 'time:41 shard:8 seq:14 epoch:2020-01-01T00:00:00Z')",
    );
    fill(&mut session, 1);
    assert_whole(&mut session, 100);
    let shape: String = session.one(SHAPE);
    session.refused(TO, "42704");
    session.run("ROLLBACK");

    session.run("CREATE EXTENSION pg_mint");
    session.run(TO);
    let mut session = server.connect("postgres");
    fill(&mut session, 101);
    assert_whole(&mut session, 200);
    assert!(
        session.one::<bool>("SELECT mint_sql.snowflake_next_id(7) < snowflake_next_id(7) AND mint_sql.snowflake_next_id(7) > (SELECT max(id) FROM item)"),
        "both names have one lane"
    );
    session.refused("SELECT 'nope'::mint_sql.snowflake_layout", "22P02");

    // Back: the script is psql's, whose \ir is the file.
    let back = FROM.replace("\\ir pg_mint_sql.sql", FILE);
    #[rustfmt::skip]
    let cases = [
        ("CREATE TABLE bad (x objectid)", "column x of table bad depends on type objectid"),
        ("CREATE TABLE bad (x snowflake_layout)", "column x of table bad depends on type snowflake_layout"),
        (
            "CREATE TABLE bad (x bigint DEFAULT snowflake_next_id(7))",
            "default value for column x of table bad depends on function",
        ),
        (
            "CREATE TABLE bad (x bigint, at timestamptz GENERATED ALWAYS AS (snowflake_time(x)) STORED)",
            "column at of table bad depends on function",
        ),
        (
            "CREATE TABLE bad (x bigint, CHECK (snowflake_shard(x) = 7))",
            "constraint bad_x_check on table bad depends on function",
        ),
        (
            "CREATE TABLE bad (x bigint); CREATE INDEX bad_index ON bad (snowflake_time(x))",
            "index bad_index depends on function",
        ),
        (
            "CREATE TABLE bad (x bigint, y bigint); CREATE STATISTICS bad_statistics ON snowflake_time(x), y FROM bad",
            "statistics object bad_statistics depends on function",
        ),
        ("CREATE TABLE bad (x objectid[])", "column x of table bad depends on type objectid[]"),
        (
            "CREATE TABLE bad (x bigint); CREATE OPERATOR @@@ (LEFTARG = bigint, RIGHTARG = text, FUNCTION = id_to_text)",
            "operator @@@(bigint,text) depends on function",
        ),
    ];
    for (made, words) in cases {
        session.run(made);
        let refusal = session.refused(&back, "0A000");
        assert!(
            refusal.message.replace("public.", "").contains(words),
            "{refusal}"
        );
        session.run("ROLLBACK; DROP TABLE bad; DROP OPERATOR IF EXISTS @@@ (bigint, text)");
    }
    session.run(&back);
    session.run("DROP EXTENSION pg_mint");
    let mut session = server.connect("postgres");
    fill(&mut session, 201);
    assert_whole(&mut session, 300);
    assert_eq!(
        session.one::<String>(SHAPE).lines().count(),
        shape.lines().count()
    );
    // A server without the extension has what it needs.
    let dump = server.dump("postgres", "postgres");
    assert!(!dump.contains("EXTENSION"), "the dump needs an extension");
    server.create_database("elsewhere");
    server
        .connect("elsewhere")
        .run("DROP EXTENSION IF EXISTS pg_mint CASCADE");
    server.restore("postgres", "elsewhere", &dump);
    let mut copy = server.connect("elsewhere");
    fill(&mut copy, 301);
    assert_whole(&mut copy, 400);
}

/// A role may create functions where the extension is, and another one owns the schema of the file.
#[test]
fn nothing_of_other_roles_is_called() {
    let server = Server::build("managed: change of others").start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO mallory");
    install(&mut session);
    session.run("CREATE EXTENSION pg_mint");
    server.connect_as("mallory", "postgres").run(
        "CREATE FUNCTION public.mask(bits bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN -1",
    );
    session.run(TO);
    let bound: i64 = session.one(
        "SELECT count(*) FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
         WHERE p.pronamespace = 'mint_sql'::regnamespace AND d.refobjid = 'public.mask'::regproc",
    );
    assert_eq!(bound, 0, "a function of mallory is called");

    let mut owner = server.owned_database("mallory", "hers");
    install(&mut owner);
    let mut session = server.connect("hers");
    session.run("CREATE EXTENSION pg_mint");
    session.refused(TO, "42501");
    session.run("ROLLBACK");
    owner.run(TO);
    assert!(owner.one::<i64>("SELECT mint_sql.snowflake_next_id(7)") > 0);
}

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// A server with the extension, and with the file's shards 7 and 8.
pub(super) fn prepared_server(name: &str) -> Server {
    let server = Server::build(name).start_empty();
    let mut owner = server.connect("postgres");
    install(&mut owner);
    owner.run("SELECT mint_sql.shard_create(8); CREATE EXTENSION pg_mint");
    server
}

/// Asserts that clients were refused only what they can repeat.
#[track_caller]
fn assert_repeatable(refusals: &[mint_cluster::Refusal]) {
    let other: Vec<_> = refusals
        .iter()
        .filter(|refusal| refusal.code != "40001")
        .map(ToString::to_string)
        .collect();
    assert!(other.is_empty(), "{other:?}");
}

/// Sessions that draw while the functions change, from two shards in either order, get ids that are unique, or an error that they
/// can repeat.
#[test]
fn sessions_that_draw_meanwhile_repeat_nothing() {
    let server = prepared_server("managed: change under load");
    let draws = |first: u8, second: u8| {
        format!(
            "SELECT unnest(ARRAY[mint_sql.snowflake_next_id({first}), mint_sql.snowflake_next_id({second})]) FROM generate_series(1, 25)"
        )
    };
    let records = mint_cluster::load::sessions::while_asking(
        &server.place(),
        &[draws(7, 8), draws(8, 7), draws(7, 8), draws(8, 7)],
        || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            server.run(TO);
            std::thread::sleep(std::time::Duration::from_millis(300));
        },
    );
    let (ids, refusals) = mint_cluster::load::sessions::split(records);
    assert_repeatable(&refusals);
    mint_cluster::load::sessions::assert_unique(&ids);
    for shard in [7, 8] {
        for client in &ids {
            let own: Vec<i64> = client
                .iter()
                .copied()
                .filter(|id| id >> 10 & 8191 == shard)
                .collect();
            assert_ascending(&own);
        }
    }
}

/// A transaction that has drawn ids and does not end is waited for in short pieces, between which others draw, and not for ever.
#[test]
fn a_long_transaction_stops_the_change_and_nobody_else() {
    let server = prepared_server("managed: long transaction");
    let mut long = server.connect("postgres");
    long.run("BEGIN");
    let first: i64 = long.one(NEXT);
    let mut changing = server.connect("postgres");
    changing.run("SET mint_sql.patience = '2s'; SET statement_timeout = '30s'");
    let mut refused = None;
    let records = mint_cluster::load::sessions::while_minting(&server, 2, NEXT, || {
        refused = Some(changing.refusal(TO));
    });
    let refusal = refused.expect("the change ended");
    assert_eq!(refusal.code, "55P03", "{refusal}");
    let pid: i32 = long.one("SELECT pg_backend_pid()");
    assert!(refusal.to_string().contains(&pid.to_string()), "{refusal}");
    changing.run("ROLLBACK");
    let (mut ids, refusals) = mint_cluster::load::sessions::split(records);
    assert!(refusals.is_empty(), "{}", refusals[0]);
    assert!(
        ids.iter().map(Vec::len).sum::<usize>() > 50,
        "others have waited"
    );
    // Nothing has changed: a session draws by the file, and the change succeeds when the transaction has ended.
    ids.push(vec![first, long.one(NEXT)]);
    long.run("COMMIT");
    changing.run(TO);
    ids.push(vec![changing.one(NEXT)]);
    mint_cluster::load::sessions::assert_sound(&ids);
}

/// A session that is within an older function when the functions change gets an error that it can repeat, also in a transaction
/// whose snapshot is older. A later run drops the sequences.
#[test]
fn a_session_within_an_older_function_can_repeat() {
    let server = prepared_server("managed: older function");
    for level in ["READ COMMITTED", "REPEATABLE READ"] {
        let mut owner = server.connect("postgres");
        let last: i64 = owner.one(NEXT);
        owner.run(&TO.replace("\nCOMMIT;", ""));
        std::thread::scope(|scope| {
            let within = scope.spawn(|| {
                let mut session = server.connect("postgres");
                session.run(&format!("BEGIN ISOLATION LEVEL {level}; SELECT 1"));
                let refusal = session.refusal(NEXT);
                session.run("ROLLBACK");
                (refusal, session.one::<i64>(NEXT))
            });
            let waits = "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'mint_sql.instagram_7_floor'::regclass AND NOT granted";
            let mut observer = server.connect("postgres");
            while !within.is_finished() && !observer.one::<bool>(waits) {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            owner.run("COMMIT");
            let (refusal, id) = within.join().expect("a session");
            assert_eq!(refusal.code, "40001", "{refusal}");
            assert_ascending(&[last, id]);
        });
        let sequences = "SELECT count(*) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'mint_sql'::regnamespace";
        assert_eq!(owner.one::<i64>(sequences), 6);
        owner.run(TO);
        assert_eq!(owner.one::<i64>(sequences), 0, "sequences are left");
        owner.run(&FROM.replace("\\ir pg_mint_sql.sql", FILE));
        assert_eq!(owner.one::<i64>(sequences), 3, "shard 7 is declared");
        owner.run("SELECT mint_sql.shard_create(8)");
    }
}

/// On the way back, each shard continues above its own last id, and does not wait for one that is ahead of the clock.
#[test]
fn on_the_way_back_a_shard_waits_for_no_other() {
    let server = prepared_server("managed: back by lane");
    let mut owner = server.connect("postgres");
    owner.run(TO);
    let ahead: i64 = owner.one("SELECT snowflake_encode(now() + interval '50 min', 8, 0)");
    owner.run(&format!("SELECT snowflake_start_above({ahead})"));
    let last: i64 = owner.one(NEXT);
    owner.run(&FROM.replace("\\ir pg_mint_sql.sql", FILE));
    assert_ascending(&[last, owner.one(NEXT)]);
    let other = owner.refusal(&NEXT.replace('7', "8"));
    assert_eq!(other.code, "58000", "{other}");
}

/// The file is not run over the calls of the extension, which it would replace by functions that repeat its ids.
#[test]
fn the_file_is_not_run_over_calls_of_the_extension() {
    let server = prepared_server("managed: file over calls");
    let mut owner = server.connect("postgres");
    owner.run(TO);
    owner.refused(&format!("BEGIN; {FILE} COMMIT"), "55000");
    owner.run("ROLLBACK");
    assert!(
        owner.one::<bool>(&format!("SELECT ({NEXT}) < snowflake_next_id(7)")),
        "the call is not the extension's"
    );
}
