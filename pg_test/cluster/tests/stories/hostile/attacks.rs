//! Attacks that once succeeded: by the extension's installer and owner, and by users of sequences.

use super::attacker::{assert_harmless, grab, operator, owner};
use mint_cluster::Server;

/// The index of the registry's leases was bound to an operator of the installing role, while autovacuum evaluates it as its
/// owner, a superuser.
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
    mal.run("SET search_path = evil, public; SELECT mint.registry_create()");
    // Enough rows for autovacuum to analyze the table.
    mal.run(
        "INSERT INTO mint.registry_leases (node_bits, node, lease_until) SELECT 13, 5000 + n, now() FROM generate_series(1, 100) n",
    );
    mal.run("ANALYZE mint.registry_leases");
    assert_harmless(&server, "mal");
    let mut session = server.connect("mal");
    session.run("ANALYZE mint.registry_leases");
    server.until("autovacuum has analyzed the leases", || {
        session.one(
            "SELECT autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relid = 'mint.registry_leases'::regclass",
        )
    });
    assert_harmless(&server, "mal");
}

/// Sources of sequences are stored, and looked up, under no caller's search path.
#[test]
fn a_callers_operator_does_not_run_where_sources_are_stored() {
    let server = Server::build("a hostile caller").start_empty();
    let mut session = server.connect("postgres");
    session.run(
        "CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids; CREATE ROLE bob LOGIN;
         CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
         GRANT USAGE ON FOREIGN SERVER srv TO bob; GRANT USAGE ON SCHEMA ids TO bob;
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
    bob.run("SELECT ids.segment_create('b.s1', source => 'srv')");
    bob.run("SELECT ids.segment_create('b.s2', source => 'srv')");
    assert_harmless(&server, "bob");
    let kept: Vec<String> = session.column(
        "SELECT obj_description(oid, 'pg_class') FROM pg_class WHERE relkind = 'S' AND relnamespace = 'b'::regnamespace ORDER BY relname",
    );
    let place = |name: &str| format!("{{\"server\":\"srv\",\"sequence\":\"b.{name}\",\"step\":1}}");
    let last: Vec<&str> = kept.iter().filter_map(|kept| kept.lines().last()).collect();
    assert_eq!(last, [place("s1"), place("s2")]);
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
    mal.run("CREATE SCHEMA hidden; SET search_path = hidden");
    mal.run("INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('orders', 10)");
    let mut session = server.connect("mal");
    let tags: Vec<String> = session.column("SELECT biz_tag FROM mint.leaf_alloc");
    assert_eq!(tags, ["hidden.orders"]);
    let view: String = session.one("SELECT pg_get_viewdef('mint.leaf_alloc'::regclass)");
    assert!(!view.contains("OPERATOR(evil."), "{view}");
    assert_harmless(&server, "mal");
}

/// The extension belongs to the superuser, even where an ordinary role created it, and its sequences to their makers.
#[test]
fn an_ordinary_owner_can_use_sequences_of_other_servers() {
    let (server, mut carol) = owner("an installer without rights", "carol");
    server.connect("carol").run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
         CREATE ROLE user_of_it LOGIN; GRANT USAGE ON FOREIGN SERVER srv TO carol, user_of_it",
    );
    carol.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
    carol.run("SELECT ids.segment_create('ids.orders', step => 100, source => 'srv')");
    carol.run("CREATE SCHEMA his AUTHORIZATION carol; GRANT CREATE, USAGE ON SCHEMA his TO user_of_it; GRANT USAGE ON SCHEMA ids TO user_of_it");
    let mut user = server.connect_as("user_of_it", "carol");
    user.run("SELECT ids.segment_create('his.orders', step => 100, source => 'srv')");
    user.refused("COMMENT ON SEQUENCE ids.orders IS 'theirs'", "42501");
    user.refused("SELECT ids.segment_create('pg_temp.orders')", "0A000");
    let sources: i64 = carol.one(
        "SELECT count(*) FROM pg_description WHERE classoid = 'pg_class'::regclass AND description LIKE '%foreign server%\"step\":100}'",
    );
    assert_eq!(sources, 2);
}

/// Only the owner of a sequence can write its comment, and it leads only to what the owner may use.
#[test]
fn a_planted_comment_redirects_no_sequence_of_others() {
    let (server, mut carol) = owner("planted comments", "carol");
    server.connect("carol").run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy; GRANT USAGE ON FOREIGN SERVER srv TO carol;
         CREATE SERVER closed FOREIGN DATA WRAPPER dummy;
         CREATE USER MAPPING FOR carol SERVER srv; CREATE USER MAPPING FOR carol SERVER closed;
         CREATE SEQUENCE theirs MAXVALUE 2; SELECT setval('theirs', 2); GRANT USAGE ON SEQUENCE theirs TO carol",
    );
    let has_dblink = server
        .connect("carol")
        .try_run("CREATE EXTENSION dblink")
        .is_ok();
    carol.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
    carol.run("SELECT ids.segment_create('ids.orders', step => 100, source => 'srv')");
    let comment: String = carol.one("SELECT obj_description('ids.orders'::regclass)");
    let planted =
        |server: &str| format!("'{}'", comment.replace("\"srv\"", &format!("\"{server}\"")));
    let place = planted("srv");
    carol.refused(&format!("COMMENT ON SEQUENCE theirs IS {place}"), "42501");
    carol.run("CREATE SEQUENCE ids.own MAXVALUE 2; SELECT setval('ids.own', 2)");
    carol.run(&format!("COMMENT ON SEQUENCE ids.own IS {place}"));
    carol.run("CREATE SEQUENCE ids.closed MAXVALUE 2; SELECT setval('ids.closed', 2)");
    carol.run(&format!(
        "COMMENT ON SEQUENCE ids.closed IS {}; SET pg_mint.max_wait = '3 s'",
        planted("closed")
    ));
    for sequence in ["ids.own", "ids.orders", "ids.closed"] {
        let refusal = carol.refusal(&format!("SELECT ids.segment_next('{sequence}')"));
        assert_eq!(refusal.code, "55000", "{sequence}: {refusal}");
        let is_denied = refusal
            .detail
            .contains("permission denied for foreign server closed");
        assert_eq!(
            is_denied,
            has_dblink && sequence == "ids.closed",
            "{refusal}"
        );
    }
    // A comment that is no such place makes it an ordinary sequence that is used up.
    carol.run("COMMENT ON SEQUENCE ids.own IS 'segments of srv'");
    carol.refused("SELECT ids.segment_next('ids.own')", "2200H");
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

/// A trusted extension is installed with a superuser's privileges, also into a schema in which its installer cannot
/// create.
#[test]
fn nobody_installs_into_a_schema_of_the_server() {
    let (_server, mut mal) = owner("an installer into pg_catalog", "mal");
    for schema in ["pg_catalog", "information_schema", "pg_toast"] {
        let refusal = mal.refusal(&format!("CREATE EXTENSION pg_mint SCHEMA {schema}"));
        assert_eq!(refusal.code, "0A000", "{schema}: {refusal}");
        refusal.assert_hint("SCHEMA public");
    }
    mal.run("CREATE EXTENSION pg_mint");
}
