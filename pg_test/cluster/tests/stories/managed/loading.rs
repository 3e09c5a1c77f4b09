//! The file is loaded in a session with any settings, and other roles that have privileges by default run nothing as the owner.

use super::{FILE, install};
use mint_cluster::{Server, assert_ascending};

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// Settings that change how literals and functions in PL/pgSQL are read change nothing of what the file makes.
#[test]
fn settings_of_the_session_change_nothing() {
    let server = Server::build("managed: settings").start_empty();
    let mut plain = server.connect("postgres");
    install(&mut plain);
    plain.run("CREATE DATABASE other");
    let mut other = server.connect("other");
    other.run("SET plpgsql.extra_errors = 'all'; SET client_min_messages = 'error'; SET DateStyle = 'SQL, DMY';
         SET IntervalStyle = 'sql_standard'; SET timezone = 'UTC+3'");
    // PostgreSQL 19 reads backslashes in one way only.
    if server.major() < 19 {
        other.run("SET standard_conforming_strings = off");
    }
    install(&mut other);
    let calls = "SELECT concat_ws(' ', (SELECT l FROM mint_sql.snowflake_layouts('time:41 seq:10 epoch:20160520T000000+08 start:random(08)') AS l),
            mint_sql.ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV'), mint_sql.typeid('user', mint_sql.typeid_uuid('user_01h455vb4pex5vsknk084sn02q')),
            mint_sql.typeid_check('user_01h455vb4pex5vsknk084sn02q', 'user'), mint_sql.id_from_text(mint_sql.id_to_text(12345)))";
    other.run("SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET timezone = 'UTC'");
    let shown: String = other.one(calls);
    assert_eq!(shown, plain.one::<String>(calls));
    let made = "SELECT string_agg(pg_get_functiondef(oid), E'\\n' ORDER BY oid::regprocedure::text) FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace";
    let mut other = server.connect("other");
    assert_eq!(other.one::<String>(made), plain.one::<String>(made));
}

/// Default privileges from before the file is run, and from before a shard is declared, let others move nothing.
#[test]
fn default_privileges_let_nobody_move_shards() {
    let server = Server::build("managed: default privileges").start_empty();
    let mut owner = server.connect("postgres");
    owner.run(
        "CREATE ROLE app LOGIN;
         ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO app, PUBLIC;
         ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO app WITH GRANT OPTION;
         ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO app, PUBLIC",
    );
    install(&mut owner);
    let mut app = server.connect_as("app", "postgres");
    let first: i64 = app.one(NEXT);
    let mut refused = |when: &str| {
        for attack in [
            "SELECT setval('mint_sql.instagram_7', 0)",
            "SELECT setval('mint_sql.instagram_7_floor', 0)",
            "SELECT setval('mint_sql.instagram_7_ceiling', 0)",
            "SELECT mint_sql.raise_floor('mint_sql.instagram_7', 'mint_sql.instagram_7_floor', 'mint_sql.instagram_7_ceiling', mint_sql.layout_fields('instagram'), 1000)",
            "SELECT mint_sql.shard_create(8)",
            "SELECT mint_sql.snowflake_start_above(mint_sql.snowflake_encode(now() + interval '50 min', 7, 0))",
            "SELECT mint_sql.layout_declare()",
            "CREATE FUNCTION mint_sql.layout_fields(l mint_sql.snowflake_layout) RETURNS bigint[] LANGUAGE sql RETURN NULL",
        ] {
            assert_eq!(app.refusal(attack).code, "42501", "{when}: {attack}");
        }
    };
    refused("after the first run");
    // A newer file revokes the privileges that an older one has left.
    owner.run("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA mint_sql TO app; GRANT ALL ON SCHEMA mint_sql TO app; GRANT ALL ON ALL SEQUENCES IN SCHEMA mint_sql TO app, PUBLIC; GRANT ALL ON mint_sql.shards TO app");
    owner.run(&format!("BEGIN; {FILE} COMMIT"));
    refused("after the second run");
    assert_ascending(&[first, app.one(NEXT)]);
}

/// Objects of any class that another role has made in the schema would be called as the owner.
#[test]
fn objects_of_other_roles_are_refused() {
    let server = Server::build("managed: objects of others").start_empty();
    let mut owner = server.connect("postgres");
    install(&mut owner);
    owner.run("CREATE ROLE app LOGIN");
    let mut app = server.connect_as("app", "postgres");
    #[rustfmt::skip]
    let cases = [
        ("FUNCTION mint_sql.evil() RETURNS integer LANGUAGE sql RETURN 1", "Function"),
        ("TABLE mint_sql.evil ()", "Table"),
        ("DOMAIN mint_sql.evil AS text CHECK (VALUE <> '')", "Type"),
        ("OPERATOR mint_sql.@@@ (RIGHTARG = bigint, FUNCTION = pg_catalog.int8um)", "Operator"),
        ("COLLATION mint_sql.evil FROM \"C\"", "Collation"),
        ("TEXT SEARCH CONFIGURATION mint_sql.evil (COPY = pg_catalog.simple)", "Text search configuration"),
    ];
    for (make, class) in cases {
        owner.run("GRANT CREATE ON SCHEMA mint_sql TO app");
        app.run(&format!("CREATE {make}"));
        let refusal = owner.refused(&format!("BEGIN; {FILE} COMMIT"), "42501");
        assert!(
            refusal.to_string().contains(&format!("{class} ")),
            "{refusal}"
        );
        owner.run("ROLLBACK");
        app.run("DROP OWNED BY app");
    }
    // A transaction that was open at the first check makes one before the file has ended.
    owner.run("GRANT CREATE ON SCHEMA mint_sql TO app");
    app.run("BEGIN; CREATE FUNCTION mint_sql.evil() RETURNS integer LANGUAGE sql RETURN 1");
    let (start, end) = FILE
        .rsplit_once("DO $$ DECLARE")
        .expect("the last statement of the file");
    owner.run(&format!("BEGIN; {start}"));
    app.run("COMMIT");
    owner.refused(&format!("DO $$ DECLARE{end}"), "42501");
}

/// Functions that fit the arguments of a call better, or need fewer of them, are not called as the owner.
#[test]
fn functions_that_fit_better_are_not_called() {
    let server = Server::build("managed: overloads").start_empty();
    let mut owner = server.connect("postgres");
    install(&mut owner);
    owner.run(
        "CREATE ROLE app LOGIN;
         SELECT mint_sql.shard_create(7, 'time:41 shard:8 seq:14 epoch:2020-01-01T00:00:00Z');
         CREATE TABLE overload AS
             SELECT DISTINCT proname, types FROM (
                 SELECT proname, (SELECT array_agg(CASE WHEN replaced = type::text THEN new ELSE type::text END ORDER BY n)
                     FROM unnest(proargtypes::oid[]::regtype[]) WITH ORDINALITY AS t (type, n) WHERE n <= pronargs - less) AS types
                 FROM pg_proc, (VALUES ('text', 'mint_sql.snowflake_layout'), ('bigint', 'integer'), ('regclass', 'text'), ('regprocedure', 'text'), ('', '')) AS v (replaced, new),
                     generate_series(0, pronargdefaults) AS less
                 WHERE pronamespace = 'mint_sql'::regnamespace AND prorettype <> 'record'::regtype
             ) AS o WHERE types IS NOT NULL
             AND NOT EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = 'mint_sql'::regnamespace AND p.proname = o.proname
                 AND oidvectortypes(p.proargtypes) = array_to_string(types::regtype[], ', '));
         GRANT SELECT ON overload TO app; GRANT CREATE ON SCHEMA mint_sql TO app",
    );
    let mut app = server.connect_as("app", "postgres");
    app.run(
        "DO $$ DECLARE o record; BEGIN
            FOR o IN SELECT * FROM overload LOOP
                EXECUTE format('CREATE FUNCTION mint_sql.%I(%s) RETURNS bigint LANGUAGE plpgsql AS %L', o.proname, array_to_string(o.types, ','),
                    'BEGIN IF current_user <> ''app'' THEN RAISE EXCEPTION ''called as %'', current_user; END IF; RETURN 0; END');
            END LOOP;
         END $$",
    );
    assert!(app.one::<i64>("SELECT count(*) FROM overload") > 100);
    let mut owner = server.connect_as("app", "postgres");
    for layout in [
        "instagram",
        "time:41 shard:8 seq:14 epoch:2020-01-01T00:00:00Z",
    ] {
        let call = format!("mint_sql.snowflake_next_id(7, '{layout}'::mint_sql.snowflake_layout)");
        owner.run(&format!("SELECT {call}, pg_sleep(0.01)"));
        owner.run(&format!("SELECT {call}"));
        // Calls that end with an error do not call them either.
        for call in [
            call.replace("(7,", "(6,"),
            call.replace("(7,", "(99999,"),
            call.replace("(7,", "(NULL,"),
        ] {
            let refusal = owner.refusal(&format!("SELECT {call}"));
            assert!(!refusal.message.contains("called as"), "{call}: {refusal}");
        }
    }
    let mut owner = server.connect("postgres");
    owner.run("GRANT EXECUTE ON FUNCTION mint_sql.shard_create(integer, mint_sql.snowflake_layout), mint_sql.snowflake_start_above(bigint, mint_sql.snowflake_layout) TO app");
    app.run("SELECT mint_sql.shard_create(9, 'instagram'::mint_sql.snowflake_layout)");
    app.run("SELECT mint_sql.snowflake_start_above(mint_sql.snowflake_next_id(9, 'instagram'::mint_sql.snowflake_layout), 'instagram'::mint_sql.snowflake_layout)");
    let refusal = app.refusal("SELECT mint_sql.snowflake_start_above((1::bigint << 62) + (9 << 10), 'instagram'::mint_sql.snowflake_layout)");
    assert_eq!(refusal.code, "22023", "{refusal}");
}
