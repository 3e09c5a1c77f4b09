//! The way from the file to the extension, and back, with everything that uses the functions.

use super::{FILE, install};
use mint_cluster::{Server, Session};

const TO: &str = include_str!("../../../../../sql/managed/to_extension.sql");
const FROM: &str = include_str!("../../../../../sql/managed/from_extension.sql");

/// What the tables are made of, and the files in which they are stored.
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
         CREATE VIEW shown AS SELECT mint_sql.id_to_text(id, 'base58') AS id FROM item;
         SELECT mint_sql.snowflake_next_id(8, 'time:41 shard:8 seq:14 epoch:2020-01-01T00:00:00Z')",
    );
    fill(&mut session, 1);
    assert_whole(&mut session, 100);
    let shape: String = session.one(SHAPE);
    assert_eq!(session.refusal(TO).code, "42704", "without the extension");
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
    assert_eq!(
        session
            .refusal("SELECT 'nope'::mint_sql.snowflake_layout")
            .code,
        "22P02"
    );

    // Back: the script is psql's, whose \ir is the file.
    let back = FROM.replace("\\ir pg_mint_sql.sql", FILE);
    for (made, words) in [
        (
            "CREATE TABLE bad (x objectid)",
            "column x of table bad depends on type objectid",
        ),
        (
            "CREATE TABLE bad (x snowflake_layout)",
            "column x of table bad depends on type snowflake_layout",
        ),
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
    ] {
        session.run(made);
        let refusal = session.refusal(&back);
        assert_eq!(refusal.code, "0A000", "{refusal}");
        assert!(
            refusal.message.replace("public.", "").contains(words),
            "{refusal}"
        );
        session.run("ROLLBACK; DROP TABLE bad");
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

/// A session that draws while the functions change gets ids that are unique, or an error.
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

    session.run("CREATE DATABASE hers OWNER mallory");
    let mut owner = server.connect_as("mallory", "hers");
    install(&mut owner);
    let mut session = server.connect("hers");
    session.run("CREATE EXTENSION pg_mint");
    let refusal = session.refusal(TO);
    assert_eq!(refusal.code, "42501", "{refusal}");
    session.run("ROLLBACK");
    owner.run(TO);
    assert!(owner.one::<i64>("SELECT mint_sql.snowflake_next_id(7)") > 0);
}

#[test]
fn sessions_that_draw_meanwhile_repeat_nothing() {
    let server = Server::build("managed: change under load").start_empty();
    install(&mut server.connect("postgres"));
    server.connect("postgres").run("CREATE EXTENSION pg_mint");
    let records = mint_cluster::load::sessions::while_minting(
        &server,
        4,
        "SELECT mint_sql.snowflake_next_id(7) FROM generate_series(1, 50)",
        || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            server.connect("postgres").run(TO);
            std::thread::sleep(std::time::Duration::from_millis(300));
        },
    );
    let (ids, _) = mint_cluster::load::sessions::split(records);
    mint_cluster::load::sessions::assert_sound(&ids);
}
