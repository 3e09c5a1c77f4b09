//! Attacks by the owner of a registry on the superuser and the members that use it.

use super::attacker::{assert_harmless, grab, operator, owner};

/// A superuser keeps the registry in a database whose owner has operators in its schemas.
#[test]
fn a_superuser_keeps_the_registry_in_a_hostile_database() {
    let (server, mut dana) = owner("a hostile database", "dana");
    dana.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
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
        "create()", "end_quarantine()", "reserve(10, 1, 1, 'x')", "unreserve(10, 1, 1)",
        "begin_quarantine()",
    ] {
        session.run(&format!("SELECT mint.registry_{call}"));
    }
    session.run(
        "SELECT ids.segment_create('public.few'); ALTER SEQUENCE public.few MINVALUE 1 MAXVALUE 2",
    );
    session.run("SELECT ids.segment_next('public.few')");
    assert_harmless(&server, "dana");
}

/// The owner of the schema replaces it while a superuser's statement waits for the owner's lock.
#[test]
fn a_replaced_schema_is_not_used() {
    let (server, mut dana) = owner("a schema renamed", "dana");
    dana.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
    dana.run("SELECT mint.registry_create(); SELECT mint.registry_end_quarantine()");
    dana.run(&grab("public", "dana"));
    dana.run(
        "CREATE SCHEMA fake;
         CREATE FUNCTION fake.run() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN PERFORM public.grab(); RETURN NULL; END $$;
         CREATE FUNCTION fake.seen() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
             BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE VIEW fake.leases AS SELECT g.*, fake.seen() FROM mint_registry.leases g WHERE fake.seen();
         CREATE TRIGGER run INSTEAD OF UPDATE ON fake.leases FOR EACH ROW EXECUTE FUNCTION fake.run()",
    );
    let mut session = server.connect("dana");
    // Requests exclude each other, so the superuser's waits for this one.
    dana.run(
        "BEGIN; INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, since, lease_from, lease_until, free_from, written)
             VALUES (1, 10, 1, 1, 'x', now(), now(), now(), now(), '1')",
    );
    let reserved = std::thread::scope(|scope| {
        let reserved =
            scope.spawn(|| session.try_run("SELECT mint.registry_reserve(10, 1, 1, 'x')"));
        let mut watch = server.connect("postgres");
        server.until("the superuser waits", || {
            watch.one("SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        });
        let mut other = server.connect_as("dana", "dana");
        other.run(
            "ALTER SCHEMA mint_registry RENAME TO away; ALTER SCHEMA fake RENAME TO mint_registry",
        );
        dana.run("ROLLBACK");
        reserved.join().expect("an answer or a refusal")
    });
    assert_harmless(&server, "dana");
    let refusal = reserved.expect_err("it was not refused");
    // By PostgreSQL itself where the next statement finds no such table.
    assert!(
        ["55000", "42P01"].contains(&refusal.code.as_str()),
        "{refusal}"
    );
    // What is in its place now has no tables, and is refused before anything is read.
    let reserve = "SELECT mint.registry_reserve(10, 1, 1, 'x')";
    let mut session = server.connect("dana");
    let refusal = session.refusal(reserve);
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(
        refusal.message.contains("no table \"registry\""),
        "{refusal}"
    );
    dana.run(
        "ALTER SCHEMA mint_registry RENAME TO fake; ALTER SCHEMA away RENAME TO mint_registry",
    );
    session.run(reserve);
    assert_harmless(&server, "dana");
}

/// A superuser and members use the registry of an ordinary role, who has put functions into its tables.
#[test]
fn a_registry_runs_with_the_rights_of_its_owner() {
    let (server, mut dana) = owner("an owner's registry", "dana");
    server.connect("dana").run("CREATE ROLE member LOGIN");
    dana.run("CREATE EXTENSION pg_mint; SELECT mint.registry_create(); SELECT mint.registry_end_quarantine()");
    dana.run(
        "CREATE FUNCTION seen() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
             RAISE WARNING 'seen as %', current_user; RETURN true; END $$;
         ALTER TABLE mint_registry.leases ADD CHECK (seen());
         ALTER TABLE mint_registry.registry ADD CHECK (seen());
         GRANT INSERT ON mint_registry.nodes TO member",
    );
    let mut session = server.connect("dana");
    for call in [
        "create()", "reserve(10, 1, 1, 'x')", "begin_quarantine()", "end_quarantine()",
        "unreserve(10, 1, 1)",
    ] {
        session.run(&format!("SELECT mint.registry_{call}"));
    }
    let mut member = server.connect_as("member", "dana");
    member.run(
        "SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 13,
             'holder', 'x', 'system', 1, 'clock', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))",
    );
    let log = server.log();
    let seen: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("seen as"))
        .collect();
    assert!(seen.len() >= 6, "{seen:?}");
    assert!(
        seen.iter().all(|line| line.ends_with("seen as dana")),
        "{seen:?}"
    );
}

/// What is no table of the owner of the schema, or runs code of others, is refused.
#[test]
fn only_plain_tables_are_a_registry() {
    let (server, mut dana) = owner("what is no registry", "dana");
    dana.run("CREATE EXTENSION pg_mint; SELECT mint.registry_create(); SELECT mint.registry_end_quarantine()");
    dana.run(
        "CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             RAISE WARNING 'TRAP run as %', current_user; RETURN NEW; END $$",
    );
    let mut session = server.connect("dana");
    for (change, back) in [
        (
            "ALTER TABLE leases OWNER TO postgres",
            "ALTER TABLE leases OWNER TO dana",
        ),
        (
            "ALTER TABLE registry SET UNLOGGED",
            "ALTER TABLE registry SET LOGGED",
        ),
        (
            "ALTER TABLE leases ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE leases DISABLE ROW LEVEL SECURITY",
        ),
        (
            "CREATE RULE r AS ON UPDATE TO registry DO ALSO NOTHING",
            "DROP RULE r ON registry",
        ),
        (
            "CREATE TRIGGER run BEFORE UPDATE ON registry FOR EACH ROW EXECUTE FUNCTION public.run()",
            "DROP TRIGGER run ON registry",
        ),
        (
            "ALTER TABLE registry RENAME TO real; CREATE VIEW registry AS SELECT * FROM real",
            "DROP VIEW registry; ALTER TABLE real RENAME TO registry",
        ),
    ] {
        session.run("SET search_path = mint_registry, public");
        session.run(change);
        for session in [&mut session, &mut dana] {
            let refusal = session.refusal("SELECT mint.registry_end_quarantine()");
            assert_eq!(refusal.code, "55000", "{change}: {refusal}");
            assert!(
                refusal
                    .message
                    .contains("cannot trust table \"mint_registry."),
                "{change}: {refusal}"
            );
        }
        for statement in back.split("; ") {
            session.run(statement);
        }
        session.run("SELECT mint.registry_end_quarantine()");
    }
    assert_harmless(&server, "dana");
}
