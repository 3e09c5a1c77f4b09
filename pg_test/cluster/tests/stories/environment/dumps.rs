//! What leaves a database with the extension, and what stays in it: dumps, DROP EXTENSION, and publications.

use crate::environment::schema::{CREATE, FRESH, fill_registry, schema, shop};
use mint_cluster::Session;

/// Fills database `shop` as its owner.
fn fill(owner: &mut Session) {
    owner.run(
        "CREATE EXTENSION IF NOT EXISTS pg_mint;
         CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), layout snowflake_layout DEFAULT 'twitter',
             oid objectid DEFAULT objectid(), n int);
         CREATE INDEX ON item (oid); CREATE INDEX ON item USING hash (layout); CREATE INDEX ON item ((snowflake_time(id)));
         INSERT INTO item (n) SELECT generate_series(1, 100)",
    );
}

/// Makes a sequence whose values are those of a server that is gone.
pub fn fill_far(superuser: &mut Session, maker: &mut Session) {
    superuser.run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy; GRANT USAGE ON FOREIGN SERVER srv TO PUBLIC",
    );
    maker.run("SELECT segment_create('far', source => 'srv')");
    superuser.run("DROP FOREIGN DATA WRAPPER dummy CASCADE");
}

/// Asserts that a copy of this sequence still takes its values from that server and no others.
#[track_caller]
pub fn assert_far(session: &mut Session, how: &str) {
    assert_eq!(
        session.refusal("SELECT nextval('far')").code,
        "2200H",
        "{how}"
    );
    session.run("SET pg_mint.max_wait = 100");
    let refusal = session.refusal("SELECT segment_next('far')");
    assert!(
        refusal
            .message
            .contains("could not obtain segment of sequence"),
        "{how}: {refusal}"
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

/// Asserts that this registry is there, of its owner, and waits, as it may have forgotten leases.
#[track_caller]
pub fn assert_registry(session: &mut Session, owner: &str, how: &str) {
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
            .contains("registry is in quarantine and grants no new leases"),
        "{how}: {refusal}"
    );
    session
        .run("SELECT mint.registry_end_quarantine(); SELECT mint.registry_reserve(10, 8, 8, 'x')");
    let found: String = session
        .one("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'mint_registry'");
    assert_eq!(found, owner, "{how}");
}

#[test]
fn owners_and_superusers_dump_and_restore() {
    let (server, mut owner) = shop("dumps");
    let mut session = server.connect("postgres");
    fill(&mut owner);
    fill_far(&mut server.connect("shop"), &mut owner);
    fill_registry(&mut owner);
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
            assert_far(&mut copy, &how);
            assert_registry(&mut copy, "owner", &how);
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
        let how = format!("-n by {user}");
        assert_minting(&mut copy, &how);
        assert_far(&mut copy, &how);
        let dump = server.dump_with(user, "shop", &["-n", "mint_registry"]);
        server.restore(user, "copy", &dump);
        assert_registry(&mut copy, "owner", &how);
    }
}

/// The registry's tables are no part of the extension, so it comes and goes without CASCADE.
#[test]
fn dropping_the_extension_leaves_the_registry() {
    let (_server, mut owner) = shop("drop and reinstall");
    owner.run(CREATE);
    fill_registry(&mut owner);
    let ids: Vec<i64> = owner.column("SELECT snowflake_next_ids(5, 1000)");
    owner.run("DROP EXTENSION pg_mint");
    assert!(
        owner.one::<bool>("SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'mint')")
    );
    owner.run("CREATE EXTENSION pg_mint");
    let refusal = owner.refusal("SELECT mint.registry_reserve(10, 7, 7, 'x')");
    assert!(
        refusal.message.contains("is reserved for \"others\""),
        "{refusal}"
    );
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
    let published =
        "SELECT format('%s.%s', schemaname, tablename) FROM pg_publication_tables ORDER BY 1";
    let of_mint: Vec<String> = session.column(published);
    assert_eq!(of_mint, Vec::<String>::new());
    // The registry's tables are ordinary ones of their owner, as docs/guides/several-servers.md says.
    fill_registry(&mut owner);
    let of_the_registry: Vec<String> = session.column(published);
    assert_eq!(
        of_the_registry,
        ["mint_registry.leases", "mint_registry.registry"]
    );
}
