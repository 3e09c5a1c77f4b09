//! Ids that fit the shard that stores their row: of a hash that the server itself computes, from several servers and sessions.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, assert_unique};
use std::time::Duration;

/// Tables for whose partitions the server says by `satisfies_hash_partition` whether a key is theirs.
const PARENTS: &str = "CREATE TABLE numbers (id bigint) PARTITION BY HASH (id);
     CREATE TABLE uuids (id uuid) PARTITION BY HASH (id)";

/// 20,000 ids of every modulus from 1 to 1000, and of remainders from 0 to below it.
#[test]
fn the_server_agrees_with_each_id() {
    let server = Server::build("partitions by hash").alone().start();
    let mut session = server.connect("postgres");
    session.run(PARENTS);
    for (parent, call) in [
        (
            "numbers",
            "snowflake_next_in(1, modulus, remainder, 'twitter')",
        ),
        ("uuids", "uuid_v7_in(modulus, remainder)"),
    ] {
        let counts = session.column::<i64>(&format!(
            "WITH partitions AS MATERIALIZED (
                 SELECT n, 1 + n % 1000 AS modulus, (n + n / 1000 * 7919) % (1 + n % 1000) AS remainder
                 FROM generate_series(1, 20000) n),
             ids AS MATERIALIZED (SELECT n, modulus, remainder, {call} AS id FROM partitions),
             ordered AS (SELECT *, lag(id) OVER (ORDER BY n) AS before FROM ids)
             SELECT unnest(ARRAY[
                 count(*) FILTER (WHERE satisfies_hash_partition('{parent}'::regclass, modulus, remainder, id)),
                 count(DISTINCT id), count(*) FILTER (WHERE id <= before)])
             FROM ordered"
        ));
        assert_eq!(counts, [20_000, 20_000, 0], "{parent}");
    }
}

/// Sessions that draw for different partitions, and for none, share a lane.
#[test]
fn sessions_of_several_partitions_share_a_lane() {
    let server = Server::build("one lane of partitions").alone().start();
    server.run(PARENTS);
    let ids = draw_at_once(&server, "postgres", 4, |session, number| {
        let call = match number {
            0 => "snowflake_next_id(7, 'mastodon shard:6 seq:10')".to_owned(),
            remainder => {
                format!("snowflake_next_in(7, 16, {remainder}, 'mastodon shard:6 seq:10')")
            }
        };
        session.column(&format!("SELECT {call} FROM generate_series(1, 10000)"))
    });
    assert_sound(&ids);
}

/// Each of two servers stores the rows whose key has its remainder, as a sharding proxy routes them.
#[test]
fn two_servers_mint_for_themselves() {
    let first = Server::build("shard 0").conf("pg_mint.node = 0").start();
    let second = Server::build("shard 1").conf("pg_mint.node = 1").start();
    let mut ids = Vec::new();
    for (number, server) in [first, second].iter().enumerate() {
        let mut session = server.connect("postgres");
        session.run(PARENTS);
        session.run(&format!(
            "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake_next_in(snowflake_own_shard(), 2, {number}),
                 CHECK (satisfies_hash_partition('numbers'::regclass, 2, {number}, id)));
             INSERT INTO orders SELECT FROM generate_series(1, 10000)"
        ));
        let own: Vec<i64> = session.column("SELECT id FROM orders");
        assert_eq!(session.shard(own[0]), number as i64);
        ids.push(own);
    }
    assert_unique(&ids);
}

/// A search that lasts, and a wait for capacity, end when they are canceled. A search can succeed at once by chance (one of
/// 500 does within the timeout): three of a statement do not.
#[test]
fn a_search_can_be_canceled() {
    let server = Server::build("long searches").alone().start();
    let mut session = server.connect("postgres");
    session.run("SET statement_timeout = '400ms'");
    for sql in [
        "SELECT uuid_v7_in(2147483647, n) FROM generate_series(1, 3) AS n",
        "SELECT snowflake_next_in(1, 2147483647, n, 'time:20 shard:4 seq:34 unit:3600s epoch:2024-01-01T00:00:00Z')
             FROM generate_series(1, 3) AS n",
        "SELECT count(snowflake_next_in(1, 64, n % 64, 'sonyflake')) FROM (SELECT generate_series(1, 1000000) AS n) series",
    ] {
        let canceled = session.refusal(sql);
        assert_eq!(canceled.code, "57014", "{sql}: {canceled}");
        assert!(canceled.after < Duration::from_secs(2), "{sql}: {canceled}");
    }
    assert!(session.one::<i64>("SELECT snowflake_next_in(1, 64, 5, 'sonyflake')") > 0);
}
