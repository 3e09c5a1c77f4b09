//! Dumps without privileges, comments or unlogged data, and texts of other collations.

use super::{FILE, install};
use mint_cluster::{Server, Session, assert_ascending};

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";
const DECLARED: &str = "time:41 shard:8 seq:14 unit:1ms epoch:2020-01-01T00:00:00Z";

/// A server with the file in the database `shop` of the role `maker`, and an empty database `copy` of it.
fn shop(name: &str) -> (Server, Session) {
    let server = Server::build(name).start_empty();
    server.run("CREATE ROLE app LOGIN");
    let [mut shop, _] = ["shop", "copy"].map(|name| server.owned_database("maker", name));
    install(&mut shop);
    shop.run(&format!("SELECT mint_sql.shard_create(7, '{DECLARED}')"));
    (server, shop)
}

fn next_of_both(session: &mut Session) -> Vec<i64> {
    session.column(&format!(
        "SELECT mint_sql.snowflake_next_id(7) UNION ALL SELECT mint_sql.snowflake_next_id(7, '{DECLARED}')"
    ))
}

/// Functions that move shards are closed after a restore without privileges, and open to their owner again after a run of the file.
#[test]
fn a_dump_without_privileges_lets_nobody_move_shards() {
    let (server, mut shop) = shop("managed: dump without privileges");
    let last: i64 = shop.one(NEXT);
    let dump = server.dump_with("maker", "shop", &["--no-acl"]);
    server.restore("maker", "copy", &dump);
    let mut copy = server.connect_as("maker", "copy");
    copy.run("GRANT USAGE ON SCHEMA mint_sql TO PUBLIC");
    let mut app = server.connect_as("app", "copy");
    let moves = [
        "SELECT mint_sql.shard_create(9)".to_owned(),
        format!("SELECT mint_sql.snowflake_start_above({last} + (1::bigint << 40))"),
        "SELECT mint_sql.layout_declare()".to_owned(),
        "SELECT setval('mint_sql.instagram_7_floor', 0)".to_owned(),
        "SELECT setval('mint_sql.instagram_7_ceiling', 0)".to_owned(),
        "SELECT mint_sql.raise_floor('mint_sql.instagram_7', 'mint_sql.instagram_7_floor', 'mint_sql.instagram_7_ceiling', mint_sql.layout_fields('instagram'), 1000)".to_owned(),
    ];
    for attack in &moves {
        app.refused(attack, "42501");
    }
    // The owner neither, until the file has been run again.
    assert_eq!(copy.refusal(&moves[0]).code, "42501");
    copy.run(&format!("BEGIN; {FILE} COMMIT"));
    for attack in &moves {
        app.refused(attack, "42501");
    }
    copy.run(&moves[0]);
    assert_ascending(&[last, app.one(NEXT)]);
}

/// Ids continue above those of the rows, whatever a dump leaves out; without comments, layouts that are not built in are named again
/// by a comment before the change to the extension.
#[test]
fn dumps_that_leave_something_out_repeat_nothing() {
    let (server, mut shop) = shop("managed: partial dumps");
    let last = next_of_both(&mut shop);
    for option in ["--no-comments", "--no-unlogged-table-data", "--schema-only"] {
        server.run("DROP DATABASE copy");
        let mut copy = server.owned_database("maker", "copy");
        let dump = server.dump_with("maker", "shop", &[option]);
        server.restore("maker", "copy", &dump);
        let next = next_of_both(&mut copy);
        for (last, next) in last.iter().zip(&next) {
            assert_ascending(&[*last, *next]);
        }
        copy.run(&format!("BEGIN; {FILE} COMMIT"));
        for (last, next) in next.iter().zip(&next_of_both(&mut copy)) {
            assert_ascending(&[*last, *next]);
        }
        let known: i64 = copy.one("SELECT count(layout) FROM mint_sql.shards");
        assert_eq!(
            known,
            if option == "--no-comments" { 1 } else { 2 },
            "{option}"
        );
    }
}

/// Texts of a column whose collation takes other texts for equal are read as any others.
#[test]
fn collations_change_nothing() {
    let server = Server::build("managed: collations").start_empty();
    let mut owner = server.connect("postgres");
    install(&mut owner);
    let collation = "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)";
    if owner.try_run(collation).is_err() {
        mint_cluster::say("SKIPPED collations_change_nothing: this server has no ICU");
        return;
    }
    owner.run(&format!(
        "SELECT mint_sql.shard_create(7, '{DECLARED}');
         CREATE TABLE t (layout text COLLATE blind, encoding text COLLATE blind, short text COLLATE blind, ulid text COLLATE blind, typeid text COLLATE blind, prefix text COLLATE blind);
         INSERT INTO t VALUES ('time:42 shard:8 seq:13 unit:1ms epoch:2020-01-01T00:00:00Z', 'base58', 'zZ9', '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'user_01h455vb4pex5vsknk084sn02q', 'user')"
    ));
    let calls = "SELECT concat_ws(' ', mint_sql.snowflake_time(5000000000000, layout), mint_sql.id_from_text(short, encoding),
            mint_sql.id_to_text(12345678, encoding), mint_sql.ulid_to_uuid(ulid), mint_sql.ulid_time(ulid), mint_sql.typeid_uuid(typeid),
            mint_sql.typeid_prefix(typeid), mint_sql.typeid_check(typeid, prefix), mint_sql.typeid_check(typeid, upper('x' || prefix)::text),
            mint_sql.typeid(prefix, mint_sql.typeid_uuid(typeid)), (SELECT l FROM mint_sql.snowflake_layouts(layout) AS l)) FROM t";
    let blind: String = owner.one(&calls.replace("upper('x' || prefix)", "'xuser'"));
    owner.run("ALTER TABLE t ALTER layout TYPE text COLLATE \"C\", ALTER encoding TYPE text COLLATE \"C\", ALTER short TYPE text COLLATE \"C\",
        ALTER ulid TYPE text COLLATE \"C\", ALTER typeid TYPE text COLLATE \"C\", ALTER prefix TYPE text COLLATE \"C\"");
    let plain: String = owner.one(&calls.replace("upper('x' || prefix)", "'xuser'"));
    assert_eq!(blind, plain);
    owner.run("ALTER TABLE t ALTER encoding TYPE text COLLATE blind, ALTER short TYPE text COLLATE blind, ALTER typeid TYPE text COLLATE blind");
    #[rustfmt::skip]
    let cases = [
        ("SELECT mint_sql.id_from_text(short, upper(encoding)) FROM t", "22023"),
        ("SELECT mint_sql.id_from_text(short || '!', encoding) FROM t", "22P02"),
        ("SELECT mint_sql.typeid_uuid(typeid || '!') FROM t", "22P02"),
        ("SELECT mint_sql.typeid_uuid(upper(typeid COLLATE \"C\") COLLATE blind) FROM t", "22P02"),
        ("SELECT mint_sql.snowflake_time(5, (layout || 'x') COLLATE blind) FROM t", "22P02"),
    ];
    for (call, code) in cases {
        owner.refused(call, code);
    }
}
