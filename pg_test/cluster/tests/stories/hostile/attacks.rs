//! Attacks that once succeeded.

use mint_cluster::{Server, Session};

/// Returns SQL for a function that logs its caller and makes `role` a superuser if it can.
fn grab(schema: &str, role: &str) -> String {
    format!(
        "CREATE FUNCTION {schema}.grab() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
             IF current_user <> '{role}' THEN
                 RAISE WARNING 'TRAP grab as %', current_user;
                 EXECUTE 'ALTER ROLE {role} SUPERUSER';
             END IF;
         END $$;"
    )
}

/// Returns SQL for an operator `{schema}.{name}` with a function `{schema}.{function}` that attacks.
fn operator(
    schema: &str,
    name: &str,
    function: &str,
    [left, right]: [&str; 2],
    result: &str,
) -> String {
    let [symbol, answer] = result.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{result}: not a value and its type");
    };
    format!(
        "CREATE FUNCTION {schema}.{function}({left}, {right}) RETURNS {answer} LANGUAGE plpgsql IMMUTABLE AS $$
             BEGIN PERFORM {schema}.grab(); RETURN {symbol}; END $$;
         CREATE OPERATOR {schema}.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {schema}.{function});"
    )
}

fn is_superuser(server: &Server, role: &str) -> bool {
    server.connect("postgres").one(&format!(
        "SELECT rolsuper FROM pg_roles WHERE rolname = '{role}'"
    ))
}

/// Asserts that nothing of the attacker's has run as another role.
#[track_caller]
fn assert_harmless(server: &Server, role: &str) {
    let log = server.log();
    let run: Vec<&str> = log.lines().filter(|line| line.contains("TRAP")).collect();
    assert!(run.is_empty(), "{} times: {}", run.len(), run[0]);
    assert!(!is_superuser(server, role), "{role} is a superuser");
}

/// Starts a server with a role that owns a database of its name and nothing else.
fn owner(story: &str, role: &str) -> (Server, Session) {
    let server = Server::build(story)
        .conf("autovacuum_naptime = 1")
        .start_empty();
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE ROLE {role} LOGIN"));
    session.run(&format!("CREATE DATABASE {role} OWNER {role}"));
    let owner = server.connect_as(role, role);
    (server, owner)
}

/// The index of the registry's leases was bound to an operator of the installing role, while ANALYZE and autovacuum
/// evaluate it as its owner, a superuser.
#[test]
fn installing_makes_no_superuser_by_the_index_of_the_leases() {
    let (server, mut mal) = owner("a hostile installer", "mal");
    mal.run("CREATE SCHEMA evil");
    mal.run(&grab("evil", "mal"));
    let product = "$1::numeric*$2 numeric";
    mal.run(&operator("evil", "*", "mul", ["int", "numeric"], product));
    let sum = "$1+$2::numeric numeric";
    mal.run(&operator("evil", "+", "add", ["numeric", "bigint"], sum));
    mal.run("CREATE EXTENSION pg_mint SCHEMA evil");
    mal.run(
        "INSERT INTO evil.pg_mint_grants VALUES (1, 5, 1, 1, 'x', NULL, NULL, now(), now(), now()),
             (2, 5, 2, 2, 'x', NULL, NULL, now(), now(), now())",
    );
    mal.run("ANALYZE evil.pg_mint_grants");
    assert_harmless(&server, "mal");
    let mut session = server.connect("mal");
    let index: String = session.one(
        "SELECT string_agg(pg_get_indexdef(indexrelid), ' ') FROM pg_index WHERE indrelid = 'evil.pg_mint_grants'::regclass",
    );
    assert!(!index.contains("OPERATOR(evil."), "{index}");
    // Enough rows for autovacuum to analyze the table.
    session.run(
        "INSERT INTO evil.pg_mint_grants
         SELECT 10 + n, 5, 10 + n, 10 + n, 'x', NULL, NULL, now(), now(), now() FROM generate_series(1, 100) n",
    );
    server.until("autovacuum has analyzed the claims", || {
        session.one(
            "SELECT autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relname = 'pg_mint_grants'",
        )
    });
    assert_harmless(&server, "mal");
}

/// Sources of sequences are stored as the table's owner, and so not under the caller's search path.
#[test]
fn a_callers_operator_does_not_run_where_sources_are_stored() {
    let server = Server::build("a hostile caller").start_empty();
    let mut session = server.connect("postgres");
    session.run(
        "CREATE SCHEMA mint; CREATE EXTENSION pg_mint SCHEMA mint; CREATE ROLE bob LOGIN;
         CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
         GRANT USAGE ON FOREIGN SERVER srv TO bob; GRANT USAGE ON SCHEMA mint TO bob;
         GRANT CREATE ON DATABASE postgres TO bob",
    );
    let mut bob = server.connect_as("bob", "postgres");
    bob.run("CREATE SCHEMA b");
    bob.run(&grab("b", "bob"));
    for (function, types, equal) in [
        ("eq1", ["oid", "regclass"], "$1=$2::oid boolean"),
        ("eq2", ["regclass", "oid"], "$1::oid=$2 boolean"),
    ] {
        bob.run(&operator("b", "=", function, types, equal));
    }
    bob.run("SET search_path = b, public");
    // The first call fills the table, the second scans it.
    bob.run("SELECT mint.segment_create('b.s1', source => 'srv')");
    bob.run("SELECT mint.segment_create('b.s2', source => 'srv')");
    assert_harmless(&server, "bob");
    let kept: i64 = session.one("SELECT count(*) FROM mint.pg_mint_sources");
    assert_eq!(kept, 2);
    // Only rows of dropped sequences are deleted.
    bob.run("DROP SEQUENCE b.s1");
    bob.run("SELECT mint.segment_create('b.s3', source => 'srv')");
    let kept: Vec<String> =
        session.column("SELECT sequence::text FROM mint.pg_mint_sources ORDER BY 1");
    assert_eq!(kept, ["b.s2", "b.s3"]);
}

/// A superuser keeps the registry in a database whose owner has operators in its schemas.
#[test]
fn a_superuser_keeps_the_registry_in_a_hostile_database() {
    let (server, mut dana) = owner("a hostile database", "dana");
    dana.run("CREATE SCHEMA mint; CREATE EXTENSION pg_mint SCHEMA mint");
    dana.run(&grab("public", "dana"));
    for (name, function, types, result) in [
        ("*", "m1", ["numeric", "int"], "$1*$2::numeric numeric"),
        ("*", "m2", ["int", "numeric"], "$1::numeric*$2 numeric"),
        ("+", "a1", ["numeric", "bigint"], "$1+$2::numeric numeric"),
        ("=", "e1", ["oid", "regclass"], "$1=$2::oid boolean"),
    ] {
        dana.run(&operator("public", name, function, types, result));
    }
    dana.run("ALTER DATABASE dana SET search_path = public, pg_catalog");
    let mut session = server.connect("dana");
    for call in [
        "create_registry()", "end_quarantine()", "reserve_nodes(10, 1, 1, 'x')",
        "unreserve_nodes(10, 1, 1)", "quarantine_registry()",
    ] {
        session.run(&format!("SELECT mint.snowflake_{call}"));
    }
    session.run(
        "SELECT mint.segment_create('public.few'); ALTER SEQUENCE public.few MINVALUE 1 MAXVALUE 2",
    );
    session.run("SELECT mint.segment_next('public.few')");
    assert_harmless(&server, "dana");
}

/// A superuser's view was bound to operators of the owner of its schema.
#[test]
fn views_are_bound_to_no_object_of_the_installing_role() {
    let (server, mut mal) = owner("a hostile schema", "mal");
    mal.run("CREATE SCHEMA evil");
    mal.run(&grab("evil", "mal"));
    for (name, function, types, result) in [
        ("||", "c1", ["regnamespace", "text"], "$1::text||$2 text"),
        ("||", "c2", ["text", "name"], "$1||$2::text text"),
        ("=", "e1", ["oid", "regclass"], "$1=$2::oid boolean"),
        ("=", "e2", ["regclass", "oid"], "$1::oid=$2 boolean"),
    ] {
        mal.run(&operator("evil", name, function, types, result));
    }
    mal.run("CREATE EXTENSION pg_mint SCHEMA evil");
    mal.run("CREATE SCHEMA hidden; SELECT evil.segment_create('hidden.orders')");
    let mut session = server.connect("mal");
    let tags: Vec<String> = session.column("SELECT biz_tag FROM evil.leaf_alloc");
    assert_eq!(tags, ["hidden.orders"]);
    let view: String = session.one("SELECT pg_get_viewdef('evil.leaf_alloc'::regclass)");
    assert!(!view.contains("OPERATOR(evil."), "{view}");
    assert_harmless(&server, "mal");
}

/// The extension's tables belong to the superuser, even where an ordinary role created the extension.
#[test]
fn an_ordinary_owner_can_use_sequences_of_other_servers() {
    let (server, mut carol) = owner("an installer without rights", "carol");
    server.connect("carol").run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
         CREATE ROLE user_of_it LOGIN; GRANT USAGE ON FOREIGN SERVER srv TO carol, user_of_it",
    );
    carol.run("CREATE SCHEMA mint; CREATE EXTENSION pg_mint SCHEMA mint");
    carol.run("SELECT mint.segment_create('mint.orders', step => 100, source => 'srv')");
    carol.run("CREATE SCHEMA his AUTHORIZATION carol; GRANT CREATE, USAGE ON SCHEMA his TO user_of_it; GRANT USAGE ON SCHEMA mint TO user_of_it");
    let mut user = server.connect_as("user_of_it", "carol");
    user.run("SELECT mint.segment_create('his.orders', step => 100, source => 'srv')");
    let refusal = user.refusal("DELETE FROM mint.pg_mint_sources");
    assert_eq!(refusal.code, "42501", "{refusal}");
    let refusal = user.refusal("SELECT mint.segment_create('pg_temp.orders')");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    let steps: Vec<i64> = carol.column("SELECT step FROM mint.pg_mint_sources");
    assert_eq!(steps, [100, 100]);
}

/// The owner of a database may insert into the table of sources, as a restore does. Such rows do not redirect a sequence
/// of another role.
#[test]
fn a_planted_row_redirects_no_sequence() {
    let (server, mut carol) = owner("planted rows", "carol");
    server.connect("carol").run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy; GRANT USAGE ON FOREIGN SERVER srv TO carol;
         CREATE SEQUENCE theirs MAXVALUE 2; SELECT setval('theirs', 2); GRANT USAGE ON SEQUENCE theirs TO carol",
    );
    carol.run("CREATE SCHEMA mint; CREATE EXTENSION pg_mint SCHEMA mint");
    carol.run("INSERT INTO mint.pg_mint_sources VALUES ('theirs', 'srv', 'other', 50)");
    let refusal = carol.refusal("SELECT mint.segment_next('theirs')");
    assert_eq!(refusal.code, "2200H", "{refusal}");
    // A changed row is not trusted either.
    carol.run("SELECT mint.segment_create('mint.orders', step => 100, source => 'srv')");
    let refusal =
        carol.refusal("SET pg_mint.max_wait = 100; SELECT mint.segment_next('mint.orders')");
    assert_eq!(refusal.code, "55000", "{refusal}");
}

/// The owner of the schema replaces it while a superuser's statement waits for the owner's lock.
#[test]
fn a_replaced_schema_is_not_used() {
    let (server, mut dana) = owner("a schema renamed", "dana");
    dana.run("CREATE SCHEMA mint; CREATE EXTENSION pg_mint SCHEMA mint");
    dana.run(&grab("public", "dana"));
    dana.run(
        "CREATE SCHEMA fake;
         CREATE FUNCTION fake.run() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN PERFORM public.grab(); RETURN NULL; END $$;
         CREATE FUNCTION fake.seen() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
             BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE VIEW fake.pg_mint_grants AS SELECT g.*, fake.seen() FROM mint.pg_mint_grants g WHERE fake.seen();
         CREATE TRIGGER run INSTEAD OF UPDATE ON fake.pg_mint_grants FOR EACH ROW EXECUTE FUNCTION fake.run()",
    );
    let mut session = server.connect("dana");
    session.run("SELECT mint.snowflake_create_registry(); SELECT mint.snowflake_end_quarantine()");
    // Requests exclude each other, so the superuser's waits for this one.
    dana.run(
        "BEGIN; INSERT INTO mint.pg_mint_grants VALUES (1, 10, 1, 1, 'x', NULL, NULL, now(), now(), now())",
    );
    let reserved = std::thread::scope(|scope| {
        let reserved =
            scope.spawn(|| session.try_run("SELECT mint.snowflake_reserve_nodes(10, 1, 1, 'x')"));
        let mut watch = server.connect("postgres");
        server.until("the superuser waits", || {
            watch.one("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        });
        let mut other = server.connect_as("dana", "dana");
        other.run("ALTER SCHEMA mint RENAME TO away; ALTER SCHEMA fake RENAME TO mint");
        dana.run("ROLLBACK");
        reserved.join().expect("an answer or a refusal")
    });
    assert_harmless(&server, "dana");
    let refusal = reserved.expect_err("it was not refused");
    assert_eq!(refusal.code, "55000", "{refusal}");
    server
        .connect("dana")
        .run("SELECT away.snowflake_reserve_nodes(10, 1, 1, 'x')");
    assert_harmless(&server, "dana");
}

/// The extension relies on the server to forbid this: an event trigger would run at a superuser's calls that create
/// something.
#[test]
fn an_owner_of_a_database_has_no_event_triggers() {
    let (_server, mut dana) = owner("event triggers", "dana");
    dana.run("CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$");
    let refusal = dana.refusal("CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()");
    assert_eq!(refusal.code, "42501", "{refusal}");
}
