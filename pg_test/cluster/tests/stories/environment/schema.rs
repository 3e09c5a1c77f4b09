//! Installation by the owner of a database; and the schema `mint`, which the extension makes: what was there before.

use mint_cluster::{Server, Session};

pub const CREATE: &str = "CREATE EXTENSION pg_mint";

/// Starts a server with the roles `owner`, who owns database `shop`, and `carol`, who may create schemas in it.
pub fn shop(story: &str) -> (Server, Session) {
    let server = Server::build(story).start_empty();
    let owner = server.owned_database("owner", "shop");
    server.run("CREATE ROLE carol LOGIN; GRANT CREATE ON DATABASE shop TO carol");
    (server, owner)
}

/// Returns the owner of schema mint, its privileges and comment, and whether it is the extension's.
pub fn schema(session: &mut Session) -> String {
    session.one(
        "SELECT format('%s %s %s %s', nspowner::regrole, nspacl, obj_description(n.oid, 'pg_namespace'),
             EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e'))
         FROM pg_namespace n WHERE nspname = 'mint'",
    )
}

pub const FRESH: &str =
    "postgres {postgres=UC/postgres,=U/postgres} Views, administration and internals of pg_mint t";

/// The owner of a database can install the extension without being a superuser.
#[test]
fn an_owner_installs_the_extension() {
    let (_server, mut owner) = shop("an owner");
    owner.run(CREATE);
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > 0);
    owner.run("DROP EXTENSION pg_mint");

    owner.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
    assert_eq!(
        owner.one::<i32>("SELECT ids.snowflake_shard(ids.snowflake_next_id(5))"),
        5
    );
    owner.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT ids.snowflake_next_id(5), n int)");
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
    // A caller with an empty search path, as in a hardened function.
    owner.run("SET search_path = ''");
    assert!(owner.one::<i64>("SELECT ids.snowflake_next_id(5)") > 0);
    let recent: i64 = owner.one(
        "SELECT count(*) FROM public.item WHERE ids.snowflake_time(id) > now() - interval '1 minute'",
    );
    assert_eq!(recent, 1000);
}

/// Rails 7.2's schema.rb: every schema, then every extension.
#[test]
fn an_empty_schema_of_the_installing_role_is_replaced() {
    let (server, mut owner) = shop("an empty schema");
    owner.run("CREATE SCHEMA mint");
    owner.run(CREATE);
    assert_eq!(schema(&mut owner), FRESH);
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > 0);
    // No privilege, comment or default privilege survives.
    owner.run("DROP EXTENSION pg_mint; CREATE SCHEMA mint; GRANT ALL ON SCHEMA mint TO carol");
    owner.run("COMMENT ON SCHEMA mint IS 'ours'; ALTER DEFAULT PRIVILEGES IN SCHEMA mint GRANT ALL ON TABLES TO carol");
    owner.run(CREATE);
    assert_eq!(schema(&mut owner), FRESH);
    let refusal = server
        .connect_as("carol", "shop")
        .refusal("SELECT setval('mint.time_ceiling', 1)");
    assert_eq!(refusal.code, "42501", "{refusal}");
    owner.refused("CREATE TABLE mint.item ()", "42501");
    // A superuser can install into a schema of the database's owner, and into a schema of its own.
    owner.run("DROP EXTENSION pg_mint; CREATE SCHEMA mint");
    let mut session = server.connect("shop");
    session.run(CREATE);
    assert_eq!(schema(&mut session), FRESH);
    session.run("DROP EXTENSION pg_mint; CREATE SCHEMA mint");
    session.run(CREATE);
    assert_eq!(schema(&mut session), FRESH);
}

#[test]
fn a_schema_of_another_role_is_refused() {
    let (server, mut owner) = shop("a schema of another role");
    let mut carol = server.connect_as("carol", "shop");
    carol.run("CREATE SCHEMA mint");
    let before = schema(&mut owner);
    for mut session in [owner, server.connect("shop")] {
        let refusal = session.refused(CREATE, "42P06");
        assert_eq!(refusal.message, "schema \"mint\" already exists");
        assert_eq!(
            refusal.detail,
            "The owner of the schema is role \"carol\". The extension creates a schema of this name itself."
        );
        assert_eq!(refusal.hint, "Drop or rename the schema.");
        assert_eq!(schema(&mut session), before);
        assert!(
            session.one::<bool>(
                "SELECT NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_mint')"
            )
        );
    }
    carol.run("ALTER SCHEMA mint RENAME TO peppermint");
    server.connect_as("owner", "shop").run(CREATE);
}

#[test]
fn a_schema_with_anything_in_it_is_refused() {
    let (_server, mut owner) = shop("a schema that is not empty");
    for object in [
        "TABLE mint.a ()",
        "SEQUENCE mint.a",
        "VIEW mint.a AS SELECT 1 AS one",
        "TYPE mint.a AS ENUM ()",
        "DOMAIN mint.a AS text",
        "FUNCTION mint.a() RETURNS int LANGUAGE sql RETURN 1",
        "AGGREGATE mint.a(int) (SFUNC = int4larger, STYPE = int)",
        "OPERATOR mint.+ (RIGHTARG = text, FUNCTION = upper)",
        "COLLATION mint.a FROM \"C\"",
        "CONVERSION mint.a FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8",
        "TEXT SEARCH CONFIGURATION mint.a (COPY = simple)",
        "TEXT SEARCH DICTIONARY mint.a (TEMPLATE = simple)",
    ] {
        owner.run("CREATE SCHEMA mint");
        let before = schema(&mut owner);
        owner.run(&format!("CREATE {object}"));
        let refusal = owner.refused(CREATE, "42P06");
        assert!(
            refusal.message == "schema \"mint\" already exists and is not empty",
            "{object}: {refusal}"
        );
        refusal.assert_detail("depends on schema mint");
        assert_eq!(
            refusal.hint, "Drop or rename the schema.",
            "{object}: {refusal}"
        );
        assert_eq!(schema(&mut owner), before);
        owner.run("DROP SCHEMA mint CASCADE");
    }
    owner.run(CREATE);
}

/// `SCHEMA mint`, by name and by the search path.
#[test]
fn the_functions_of_applications_are_not_put_into_mint() {
    let (_server, mut owner) = shop("schema mint by name");
    owner.refused("CREATE EXTENSION pg_mint SCHEMA mint", "3F000");
    owner.run("CREATE SCHEMA mint");
    let before = schema(&mut owner);
    for create in [
        "CREATE EXTENSION pg_mint SCHEMA mint",
        "SET search_path = mint, public; CREATE EXTENSION pg_mint",
    ] {
        let refusal = owner.refused(create, "0A000");
        refusal.assert_message("cannot be installed in schema \"mint\"");
        refusal.assert_hint("SCHEMA public");
        assert_eq!(schema(&mut owner), before);
    }
    owner.run("SET search_path = public");
    owner.run(CREATE);
    let elsewhere: Vec<String> = owner.column(
        "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
         WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')
             AND relnamespace <> 'mint'::regnamespace",
    );
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}

/// Makes the database a registry with a node that is kept out of its ring.
pub fn fill_registry(owner: &mut Session) {
    owner.run(
        "SELECT mint.registry_create();
         INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until) VALUES (10, 700, 'others', 'infinity')",
    );
}
