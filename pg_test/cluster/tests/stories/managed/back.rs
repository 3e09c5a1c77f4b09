//! The way back names its obstacles: missing privileges, objects that depend on the extension, shards that it does not know.

use super::change::{FROM, prepared_server};
use super::{FILE, install};
use mint_cluster::Server;

/// A role that runs the way back needs the last ids, and learns beforehand what DROP EXTENSION would refuse or drop.
#[test]
fn the_way_back_names_what_it_lacks() {
    let server = prepared_server("managed: back without privileges");
    let mut owner = server.connect("postgres");
    let mut maker = server.owned_database("maker", "hers");
    server.connect("hers").run("CREATE EXTENSION pg_mint");
    install(&mut maker);
    let back = FROM.replace("\\ir pg_mint_sql.sql", FILE);
    let refusal = maker.refused(&back, "42501");
    assert!(
        refusal.to_string().contains("GRANT pg_monitor TO maker"),
        "{refusal}"
    );
    maker.run("ROLLBACK");
    owner.run("GRANT pg_monitor TO maker");
    maker.run(&back);
    // As CREATE EXTENSION records it for one that requires pg_mint, and ALTER FUNCTION for one that goes with it.
    let mut owner = server.connect("hers");
    owner.run(
        "CREATE FUNCTION going() RETURNS integer LANGUAGE sql RETURN 1; ALTER FUNCTION going() DEPENDS ON EXTENSION pg_mint;
         INSERT INTO pg_depend SELECT 'pg_extension'::regclass, a.oid, 0, 'pg_extension'::regclass, b.oid, 0, 'n'
             FROM pg_extension AS a, pg_extension AS b WHERE a.extname = 'plpgsql' AND b.extname = 'pg_mint'",
    );
    let refusal = maker.refused(&back, "0A000");
    assert_eq!(
        refusal.message,
        "extension plpgsql depends on extension pg_mint"
    );
    maker.run("ROLLBACK");
    owner.run("DELETE FROM pg_depend WHERE classid = 'pg_extension'::regclass AND refclassid = 'pg_extension'::regclass");
    maker.run(&back);
    owner.run("CREATE VIEW uses AS SELECT going()");
    let refusal = maker.refusal(&back);
    refusal.assert_message("uses depends on function");
}

/// Shards that share a lane are not known to the extension, and what goes with it is not refused: messages name both.
#[test]
fn the_way_back_warns_of_what_is_not_declared() {
    let server = Server::build("managed: back from shared lanes")
        .conf("pg_mint.max_lanes = 16\nlog_min_messages = notice")
        .start_empty();
    let mut owner = server.connect("postgres");
    install(&mut owner);
    owner.run(
        "CREATE EXTENSION pg_mint; CREATE FUNCTION going() RETURNS integer LANGUAGE sql RETURN 1;
         ALTER FUNCTION going() DEPENDS ON EXTENSION pg_mint",
    );
    let back = FROM.replace("\\ir pg_mint_sql.sql", FILE);
    let words = "shards without a lane of their own are not declared";
    owner.run(&back);
    assert!(!server.log().contains(words), "no lane is shared");
    owner.run("SELECT snowflake_next_id(g) FROM generate_series(1, 40) g");
    owner.run(&back);
    let log = server.log();
    assert!(log.contains(&format!("WARNING:  {words}")), "{log}");
    assert!(
        log.contains("going() is dropped with extension pg_mint"),
        "{log}"
    );
    owner.run("DROP EXTENSION pg_mint");
    assert!(owner.one::<i64>("SELECT count(*) FROM mint_sql.shards") >= 16);
}
