//! Upgrades of the library under a running server, whose sessions keep the one they loaded, and of the server.

use crate::environment::dumps::{assert_far, assert_registry, fill_far};
use crate::environment::schema::fill_registry;
use mint_cluster::{Server, assert_ascending, or_skip};

const NEXT: &str = "SELECT snowflake_next_id(7)";

/// The stamp of the lanes' shared memory in the library's file: these bytes, then the version of the format.
const MAGIC: &[u8] = b"mint\x9d\xc5\xfel";

/// Changes the version of the shared memory's format in a library.
fn change_version(library: &mut [u8]) {
    let places: Vec<usize> = (0..library.len() - MAGIC.len())
        .filter(|&place| library[place..].starts_with(MAGIC))
        .collect();
    let [place] = places[..] else {
        panic!(
            "the stamp of src/snowflake/lane/lanes.rs stands at {places:?} of the library, not once"
        );
    };
    library[place + MAGIC.len()] ^= 0x80;
}

/// Two libraries with different formats of the shared memory must never both mint.
#[test]
fn a_library_of_another_version_is_kept_out() {
    let server = Server::start("two versions");
    server.install_library(|_| ());
    let mut old = server.connect("postgres");
    let mut ids: Vec<i64> = vec![old.one(NEXT)];

    server.install_library(change_version);
    let mut new = server.connect("postgres");
    for sql in [
        NEXT,
        "SELECT snowflake_next('mastodon')",
        "SELECT count(*) FROM snowflake_next_ids(8, 10)",
        "SELECT * FROM mint.lanes",
        "SELECT mint.accept_clock()",
        NEXT,
    ] {
        let refusal = new.refused(sql, "55000");
        refusal.assert_message("another version of the library");
        assert_eq!(refusal.hint, "Restart the server.", "{refusal}");
    }
    // UUIDs have a shared memory of their own, of the same format in both.
    assert!(new.one::<bool>("SELECT uuid_v7() < uuid_v7()"));
    // Decoding needs no shared memory.
    let shard = format!("SELECT snowflake_shard({})", ids[0]);
    assert_eq!(new.one::<i32>(&shard), 7);

    // Nothing was minted meanwhile, and the refusals block neither the old session nor its new lanes.
    assert_eq!(
        old.column::<i64>("SELECT last_id FROM mint.lanes WHERE family = 'snowflake'"),
        ids
    );
    ids.push(old.one(NEXT));
    assert!(old.one::<i64>("SELECT snowflake_next_id(8)") > 0);

    server.restart();
    let mut new = server.connect("postgres");
    ids.push(new.one(NEXT));
    ids.push(server.one(NEXT));
    assert_ascending(&ids);
    // Now the memory has the new format, and the old library is refused.
    server.install_library(|_| ());
    server.refused(NEXT, "55000");
    assert!(new.one::<i64>(NEXT) > ids[3]);
}

/// pg_upgrade carries the ceiling: the newer server starts above all ids of the older one, even if its clock is behind.
/// It carries the types and their indexes, the registry, and the source of a sequence.
#[test]
fn a_newer_server_repeats_nothing_of_the_older_one() {
    let server = Server::start_with_clock("pg_upgrade");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(7), n int)");
    session.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
    session.run(
        "CREATE TABLE typed (id objectid PRIMARY KEY, layout snowflake_layout UNIQUE);
         INSERT INTO typed VALUES ('507f1f77bcf86cd799439011', 'twitter');
         CREATE VIEW minted AS SELECT lane.* FROM mint.lanes AS lane",
    );
    fill_far(&mut server.connect("postgres"), &mut session);
    fill_registry(&mut session);
    // One build of 15 writes an option of its own, pg_attver, into every column. Other servers do not know it, so it is
    // removed before the upgrade.
    session
        .run("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '%pg_attver%'");
    let older: i32 = session.one("SELECT current_setting('server_version_num')::int");
    drop(session);
    server.stop_fast();
    let newer = or_skip!(server.upgraded("pg_upgrade", "-1.5", ""));
    let mut session = newer.connect("postgres");
    assert!(session.one::<i32>("SELECT current_setting('server_version_num')::int") > older);
    session.run("INSERT INTO item (n) SELECT generate_series(1001, 2000)");
    let all: Vec<i64> = session.column("SELECT id FROM item ORDER BY n");
    assert_eq!(all.len(), 2000);
    assert_ascending(&all);
    assert_eq!(newer.log().matches("was set back").count(), 0);

    session.run("SET enable_seqscan = off");
    assert!(
        session.one::<bool>(
            "SELECT id = '507f1f77bcf86cd799439011' FROM typed WHERE layout = 'twitter'"
        )
    );
    assert_eq!(session.one::<i64>("SELECT count(*) FROM minted"), 1);
    assert_far(&mut session, "pg_upgrade");
    assert_registry(&mut session, "postgres", "pg_upgrade");
}
