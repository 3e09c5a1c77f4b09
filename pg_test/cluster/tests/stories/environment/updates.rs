//! Updates of the extension: from the script of an earlier version, with this library, to what a new installation has.
//!
//! Released versions have their scripts in `sql`, which never change. Beside them there is a version 0.0.9 that nobody
//! released: a released script with [`CHANGES`] undone, and an update that does them.

use crate::environment::dumps::{assert_far, fill_far};
use crate::environment::schema::{fill_registry, shop};
use mint_cluster::{Server, Session, assert_ascending, extension_folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PRACTICE: &str = "0.0.9";

/// Statements of the script, and those of 0.0.9 in their place.
#[rustfmt::skip]
const CHANGES: [(&str, &str); 8] = [
    (
        "CREATE FUNCTION uuid_max_value() RETURNS uuid\n    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE c AS 'MODULE_PATHNAME', 'uuid_max_value_wrapper';\n",
        "",
    ),
    ("COMMENT ON FUNCTION uuid_max_value() IS 'Returns the UUID whose bits are all one';\n", ""),
    (
        "uuid_nil_value() RETURNS uuid\n    IMMUTABLE STRICT PARALLEL SAFE ",
        "uuid_nil_value() RETURNS uuid\n    STABLE ",
    ),
    ("id_to_text(id bigint, encoding text DEFAULT 'base58')", "id_to_text(id bigint, encoding text)"),
    (
        "FUNCTION = mint.objectid_eq,\n    COMMUTATOR = =, NEGATOR = <>, RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel,",
        "FUNCTION = mint.objectid_eq,\n    COMMUTATOR = =, NEGATOR = <>,",
    ),
    (
        "CREATE VIEW mint.lanes AS SELECT * FROM mint.lanes();",
        "CREATE VIEW mint.lanes AS SELECT layout, shard, last_id FROM mint.lanes();",
    ),
    (
        "COMMENT ON VIEW mint.lanes IS 'Shows the lanes that this server has used since it started';\n",
        "COMMENT ON VIEW mint.lanes IS 'Shows lanes';\n",
    ),
    (
        " ROWS 10 LANGUAGE c AS 'MODULE_PATHNAME', 'ceilings_wrapper';",
        " LANGUAGE c AS 'MODULE_PATHNAME', 'ceilings_wrapper';",
    ),
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

/// The scripts of 0.0.9 beside those of the server tree, for as long as a story uses them.
struct Practice;

/// The stories that use them now.
static STORIES: Mutex<usize> = Mutex::new(0);

fn stories() -> MutexGuard<'static, usize> {
    STORIES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Practice {
    fn install() -> Self {
        let scripts = scripts();
        let mut stories = stories();
        // Others can read them now.
        let missing = scripts.into_iter().filter(|_| *stories == 0);
        for (name, text) in missing {
            fs::write(extension_folder().join(name), text)
                .expect("the folder of extensions can be written");
        }
        *stories += 1;
        Self
    }
}

impl Drop for Practice {
    fn drop(&mut self) {
        let mut stories = stories();
        *stories -= 1;
        if *stories == 0 {
            for (name, _) in scripts() {
                // Nobody needs to know of a script that was not there.
                let _ = fs::remove_file(extension_folder().join(name));
            }
        }
    }
}

/// Returns the scripts of 0.0.9 with their names: its update leads to the released version that it was written for, from
/// where the released ones continue.
fn scripts() -> [(String, String); 2] {
    let folder = repository("pg_test/updates");
    let mut names = fs::read_dir(&folder)
        .expect("the folder of the update")
        .map(|file| {
            file.expect("a file")
                .file_name()
                .into_string()
                .expect("a name")
        });
    let (Some(update), None) = (names.next(), names.next()) else {
        panic!("{} has one update", folder.display());
    };
    let to = update.strip_prefix(&format!("pg_mint--{PRACTICE}--"));
    let mut script = read(&format!("sql/pg_mint--{}", to.expect("an update of 0.0.9")));
    for (after, before) in CHANGES {
        assert_eq!(script.matches(after).count(), 1, "{after}");
        script = script.replace(after, before);
    }
    let text = read(&format!("pg_test/updates/{update}"));
    [(format!("pg_mint--{PRACTICE}.sql"), script), (update, text)]
}

/// The definitions of all objects of the extension: what the tests of the catalog print, privileges, and comments.
/// The comment of the extension itself stays that of the version that was created, unless an update script has its own.
fn definitions(server: &Server, database: &str) -> String {
    let script = read("pg_test/sql/catalog.sql");
    // The rest of the file is of sessions and ids.
    let catalog = script.split("\\echo -- Of this session").next();
    let lines = catalog.unwrap_or_default().lines().filter(|line| {
        line.starts_with("CREATE TEMP")
            || !["CREATE ", "DROP ", "SET search_path"]
                .iter()
                .any(|start| line.starts_with(start))
    });
    let catalog = lines.collect::<Vec<_>>().join("\n");
    let rights = "SELECT n.nspname, nspowner::regrole, nspacl FROM pg_namespace n WHERE nspname = 'mint';
        SELECT c.oid::regclass, relowner::regrole, relacl, pg_get_viewdef(c.oid) FROM own JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid ORDER BY c.oid::regclass::text COLLATE \"C\";
        SELECT attrelid::regclass, attname, attacl, pg_get_expr(adbin, adrelid) FROM own JOIN pg_attribute ON classid = 'pg_class'::regclass AND objid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attnum > 0 ORDER BY attrelid::regclass::text COLLATE \"C\", attnum;
        SELECT pg_get_ruledef(r.oid) FROM own JOIN pg_rewrite r ON classid = 'pg_class'::regclass AND objid = ev_class WHERE rulename <> '_RETURN' ORDER BY 1;
        SELECT p.oid::regprocedure, proowner::regrole, proacl, CASE WHEN prokind <> 'a' THEN pg_get_functiondef(p.oid) END FROM own JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid ORDER BY p.oid::regprocedure::text COLLATE \"C\";
        SELECT t.oid::regtype, typowner::regrole, typacl FROM own JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid ORDER BY t.oid::regtype::text COLLATE \"C\";
        SELECT pg_describe_object(classoid, objoid, objsubid), privtype, initprivs FROM own JOIN pg_init_privs ON (classoid, objoid) = (classid, objid) ORDER BY 1;
        SELECT pg_describe_object(classoid, objoid, objsubid), description FROM pg_description
            WHERE (classoid, objoid) IN (SELECT classid, objid FROM own UNION SELECT d.classid, d.objid FROM own o JOIN pg_depend d ON (refclassid, refobjid) = (o.classid, o.objid) WHERE d.classid IN ('pg_trigger'::regclass, 'pg_rewrite'::regclass, 'pg_constraint'::regclass))
            ORDER BY 1;
        SELECT classid::regclass, pg_describe_object(classid, objid, 0) FROM own ORDER BY 1, pg_describe_object(classid, objid, 0) COLLATE \"C\"";
    let script = format!("{catalog}\n{rights};");
    let said = server.psql(database, script.as_bytes());
    String::from_utf8(said).expect("definitions are text")
}

/// Returns the versions that can be installed beside the current one. Each has a way to it.
fn earlier_versions(session: &mut Session) -> Vec<String> {
    let ways = format!(
        "FROM pg_available_extension_versions JOIN pg_extension_update_paths('pg_mint') ON source = version
         WHERE name = 'pg_mint' AND target = '{}'",
        current()
    );
    let without: Vec<String> = session.column(&format!("SELECT source {ways} AND path IS NULL"));
    assert!(without.is_empty(), "no script updates {without:?}");
    let versions: Vec<String> = session.column(&format!("SELECT source {ways} ORDER BY 1"));
    let practice = versions.iter().any(|version| version == PRACTICE);
    assert!(practice, "{versions:?}");
    versions
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
         CREATE VIEW used AS SELECT last_id FROM mint.lanes WHERE shard = 5;
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
        "SELECT count(*) = 1 FROM mint.registry_leases WHERE holder = 'others'",
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
    let _practice = Practice::install();
    fresh.run("CREATE EXTENSION pg_mint");
    let expected = definitions(&server, "shop");
    assert!(
        expected.len() > 50_000 && !expected.contains("ERROR"),
        "{expected}"
    );
    let mut session = server.connect("postgres");
    session.run("GRANT pg_monitor TO owner");
    for version in earlier_versions(&mut fresh) {
        session.run("DROP DATABASE IF EXISTS earlier");
        session.run("CREATE DATABASE earlier OWNER owner");
        session.run("ALTER DATABASE earlier SET pg_mint.a_setting_of_before = '5 s'");
        let mut owner = server.connect_as("owner", "earlier");
        owner.run(&format!("CREATE EXTENSION pg_mint VERSION '{version}'"));
        // A released version can differ in nothing but its library.
        let differs = definitions(&server, "earlier") != expected;
        assert!(differs || version != PRACTICE, "{version}");
        fill(&server, &mut owner);
        assert_data(&mut owner, 1, &format!("{version} before the update"));
        let mut beside = server.connect_as("owner", "earlier");
        beside.run("PREPARE next AS SELECT new_item(), uuid_nil_value(), id_to_text(7, 'hex')");
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
        assert!(beside.one::<bool>("SELECT uuid_max_value() > uuid_nil_value()"));
        drop((owner, beside));
        // It goes with its name, which nobody owns any more.
        let mut owner = server.connect_as("owner", "earlier");
        assert!(owner.one::<i64>("SELECT new_item()") > 0);

        session.run("DROP DATABASE IF EXISTS copy");
        let mut copy = server.owned_database("owner", "copy");
        server.restore("owner", "copy", &server.dump("owner", "earlier"));
        assert_eq!(definitions(&server, "copy"), expected, "{version}, dumped");
        assert_far(&mut copy, &version);
        copy.run("INSERT INTO item (n) VALUES (1); INSERT INTO event (n) VALUES (1)");
        let same = "SELECT count(*) = count(DISTINCT id) FROM item";
        assert!(copy.one::<bool>(same), "{version}");
    }
}

/// Dumps contain what users granted on the extension's objects before an update. Where its script grants or revokes on an
/// object that was there, the server takes all grants on it for the extension's own, and dumps lack them.
#[test]
fn grants_of_users_are_dumped_after_an_update() {
    let (server, mut session) = shop("grants and updates");
    let _practice = Practice::install();
    let versions = earlier_versions(&mut session);
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE reader");
    for version in versions {
        for name in ["earlier", "copy"] {
            session.run(&format!("DROP DATABASE IF EXISTS {name}"));
            session.run(&format!("CREATE DATABASE {name}"));
        }
        let mut earlier = server.connect("earlier");
        earlier.run(&format!("CREATE EXTENSION pg_mint VERSION '{version}'"));
        earlier.run(
            "GRANT SELECT ON ALL TABLES IN SCHEMA mint TO reader; GRANT SELECT ON ALL SEQUENCES IN SCHEMA mint TO reader;
             GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA mint, public TO reader; GRANT USAGE ON SCHEMA mint TO reader",
        );
        earlier.run("ALTER EXTENSION pg_mint UPDATE");
        let [granted, restored] = ["earlier", "copy"].map(|name| {
            if name == "copy" {
                server.restore("postgres", "copy", &server.dump("postgres", "earlier"));
            }
            server.connect(name).column::<String>(
                "SELECT pg_describe_object(classid, oid, 0) FROM (SELECT 'pg_namespace'::regclass AS classid, oid, nspacl AS acl FROM pg_namespace
                     UNION ALL SELECT 'pg_class'::regclass, oid, relacl FROM pg_class UNION ALL SELECT 'pg_proc'::regclass, oid, proacl FROM pg_proc) AS o
                 WHERE acl::text ~ '\\mreader='",
            )
        });
        assert!(granted.len() > 200, "{version}: {granted:?}");
        let lost: Vec<_> = granted
            .iter()
            .filter(|object| !restored.contains(object))
            .collect();
        assert!(lost.is_empty(), "{version}: {lost:?}");
    }
}

/// A package is replaced before the last session of the old library has ended, or a script is installed without its
/// library: what that lacks is an error, and the rest continues.
#[test]
fn a_library_that_lacks_a_function_says_so() {
    const LACKING: &[u8] = b"uuid_max_value_wrapper";
    let (server, mut owner) = shop("an old library");
    let _practice = Practice::install();
    server.install_library(|library| {
        let places = (0..library.len() - LACKING.len())
            .filter(|&place| library[place..].starts_with(LACKING));
        for place in places.collect::<Vec<_>>() {
            library[place] = b'M';
        }
    });
    // New SQL, old library.
    let refusal = owner.refusal("CREATE EXTENSION pg_mint");
    let expected = "could not find function \"uuid_max_value_wrapper\" in file ";
    assert_eq!(refusal.code, "42883", "{refusal}");
    refusal.assert_message(expected);
    owner.run(&format!("CREATE EXTENSION pg_mint VERSION '{PRACTICE}'"));
    let id: i64 = owner.one("SELECT snowflake_next_id(5)");
    let refusal = owner.refusal("ALTER EXTENSION pg_mint UPDATE");
    refusal.assert_message(expected);
    let version = "SELECT extversion FROM pg_extension WHERE extname = 'pg_mint'";
    assert_eq!(owner.one::<String>(version), PRACTICE);
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > id);
    // A new library, beside the session that has the old one.
    server.install_library(|_| ());
    let mut new = server.connect_as("owner", "shop");
    new.run("ALTER EXTENSION pg_mint UPDATE");
    assert!(new.one::<bool>("SELECT uuid_max_value() > uuid_nil_value()"));
    let refusal = owner.refusal("SELECT uuid_max_value()");
    refusal.assert_message(expected);
    let ids =
        [&mut owner, &mut new].map(|session| session.one::<i64>("SELECT snowflake_next_id(5)"));
    assert!(id < ids[0] && ids[0] < ids[1], "{id} {ids:?}");
}
