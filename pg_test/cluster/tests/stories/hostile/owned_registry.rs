//! Attacks by the owner of a registry on the superuser and the members that use it.

use super::attacker::{assert_harmless, grab, operator, owner};
use mint_cluster::registry::members::request;

/// Objects that run their maker's code when others read or write a table, and other ways to get hold of one.
const CHANGES: [&str; 14] = [
    "CREATE TRIGGER run BEFORE INSERT OR UPDATE ON mint.registry_leases FOR EACH ROW EXECUTE FUNCTION public.run()",
    "CREATE RULE r AS ON UPDATE TO mint.registry DO ALSO SELECT public.grab()",
    "CREATE POLICY p ON mint.registry_leases USING (public.seen())",
    "ALTER TABLE mint.registry_leases ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE mint.registry_leases ADD CHECK (public.seen())",
    "ALTER TABLE mint.registry_leases ALTER COLUMN number SET DEFAULT public.number()",
    "CREATE INDEX ON mint.registry_leases ((node + public.number()))",
    "CREATE STATISTICS st ON (node + public.number()), holder FROM mint.registry_leases",
    "ALTER TABLE mint.registry OWNER TO dana",
    "ALTER TABLE mint.registry RENAME TO other",
    "CREATE TABLE child () INHERITS (mint.registry_leases)",
    "ALTER EXTENSION pg_mint DROP TABLE mint.registry_leases",
    "CREATE OR REPLACE FUNCTION mint.registry_place() RETURNS text LANGUAGE sql AS 'SELECT public.grab()::text'",
    "CREATE OR REPLACE VIEW mint.leases AS SELECT public.grab()",
];

/// A superuser keeps the registry in a database whose owner has installed the extension, and has operators in its schemas.
#[test]
fn an_owner_puts_no_code_on_the_tables_of_the_registry() {
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
    dana.run(
        "ALTER DATABASE dana SET search_path = public, pg_catalog;
         CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.grab(); RETURN NEW; END $$;
         CREATE FUNCTION seen() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE FUNCTION number() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.grab(); RETURN 0; END $$",
    );
    for change in CHANGES {
        dana.refused(change, "42501");
    }
    let mut session = server.connect("dana");
    // The search path keeps the superuser's own statements off the owner's operators: pg_mint's are tested.
    session.run("SET search_path = pg_catalog; SELECT mint.registry_create()");
    let answer = request(&mut session, 13, r#"{"grant": 1}"#);
    assert!(answer.contains("wait"), "{answer}");
    // Rows are the owner's to keep and to restore.
    dana.run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until) VALUES (10, 600, 'kept', 'infinity');
         UPDATE mint.registry SET run = NULL; TABLE mint.registry; DELETE FROM mint.registry_leases",
    );
    assert_harmless(&server, "dana");
}

/// The function of the registry is the installer's, who can grant it. It runs with the installer's rights, whatever is set for it.
#[test]
fn a_changed_function_of_the_registry_gains_nothing() {
    let (server, mut dana) = owner("an owner's registry", "dana");
    server.connect("dana").run("CREATE ROLE member LOGIN");
    dana.run(
        "CREATE EXTENSION pg_mint; SELECT mint.registry_create();
         GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member",
    );
    dana.run(&grab("public", "dana"));
    dana.run("CREATE FUNCTION public.count(anyelement) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM public.grab(); RETURN 0; END $$");
    let mut member = server.connect_as("member", "dana");
    let mut session = server.connect("dana");
    session.run("SET search_path = pg_catalog");
    for change in [
        "SET search_path = public, pg_catalog",
        "RESET ALL",
        "SECURITY INVOKER",
        "SET role = 'dana'",
    ] {
        dana.run(&format!(
            "ALTER FUNCTION mint.registry_request(jsonb) {change}"
        ));
        for session in [&mut member, &mut session] {
            // It can fail, for want of rights.
            let request = mint_cluster::registry::members::request_sql(13, r#"{"grant": 1}"#);
            let _ = session.try_run(&format!("SELECT {request}"));
        }
        assert_harmless(&server, "dana");
    }
}
