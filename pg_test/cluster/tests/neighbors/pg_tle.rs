//! pg_tle: the ids in SQL alone, of `sql/managed`, as a trusted language extension.

use crate::row::Neighbor;
use mint_cluster::server::installation;
use mint_cluster::{Server, Session};
use std::path::Path;
use std::process::Command;

const FILE: &str = include_str!("../../../../sql/managed/pg_mint_sql.sql");

const PG_TLE: Neighbor = Neighbor {
    name: "pg_tle",
    what: "the [ids in SQL](../guides/managed-clouds.md) as an extension without a library, by its script and by the package of database.dev",
};

/// The script that users run, with its arguments.
fn script(arguments: &[&Path]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql/managed");
    installation::run(Command::new(folder.join("pg_tle.sh")).args(arguments))
}

/// Installs the package of database.dev as its client does: by the control file and the script.
fn install_package(session: &mut Session, folder: &Path) {
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the package");
    let control = read("pg_mint_sql.control");
    let value = |key: &str| {
        let line = control
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key} = ")));
        line.unwrap_or_else(|| panic!("no {key} in {control}"))
            .trim_matches('\'')
            .to_owned()
    };
    assert_eq!(value("relocatable"), "false");
    let version = value("default_version");
    let sql = read(&format!("pg_mint_sql--{version}.sql"));
    session.run(&format!(
        "SELECT pgtle.install_extension('pg_mint_sql', '{version}', '{}', $package${sql}$package$)",
        value("comment")
    ));
}

/// Ids of the extension are those of the file, for its maker and for others; an extension that is used is not dropped.
fn draws(server: &Server, database: &str) {
    let mut maker = server.connect_as("maker", database);
    maker.run(
        "CREATE EXTENSION pg_mint_sql;
         SELECT mint_sql.shard_create(5), mint_sql.shard_create(5, 'time:41 shard:13 seq:9 epoch:2020-01-01T00:00:00Z');
         CREATE TABLE message (id bigint PRIMARY KEY DEFAULT mint_sql.snowflake_next_id(5), at timestamptz GENERATED ALWAYS AS (mint_sql.snowflake_time(id)) STORED, n integer);
         INSERT INTO message (n) SELECT generate_series(1, 1000)",
    );
    let whole: bool = maker
        .one("SELECT count(DISTINCT id) = 1000 AND bool_and(now() - at < '1 minute') FROM message");
    assert!(whole, "ids of the extension");
    let version: String =
        maker.one("SELECT extversion FROM pg_extension WHERE extname = 'pg_mint_sql'");
    assert!(FILE.contains(&format!("Version {version}.")), "{version}");
    maker.refused("DROP EXTENSION pg_mint_sql", "2BP01");
    let mut app = server.connect_as("app", database);
    app.one::<i64>("SELECT mint_sql.snowflake_next_id(5)");
    app.refused("SELECT mint_sql.shard_create(6)", "42501");
    // The search path is the session's again.
    assert_ne!(
        maker.one::<String>("SHOW search_path"),
        "pg_catalog, pg_temp"
    );
}

#[test]
fn ids_in_sql_are_a_trusted_language_extension() {
    if !PG_TLE.is_there("pg_tle") {
        return;
    }
    let server = Server::build("beside pg_tle")
        .conf("shared_preload_libraries = 'pg_tle'")
        .start_empty();
    let mut owner = server.connect("postgres");
    owner.run("CREATE ROLE maker LOGIN; CREATE ROLE app LOGIN; CREATE EXTENSION pg_tle; GRANT pgtle_admin TO maker");
    let version: String = owner.one("SELECT extversion FROM pg_extension WHERE extname = 'pg_tle'");
    for database in ["by_script", "by_package"] {
        owner.run(&format!("CREATE DATABASE {database} OWNER maker"));
        server
            .connect(database)
            .run("CREATE EXTENSION pg_tle; GRANT pgtle_admin TO maker");
    }
    server.connect_as("maker", "by_script").run(&script(&[]));
    draws(&server, "by_script");
    let folder = tempfile::tempdir().expect("a folder");
    script(&[Path::new("--dbdev"), folder.path()]);
    install_package(&mut server.connect_as("maker", "by_package"), folder.path());
    draws(&server, "by_package");
    PG_TLE.works(&version);
}
