//! Updates of the extension: from the script of an earlier version, with this library, to what a new installation has.
//!
//! Released versions have their scripts in `sql`, which never change. Beside them there is a version 0.0.9 that nobody
//! released: the script of now with [`CHANGES`] undone, and an update that does them.

use crate::company::dumps::{assert_far, fill_far};
use crate::company::schema::{fill_registry, shop};
use mint_cluster::{Server, Session, assert_ascending, extension_folder};
use std::fs;
use std::path::{Path, PathBuf};

const PRACTICE: &str = "0.0.9";

/// What the script of now says, and what 0.0.9 says instead.
const CHANGES: [(&str, &str); 10] = [
    (
        "CREATE FUNCTION \"max_uuid\"() RETURNS uuid\nIMMUTABLE STRICT PARALLEL SAFE COST 1\nLANGUAGE c\nAS 'MODULE_PATHNAME', 'max_uuid_wrapper';\n",
        "",
    ),
    (
        "COMMENT ON FUNCTION max_uuid() IS 'Returns the UUID whose bits are all one';\n",
        "",
    ),
    (
        "\"nil_uuid\"() RETURNS uuid\nIMMUTABLE STRICT PARALLEL SAFE COST 1\n",
        "\"nil_uuid\"() RETURNS uuid\nSTABLE\n",
    ),
    (
        "\"id\" bigint,\n    \"encoding\" text DEFAULT 'base58'\n) RETURNS text\n",
        "\"id\" bigint,\n    \"encoding\" text\n) RETURNS text\n",
    ),
    (
        "FUNCTION = mint.objectid_eq,\n    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel,",
        "FUNCTION = mint.objectid_eq,\n    COMMUTATOR = =, NEGATOR = <>,",
    ),
    (
        "CREATE VIEW mint.lanes AS SELECT * FROM mint.lanes();",
        "CREATE VIEW mint.lanes AS SELECT layout, node, last_id FROM mint.lanes();",
    ),
    (
        "COMMENT ON VIEW mint.lanes IS 'Shows the lanes that this server has used since it started';\nGRANT SELECT ON mint.lanes TO pg_monitor;\n",
        "COMMENT ON VIEW mint.lanes IS 'Shows lanes';\n",
    ),
    (
        "REVOKE ALL ON FUNCTION mint.accept_clock() FROM PUBLIC;\n",
        "",
    ),
    ("GRANT SELECT ON mint.segments TO PUBLIC;\n", ""),
    ("ALTER FUNCTION mint.ceilings() ROWS 10;\n", ""),
];

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the version of the extension.
fn current() -> String {
    let manifest = read("Cargo.toml");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "));
    version.expect("a version").trim_matches('"').to_owned()
}

/// Puts the scripts of 0.0.9 beside those of the server tree.
fn install_practice() {
    let current = current();
    let mut script = read(&format!("sql/pg_mint--{current}.sql"));
    for (now, before) in CHANGES {
        assert_eq!(script.matches(now).count(), 1, "{now}");
        script = script.replace(now, before);
    }
    let update = format!("pg_mint--{PRACTICE}--{current}.sql");
    for (name, text) in [
        (format!("pg_mint--{PRACTICE}.sql"), script),
        (update.clone(), read(&format!("pg_test/updates/{update}"))),
    ] {
        let place = extension_folder().join(name);
        // Other stories may read it, and write it at the same time.
        let next = place.with_extension(format!("{:?}", std::thread::current().id()));
        fs::write(&next, text).expect("the folder of extensions can be written");
        fs::rename(&next, &place).expect("a script can be put in");
    }
}

/// The definitions of all objects of the extension: what the tests of the catalog print, and who may use what.
fn definitions(server: &Server, database: &str) -> String {
    let of = |file: &str| {
        let script = read(&format!("pg_test/sql/{file}.sql"));
        let lines = script
            .lines()
            .filter(|line| !line.starts_with("CREATE ") || line.starts_with("CREATE TEMP"));
        let lines =
            lines.filter(|line| !line.starts_with("DROP ") && !line.starts_with("SET search_path"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let rights = "SELECT n.nspname, nspacl FROM pg_namespace n WHERE nspname = 'mint';
        SELECT c.oid::regclass, relacl, pg_get_viewdef(c.oid) FROM own JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid ORDER BY c.oid::regclass::text COLLATE \"C\";
        SELECT p.oid::regprocedure, proacl, pg_get_functiondef(p.oid) FROM own JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid WHERE prokind <> 'a' ORDER BY p.oid::regprocedure::text COLLATE \"C\";
        SELECT t.oid::regtype, typacl FROM own JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid ORDER BY t.oid::regtype::text COLLATE \"C\";
        SELECT classid::regclass, pg_describe_object(classid, objid, 0) FROM own ORDER BY 1, pg_describe_object(classid, objid, 0) COLLATE \"C\"";
    let [catalog, objects] = ["catalog", "catalog_objects"].map(of);
    // What the former says of sessions and ids is not of the definitions.
    let catalog = catalog.split("-- Settings are at their defaults.").next();
    let script = format!("{}\n{objects}\n{rights};", catalog.unwrap_or_default());
    let said = server.psql(database, script.as_bytes());
    String::from_utf8(said).expect("definitions are text")
}

/// Returns the versions that can be updated to the current one.
fn earlier_versions(session: &mut Session) -> Vec<String> {
    session.column(&format!(
        "SELECT source FROM pg_extension_update_paths('pg_mint') WHERE target = '{}' AND path IS NOT NULL ORDER BY 1",
        current()
    ))
}

/// Makes data of every kind as the owner of the database.
fn fill(server: &Server, owner: &mut Session) {
    owner.run(
        "CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), n int, layout snowflake_layout DEFAULT 'twitter',
             code text GENERATED ALWAYS AS (id_to_text(id, 'base58')) STORED);
         CREATE INDEX ON item (snowflake_time(id)); CREATE INDEX ON item USING hash (layout);
         CREATE TABLE event (id objectid DEFAULT objectid() PRIMARY KEY, n int) PARTITION BY RANGE (id);
         CREATE TABLE past PARTITION OF event FOR VALUES FROM (MINVALUE) TO (objectid_min('2020-01-01Z'));
         CREATE TABLE present PARTITION OF event FOR VALUES FROM (objectid_min('2020-01-01Z')) TO (MAXVALUE);
         CREATE VIEW used AS SELECT last_id FROM mint.lanes WHERE node = 5;
         CREATE FUNCTION new_item() RETURNS bigint LANGUAGE sql BEGIN ATOMIC INSERT INTO item (n) VALUES (0) RETURNING id; END;
         SELECT segment_create('numbers', 10), ticket_create('photos', server => 2, servers => 3), user_sequence_create('mailbox');
         INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('order', 10)",
    );
    owner.run(
        "INSERT INTO item (n) SELECT generate_series(1, 100);
         INSERT INTO event (n) SELECT generate_series(1, 100); INSERT INTO event VALUES ('507f1f77bcf86cd799439011', 0);
         SELECT segment_next('numbers'), ticket_next('photos'), user_sequence_next('mailbox', 7), segment_next('\"order\"')",
    );
    let database: String = owner.one("SELECT current_database()::text");
    fill_far(&mut server.connect(&database), owner);
    fill_registry(owner);
}

/// Asserts that what [`fill`] made can be read, and that what is drawn from it continues.
#[track_caller]
fn assert_data(owner: &mut Session, round: i64, how: &str) {
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 100); INSERT INTO event (n) SELECT generate_series(1, 100)");
    owner.run("SET enable_seqscan = off");
    let asked = [
        "SELECT count(*) = count(DISTINCT id) AND bool_and(code = id_to_text(id, 'base58')) FROM item",
        "SELECT count(*) > 0 FROM item WHERE snowflake_time(id) > now() - interval '1 hour' AND layout = 'twitter'",
        "SELECT count(*) = 1 FROM event WHERE id = '507f1f77bcf86cd799439011'",
        "SELECT min(n) = 0 AND count(*) > 100 FROM event",
        "SELECT new_item() > (SELECT max(id) FROM item)",
        "SELECT count(*) = 1 FROM mint_registry.nodes WHERE holder = 'others'",
        "SELECT bool_or(biz_tag = 'order') FROM mint.leaf_alloc",
    ];
    for sql in asked {
        assert!(owner.one::<bool>(sql), "{how}: {sql}");
    }
    owner.run("RESET enable_seqscan");
    let ids: Vec<i64> = owner.column("SELECT id FROM item ORDER BY ctid");
    assert_ascending(&ids);
    let drawn = "SELECT ARRAY[segment_next('numbers'), ticket_next('photos'), user_sequence_next('mailbox', 7), segment_next('\"order\"')]::text";
    let (n, ticket) = (1 + round, 2 + 3 * round);
    assert_eq!(
        owner.one::<String>(drawn),
        format!("{{{n},{ticket},{n},{n}}}"),
        "{how}"
    );
}

/// This library serves the objects of every earlier version, and an update makes of them those of a new installation.
/// Sessions that were there before continue.
#[test]
fn an_update_makes_what_a_new_installation_has() {
    let (server, mut fresh) = shop("updates");
    install_practice();
    fresh.run("CREATE EXTENSION pg_mint");
    let expected = definitions(&server, "shop");
    assert!(
        expected.len() > 50_000 && !expected.contains("ERROR"),
        "{expected}"
    );
    let versions = earlier_versions(&mut fresh);
    assert!(
        versions.iter().any(|version| version == PRACTICE),
        "{versions:?}"
    );
    let mut session = server.connect("postgres");
    session.run("GRANT pg_monitor TO owner");
    for version in versions {
        session.run("DROP DATABASE IF EXISTS earlier");
        session.run("CREATE DATABASE earlier OWNER owner");
        session.run("ALTER DATABASE earlier SET pg_mint.a_setting_of_before = '5 s'");
        let mut owner = server.connect_as("owner", "earlier");
        owner.run(&format!("CREATE EXTENSION pg_mint VERSION '{version}'"));
        assert_ne!(definitions(&server, "earlier"), expected, "{version}");
        fill(&server, &mut owner);
        assert_data(&mut owner, 1, &format!("{version} before the update"));
        let mut beside = server.connect_as("owner", "earlier");
        beside.run("PREPARE next AS SELECT new_item(), nil_uuid(), id_to_text(7, 'hex')");
        beside.run("EXECUTE next");

        owner.run("ALTER EXTENSION pg_mint UPDATE");
        // A setting that is no more is removed from what a database has, with a warning.
        let warning = "removing it\nDETAIL:  \"pg_mint\" is now a reserved prefix.";
        assert!(definitions(&server, "earlier").contains(warning));
        session.run("ALTER DATABASE earlier RESET ALL");
        let made = definitions(&server, "earlier");
        let lacks = |of: &str, other: &str| {
            let lines = of.lines().filter(|line| !other.contains(line));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (more, less) = (lacks(&made, &expected), lacks(&expected, &made));
        assert!(
            made == expected,
            "{version}: more: {more:#?}, less: {less:#?}"
        );
        assert_data(&mut owner, 2, &format!("{version} after the update"));
        beside.run("EXECUTE next");
        assert!(beside.one::<bool>("SELECT count(*) = 1 FROM used"));
        assert!(beside.one::<bool>("SELECT max_uuid() > nil_uuid()"));
        drop((owner, beside));
        // It goes with its name, which nobody owns any more.
        let mut owner = server.connect_as("owner", "earlier");
        assert!(owner.one::<i64>("SELECT new_item()") > 0);

        session.run("DROP DATABASE IF EXISTS copy");
        session.run("CREATE DATABASE copy OWNER owner");
        server.restore("owner", "copy", &server.dump("owner", "earlier"));
        assert_eq!(definitions(&server, "copy"), expected, "{version}, dumped");
        let mut copy = server.connect_as("owner", "copy");
        assert_far(&mut copy, &version);
        copy.run("INSERT INTO item (n) VALUES (1); INSERT INTO event (n) VALUES (1)");
        let same = "SELECT count(*) = count(DISTINCT id) FROM item";
        assert!(copy.one::<bool>(same), "{version}");
    }
}

/// A package is replaced before the last session of the old library has ended, or a script is installed without its
/// library: what that lacks is an error, and the rest goes on.
#[test]
fn a_library_that_lacks_a_function_says_so() {
    const LACKING: &[u8] = b"max_uuid_wrapper";
    let (server, mut owner) = shop("an old library");
    install_practice();
    server.install_library(|library| {
        let places = (0..library.len() - LACKING.len())
            .filter(|&place| library[place..].starts_with(LACKING));
        for place in places.collect::<Vec<_>>() {
            library[place] = b'M';
        }
    });
    // New SQL, old library.
    let refusal = owner.refusal("CREATE EXTENSION pg_mint");
    let expected = "could not find function \"max_uuid_wrapper\" in file ";
    assert_eq!(refusal.code, "42883", "{refusal}");
    assert!(refusal.message.contains(expected), "{refusal}");
    owner.run(&format!("CREATE EXTENSION pg_mint VERSION '{PRACTICE}'"));
    let id: i64 = owner.one("SELECT snowflake_next_id(5)");
    let refusal = owner.refusal("ALTER EXTENSION pg_mint UPDATE");
    assert!(refusal.message.contains(expected), "{refusal}");
    let version = "SELECT extversion FROM pg_extension WHERE extname = 'pg_mint'";
    assert_eq!(owner.one::<String>(version), PRACTICE);
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > id);
    // A new library, beside the session that has the old one.
    server.install_library(|_| ());
    let mut new = server.connect_as("owner", "shop");
    new.run("ALTER EXTENSION pg_mint UPDATE");
    assert!(new.one::<bool>("SELECT max_uuid() > nil_uuid()"));
    let refusal = owner.refusal("SELECT max_uuid()");
    assert!(refusal.message.contains(expected), "{refusal}");
    let ids =
        [&mut owner, &mut new].map(|session| session.one::<i64>("SELECT snowflake_next_id(5)"));
    assert!(id < ids[0] && ids[0] < ids[1], "{id} {ids:?}");
}
