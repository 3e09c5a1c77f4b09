//! Other roles draw ids and do nothing else, and the file calls no function or operator that they have made.

use super::{FILE, install};
use mint_cluster::{Server, assert_ascending};

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// Functions and operators of the server again, in a schema of another role: each of them says that it was called.
const SHADOWS: &str = include_str!("shadows.sql");

/// Calls of all public functions, of which each must be able to run.
const CALLS: [&str; 10] = [
    "SELECT mint_sql.snowflake_next_id(7), mint_sql.snowflake_next_id(7, 'twitter'), mint_sql.snowflake_next_id(7, 'time:41 shard:13 seq:9 epoch:2020-01-01T00:00:00Z')",
    "SELECT mint_sql.snowflake_next_id(7, 'time:38 shard:13 seq:2 unit:10ms epoch:2020-01-01T00:00:00Z') FROM pg_catalog.generate_series(1, 3)",
    "SELECT mint_sql.snowflake_next_id(), mint_sql.snowflake_next('twitter'), (SELECT count(*) FROM mint_sql.snowflake_next_ids(7, 3))",
    "SELECT mint_sql.snowflake_encode('2026-01-01', 7, 3, 'twitter'), mint_sql.snowflake_time(5), mint_sql.snowflake_shard(5), mint_sql.snowflake_sequence(5, 'time:20 shard:20+3 seq:20 unit:1s epoch:1970-01-01T00:00:00Z start:random(8)')",
    "SELECT d, l, m FROM mint_sql.snowflake_decode(1949525278279603310, 'twitter') AS d, mint_sql.snowflake_layouts() AS l, mint_sql.snowflake_layouts('time:41 seq:10 epoch:20160520T000000+08') AS m",
    "SELECT mint_sql.snowflake_min('2026-01-01'), mint_sql.snowflake_max('2026-01-01'), mint_sql.snowflake_min_after('2026-01-01'), mint_sql.snowflake_max_before('2026-01-01'), mint_sql.snowflake_between(5, '2020-01-01', '2026-01-01')",
    "SELECT mint_sql.uuid_v7(), mint_sql.uuid_v7('2026-01-01'), mint_sql.uuid_v7_time(mint_sql.uuid_v7()), mint_sql.uuid_v7_min('2026-01-01'), mint_sql.uuid_v7_max('2026-01-01'), mint_sql.uuid_v7_min_after('2026-01-01'), mint_sql.uuid_v7_max_before('2026-01-01'), mint_sql.uuid_v7_between(mint_sql.uuid_v7(), '2020-01-01', '2126-01-01')",
    "SELECT mint_sql.ulid(), mint_sql.ulid_to_uuid(mint_sql.ulid()), mint_sql.uuid_to_ulid(mint_sql.uuid_v7()), mint_sql.ulid_time(mint_sql.ulid()), mint_sql.ulid_time(mint_sql.uuid_v7()), mint_sql.ulid_min('2026-01-01'), mint_sql.ulid_max('2026-01-01'), mint_sql.ulid_min_after('2026-01-01'), mint_sql.ulid_max_before('2026-01-01'), mint_sql.ulid_between(mint_sql.uuid_v7(), '2020-01-01', '2126-01-01')",
    "SELECT t, mint_sql.typeid_uuid(t), mint_sql.typeid_prefix(t), mint_sql.typeid_check(t, 'user') FROM mint_sql.typeid('user', mint_sql.uuid_v7()) AS t",
    "SELECT e, mint_sql.id_from_text(mint_sql.id_to_text(5000000000, e), e) FROM unnest('{base58,base64url,crockford,crockford-check,zbase32,hex}'::pg_catalog.text[]) AS e",
];

/// Refused calls and their SQLSTATE: the functions that make messages have no name of another role either.
#[rustfmt::skip]
const REFUSALS: [(&str, &str); 9] = [
    ("SELECT mint_sql.snowflake_next_id(6)", "55000"),
    ("SELECT mint_sql.snowflake_next_id(8192)", "22003"),
    ("SELECT mint_sql.snowflake_next_id(7, 'baidu')", "2200H"),
    ("SELECT mint_sql.snowflake_next_id(7, 'time:41 shard:13 seq:9 epoch:2100-01-01T00:00:00Z')", "58000"),
    ("SELECT mint_sql.snowflake_time(-5)", "22003"),
    ("SELECT mint_sql.snowflake_encode('1826-01-01', 7, 3)", "22008"),
    ("SELECT 'time:41 seq:77'::mint_sql.snowflake_layout", "22P02"),
    ("SELECT mint_sql.ulid_to_uuid('!')", "22P02"),
    ("SELECT mint_sql.id_from_text('!', 'crockford-check')", "22P02"),
];

fn declare(session: &mut mint_cluster::Session) {
    session.run(
        "SELECT mint_sql.shard_create(7, layout) FROM unnest(ARRAY['twitter', 'baidu', 'time:38 shard:13 seq:2 unit:10ms epoch:2020-01-01T00:00:00Z', 'time:41 shard:13 seq:9 epoch:2020-01-01T00:00:00Z',
             'time:41 shard:13 seq:9 epoch:2100-01-01T00:00:00Z']) AS layout",
    );
}

/// A role without any privilege draws ids, and moves a shard neither back nor ahead.
#[test]
fn other_roles_draw_ids_and_move_nothing() {
    let server = Server::start("managed: roles");
    let mut owner = server.connect("postgres");
    install(&mut owner);
    owner.run("CREATE ROLE app LOGIN; CREATE ROLE maker LOGIN");
    let mut app = server.connect_as("app", "postgres");
    let before: i64 = app.one(NEXT);
    let counter = "SELECT last_value FROM mint_sql.instagram_7";
    let drawn: i64 = owner.one(counter);
    for attack in [
        "SELECT setval('mint_sql.instagram_7_floor', 0)",
        "SELECT setval('mint_sql.instagram_7', 0)",
        "SELECT nextval('mint_sql.instagram_7') FROM generate_series(1, 1000)",
        "SELECT nextval('mint_sql.instagram_7_floor')",
        "ALTER SEQUENCE mint_sql.instagram_7 RESTART",
        "DROP SEQUENCE mint_sql.instagram_7",
        "COMMENT ON SEQUENCE mint_sql.instagram_7 IS 'twitter'",
        "CREATE FUNCTION mint_sql.evil() RETURNS integer LANGUAGE sql RETURN 1",
        "SELECT setval('mint_sql.instagram_7_ceiling', 0)",
        "SELECT mint_sql.raise_floor('mint_sql.instagram_7', 'mint_sql.instagram_7_floor', 'mint_sql.instagram_7_ceiling', mint_sql.layout_fields('instagram'), 1000)",
        "SELECT mint_sql.layout_declare()",
        "SELECT mint_sql.snowflake_start_above(9223372036854775807)",
        "SELECT mint_sql.shard_create(8)",
        "SELECT * FROM mint_sql.shards",
    ] {
        app.refused(attack, "42501");
    }
    assert_eq!(owner.one::<i64>(counter), drawn, "the counter has moved");
    assert_ascending(&[before, app.one(NEXT)]);
    // The owner can let another role declare shards.
    owner.run(
        "GRANT EXECUTE ON FUNCTION mint_sql.shard_create, mint_sql.snowflake_start_above TO app",
    );
    app.run("SELECT mint_sql.shard_create(8)");
    app.run("SELECT mint_sql.snowflake_start_above(mint_sql.snowflake_encode(now(), 8, 1))");
    app.one::<i64>("SELECT mint_sql.snowflake_next_id(8)");

    // A privilege that the owner has revoked stays so when the file is run again. A default of a table needs none on the schema.
    owner.run("CREATE TABLE kept (id bigint DEFAULT mint_sql.snowflake_next_id(7)); GRANT INSERT ON kept TO app");
    owner.run(&format!(
        "REVOKE USAGE ON SCHEMA mint_sql FROM PUBLIC; BEGIN; {FILE} COMMIT"
    ));
    app.refused(NEXT, "42501");
    server
        .connect_as("app", "postgres")
        .run("INSERT INTO kept DEFAULT VALUES");

    // All of it can be given to another role.
    owner.run(
        "GRANT USAGE ON SCHEMA mint_sql TO PUBLIC; GRANT CREATE ON DATABASE postgres TO maker",
    );
    owner.run(
        "DO $$ DECLARE o record; BEGIN
            ALTER SCHEMA mint_sql OWNER TO maker;
            FOR o IN SELECT oid::regclass AS name, relkind = 'S' AS is_sequence FROM pg_class WHERE relnamespace = 'mint_sql'::regnamespace AND relkind IN ('S', 'v') LOOP
                EXECUTE format('ALTER %s %s OWNER TO maker', CASE WHEN o.is_sequence THEN 'SEQUENCE' ELSE 'VIEW' END, o.name);
            END LOOP;
            FOR o IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace LOOP
                EXECUTE format('ALTER FUNCTION %s OWNER TO maker', o.name);
            END LOOP;
            ALTER DOMAIN mint_sql.snowflake_layout OWNER TO maker;
         END $$",
    );
    let last: i64 = app.one(NEXT);
    // A superuser does not run it into the schema of another role, which could then replace functions that run as a superuser.
    owner.refused(&format!("BEGIN; {FILE} COMMIT"), "42501");
    server
        .connect_as("maker", "postgres")
        .run(&format!("BEGIN; {FILE} COMMIT"));
    assert_ascending(&[last, app.one(NEXT)]);
}

/// Functions and operators in a schema that comes first in the path are called neither when the file runs, nor by what it makes.
#[test]
fn names_of_other_roles_are_not_called() {
    let server = Server::build("managed: names").start_empty();
    let mut owner = server.connect("postgres");
    owner.run(SHADOWS);
    let many: i64 =
        owner.one("SELECT count(*) FROM pg_proc WHERE pronamespace = 'evil'::regnamespace");
    let operators: i64 =
        owner.one("SELECT count(*) FROM pg_operator WHERE oprnamespace = 'evil'::regnamespace");
    assert!(
        many > 1500 && operators > 400,
        "{many} functions, {operators} operators"
    );
    // Shadows are called where a name is not qualified.
    let path = "SET search_path = evil, pg_catalog, public";
    owner.run(path);
    assert!(
        owner
            .refusal("SELECT 1::bigint + 1::bigint")
            .message
            .contains("called")
    );
    assert!(
        owner
            .refusal("SELECT nextval('s'::regclass)")
            .message
            .contains("called")
    );
    owner.run(&format!("BEGIN; {FILE} COMMIT"));
    // A path is restored, and pg_temp is last in those of functions.
    assert!(
        owner
            .refusal("SELECT 1::bigint + 1::bigint")
            .message
            .contains("called")
    );
    let mut plain = server.connect("postgres");
    plain.run("SELECT mint_sql.shard_create(7)");
    declare(&mut plain);
    plain.run("ALTER DATABASE postgres SET pg_mint.node = 7");
    let mut app = server.connect("postgres");
    app.run(path);
    for call in CALLS {
        app.run(call);
    }
    for (call, code) in REFUSALS {
        app.refused(call, code);
    }
    app.run("SELECT mint_sql.shard_create(9, 'time:41 shard:13 seq:8 epoch:2020-01-01T00:00:00Z')");
    app.run("SELECT mint_sql.snowflake_start_above(mint_sql.snowflake_next_id(7))");
    app.run("SELECT shard, layout, last_id FROM mint_sql.shards");
}

/// Each function has a path of its own, a body that was bound when it was made, or is one whose names the story above has called.
#[test]
fn paths_are_pinned() {
    let server = Server::build("managed: paths").start_empty();
    let mut session = server.connect("postgres");
    install(&mut session);
    let open: Vec<String> = session.column(
        "SELECT proname::text FROM pg_proc
         WHERE pronamespace = 'mint_sql'::regnamespace AND prosqlbody IS NULL AND proconfig IS DISTINCT FROM '{\"search_path=pg_catalog, pg_temp\"}'
         ORDER BY 1",
    );
    assert_eq!(open, ["raise_floor", "snowflake_next_id", "snowflake_time"]);
    let definer: Vec<String> = session.column(
        "SELECT proname::text FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace AND prosecdef ORDER BY 1",
    );
    assert_eq!(
        definer,
        ["shard_create", "snowflake_next_id", "snowflake_start_above"]
    );
}
