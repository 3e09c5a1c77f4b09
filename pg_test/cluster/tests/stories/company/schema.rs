//! The schema `mint`, which the extension makes: what was there before, dumps, and what remains after DROP EXTENSION.

use mint_cluster::{Server, Session};

const CREATE: &str = "CREATE EXTENSION pg_mint";

/// Starts a server with the roles `owner`, who owns database `shop`, and `carol`, who may create schemas in it.
fn shop(story: &str) -> (Server, Session) {
    let server = Server::build(story).start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE owner LOGIN; CREATE ROLE carol LOGIN");
    session.run("CREATE DATABASE shop OWNER owner");
    session.run("GRANT CREATE ON DATABASE shop TO carol");
    let owner = server.connect_as("owner", "shop");
    (server, owner)
}

/// Returns the owner of schema mint, its privileges and comment, and whether it is the extension's.
fn schema(session: &mut Session) -> String {
    session.one(
        "SELECT format('%s %s %s %s', nspowner::regrole, nspacl, obj_description(n.oid, 'pg_namespace'),
             EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e'))
         FROM pg_namespace n WHERE nspname = 'mint'",
    )
}

const FRESH: &str =
    "postgres {postgres=UC/postgres,=U/postgres} views, administration and internals of pg_mint t";

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
    let refusal = owner.refusal("CREATE TABLE mint.item ()");
    assert_eq!(refusal.code, "42501", "{refusal}");
    // That of the database's owner, when a superuser installs; and that of the superuser.
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
        let refusal = session.refusal(CREATE);
        assert_eq!(refusal.code, "42P06", "{refusal}");
        assert_eq!(refusal.message, "schema \"mint\" already exists");
        assert_eq!(
            refusal.detail,
            "The owner of the schema is role carol. The extension creates a schema of this name itself."
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
        let refusal = owner.refusal(CREATE);
        assert_eq!(refusal.code, "42P06", "{object}: {refusal}");
        assert!(
            refusal.message == "schema \"mint\" already exists and is not empty",
            "{object}: {refusal}"
        );
        assert!(
            refusal.detail.contains("depends on schema mint"),
            "{object}: {refusal}"
        );
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
    let refusal = owner.refusal("CREATE EXTENSION pg_mint SCHEMA mint");
    assert_eq!(refusal.code, "3F000", "{refusal}");
    owner.run("CREATE SCHEMA mint");
    let before = schema(&mut owner);
    for create in [
        "CREATE EXTENSION pg_mint SCHEMA mint",
        "SET search_path = mint, public; CREATE EXTENSION pg_mint",
    ] {
        let refusal = owner.refusal(create);
        assert_eq!(refusal.code, "0A000", "{refusal}");
        assert!(
            refusal
                .message
                .contains("cannot be installed in schema \"mint\""),
            "{refusal}"
        );
        assert!(refusal.hint.contains("SCHEMA public"), "{refusal}");
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

/// Fills database `shop` as its owner, who also makes it a registry.
fn fill(owner: &mut Session) {
    owner.run(
        "CREATE EXTENSION IF NOT EXISTS pg_mint;
         CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), layout snowflake_layout DEFAULT 'twitter',
             oid objectid DEFAULT objectid(), n int);
         CREATE INDEX ON item (oid); CREATE INDEX ON item USING hash (layout); CREATE INDEX ON item ((snowflake_time(id)));
         INSERT INTO item (n) SELECT generate_series(1, 100)",
    );
}

/// Asserts that a copy of what [`fill`] made mints above it.
#[track_caller]
fn assert_minting(session: &mut Session, how: &str) {
    session.run("INSERT INTO item (n) SELECT generate_series(101, 200)");
    assert!(
        session.one::<bool>(
            "SELECT count(DISTINCT id) = 200 AND max(id) FILTER (WHERE n <= 100) < min(id) FILTER (WHERE n > 100) FROM item"
        ),
        "{how}"
    );
}

/// Asserts that the registry is there, of its owner, and waits, as it may have forgotten leases.
#[track_caller]
fn assert_registry(session: &mut Session, how: &str) {
    assert_eq!(
        session
            .one::<String>("SELECT format('%s %s', holder, first_node) FROM mint_registry.nodes"),
        "others 7",
        "{how}"
    );
    let refusal = session.refusal("SELECT mint.registry_reserve(10, 8, 8, 'x')");
    assert!(
        refusal
            .message
            .contains("registry is in quarantine and grants no leases"),
        "{how}: {refusal}"
    );
    session
        .run("SELECT mint.registry_end_quarantine(); SELECT mint.registry_reserve(10, 8, 8, 'x')");
    let owner: String = session
        .one("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'mint_registry'");
    assert_eq!(owner, "owner", "{how}");
}

#[test]
fn owners_and_superusers_dump_and_restore() {
    let (server, mut owner) = shop("dumps");
    let mut session = server.connect("postgres");
    fill(&mut owner);
    owner.run("SELECT mint.registry_create(); SELECT mint.registry_end_quarantine(); SELECT mint.registry_reserve(10, 7, 7, 'others')");
    let folder = server.folder("archives");
    for user in ["owner", "postgres"] {
        for how in [
            "plain", "clean", "sections", "archive", "clean archive", "parallel archive",
        ] {
            session.run("DROP DATABASE IF EXISTS copy");
            session.run("CREATE DATABASE copy OWNER owner");
            let from_archive = |options: &[&str]| {
                server.archive_and_restore(user, ["shop", "copy"], &folder, options)
            };
            match how {
                "plain" => server.restore(user, "copy", &server.dump(user, "shop")),
                "clean" => {
                    let dump = server.dump_with(user, "shop", &["--clean", "--if-exists"]);
                    server.restore(user, "copy", &dump);
                    // Over what is there.
                    server.restore(user, "copy", &dump);
                }
                "sections" => {
                    for section in ["pre-data", "data", "post-data"] {
                        let dump = server.dump_with(user, "shop", &["--section", section]);
                        server.restore(user, "copy", &dump);
                    }
                }
                "archive" => from_archive(&[]),
                "clean archive" => from_archive(&["--clean", "--if-exists"]),
                _ => from_archive(&["--jobs", "2"]),
            }
            let how = format!("{how} by {user}");
            let mut copy = server.connect_as("owner", "copy");
            assert_eq!(schema(&mut copy), FRESH, "{how}");
            assert_minting(&mut copy, &how);
            assert_registry(&mut copy, &how);
        }
        // One schema has no extension in its dump.
        session.run("DROP DATABASE copy");
        session.run("CREATE DATABASE copy OWNER owner");
        let mut copy = server.connect_as("owner", "copy");
        copy.run(CREATE);
        let dump = server.dump_with(user, "shop", &["-n", "public"]);
        server.restore(
            "postgres",
            "copy",
            &dump.replace("CREATE SCHEMA public;", ""),
        );
        assert_minting(&mut server.connect("copy"), &format!("-n public by {user}"));
    }
}

/// The registry's tables are no part of the extension, so it comes and goes without CASCADE.
#[test]
fn dropping_the_extension_leaves_the_registry() {
    let (_server, mut owner) = shop("drop and reinstall");
    owner.run("CREATE EXTENSION pg_mint; SELECT mint.registry_create(); SELECT mint.registry_end_quarantine()");
    owner.run("SELECT mint.registry_reserve(10, 7, 7, 'others')");
    let ids: Vec<i64> = owner.column("SELECT snowflake_next_ids(5, 1000)");
    owner.run("DROP EXTENSION pg_mint");
    assert!(
        owner.one::<bool>("SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'mint')")
    );
    owner.run("CREATE EXTENSION pg_mint");
    let refusal = owner.refusal("SELECT mint.registry_reserve(10, 7, 7, 'x')");
    assert!(refusal.message.contains("is leased by others"), "{refusal}");
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > *ids.last().expect("ids"));
}

#[test]
fn a_publication_of_all_tables_has_none_of_the_extension() {
    let (server, mut owner) = shop("a publication");
    owner.run(CREATE);
    let mut session = server.connect("shop");
    session.run("CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy");
    session.run("SELECT segment_create('far', source => 'srv')");
    session.run("CREATE PUBLICATION every FOR ALL TABLES");
    let published: Vec<String> =
        session.column("SELECT format('%I.%I', schemaname, tablename) FROM pg_publication_tables");
    assert!(published.is_empty(), "{published:?}");
}
