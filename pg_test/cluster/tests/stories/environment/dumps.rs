//! Dumps, DROP EXTENSION and publications: some objects leave a database with the extension, and others stay.

use crate::environment::schema::{CREATE, FRESH, fill_registry, schema, shop};
use mint_cluster::Session;
use mint_cluster::registry::members::request;

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
    session.refused("SELECT nextval('far')", "2200H");
    session.run("SET pg_mint.max_wait = 100");
    let refusal = session.refusal("SELECT segment_next('far')");
    let words = "could not obtain segment of sequence";
    assert!(refusal.message.contains(words), "{how}: {refusal}");
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

/// Asserts that this registry is there, and waits, as it can have forgotten leases; and whose its function is.
#[track_caller]
pub fn assert_registry(superuser: &mut Session, owner: &str, how: &str) {
    let answer = request(superuser, 10, r#"{"grant": 1}"#);
    assert!(answer.contains("wait"), "{how}: {answer}");
    let rows = "SELECT format('%s %s', holder, node) FROM mint.registry_leases WHERE place = mint.registry_place()";
    assert_eq!(superuser.column::<String>(rows), ["others 700"], "{how}");
    let found: String = superuser.one(
        "SELECT proowner::regrole::text FROM pg_proc WHERE oid = 'mint.registry_request(jsonb)'::regprocedure",
    );
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
            assert_registry(&mut server.connect("copy"), user, &how);
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
    }
}

/// The registry goes with the extension, and no id repeats.
#[test]
fn dropping_the_extension_drops_the_registry() {
    let (_server, mut owner) = shop("drop and reinstall");
    owner.run(CREATE);
    fill_registry(&mut owner);
    let ids: Vec<i64> = owner.column("SELECT snowflake_next_ids(5, 1000)");
    owner.run("DROP EXTENSION pg_mint");
    assert!(
        owner.one::<bool>("SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'mint')")
    );
    owner.run(CREATE);
    assert_eq!(owner.one::<i64>("SELECT count(*) FROM mint.registry"), 0);
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > *ids.last().expect("ids"));
}

#[test]
fn a_publication_of_all_tables_has_the_registry_and_no_other_of_the_extension() {
    let (server, mut owner) = shop("a publication");
    owner.run(CREATE);
    let mut session = server.connect("shop");
    session.run("CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy");
    session.run("SELECT segment_create('far', source => 'srv')");
    session.run("CREATE PUBLICATION every FOR ALL TABLES");
    let published: Vec<String> = session.column(
        "SELECT format('%s.%s', schemaname, tablename) FROM pg_publication_tables ORDER BY 1",
    );
    assert_eq!(published, ["mint.registry", "mint.registry_leases"]);
}
