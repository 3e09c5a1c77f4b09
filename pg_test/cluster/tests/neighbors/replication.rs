//! Logical replication by an extension.

use crate::extensions::until;
use crate::row::Neighbor;
use mint_cluster::{Server, Session, assert_unique};
use std::time::Duration;

/// Two servers whose nodes differ, each with the table; the rows of one arrive on the other.
#[test]
fn pglogical() {
    let neighbor = Neighbor {
        name: "pglogical",
        what: "two servers, each with pg_mint.node, replicate to each other; no id repeats",
    };
    if !neighbor.is_there("pglogical") {
        return;
    }
    let build = |node: usize| {
        Server::build(&format!("pglogical {node}")).conf(&format!(
            "shared_preload_libraries = 'pglogical, pg_mint'\nwal_level = logical\nmax_worker_processes = 20\npg_mint.node = {node}\n\
             track_commit_timestamp = on"
        ))
    };
    let first = build(1).start_empty();
    let second = build(2).start_empty();
    let servers = [&first, &second];
    let dsn = |server: &Server| {
        format!(
            "host={} port=5432 dbname=postgres user=postgres",
            server.socket().display()
        )
    };
    let mut sessions = servers.map(|server| server.connect("postgres"));
    for (place, session) in sessions.iter_mut().enumerate() {
        // Minor versions of 2026 permit named plugins alone.
        if session
            .one("SELECT count(*) = 1 FROM pg_settings WHERE name = 'output_plugin_libraries'")
        {
            session.run("ALTER SYSTEM SET output_plugin_libraries = 'pgoutput', 'test_decoding', 'pglogical_output'");
            session.run("SELECT pg_reload_conf()");
        }
        // The extensions are created in both orders.
        let create = ["CREATE EXTENSION pglogical", "CREATE EXTENSION pg_mint"];
        session.run(create[place]);
        session.run(create[1 - place]);
        session.run(&format!(
            "CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(), body text);
             SELECT pglogical.create_node('node{place}', '{}');
             SELECT pglogical.replication_set_add_table('default', 'item')",
            dsn(servers[place])
        ));
    }
    for place in 0..2 {
        let other = dsn(servers[1 - place]);
        sessions[place].run(&format!(
            "SELECT pglogical.create_subscription('sub{place}', '{other}', synchronize_data := false, forward_origins := '{{}}')"
        ));
        until(
            &mut sessions[place],
            "the subscription replicates",
            "SELECT status = 'replicating' FROM pglogical.show_subscription_status()",
            Duration::from_secs(30),
        );
    }
    for session in &mut sessions {
        session.run("INSERT INTO item (body) SELECT 'x' FROM generate_series(1, 1000)");
    }
    for session in &mut sessions {
        until(
            session,
            "all rows are here",
            "SELECT count(*) = 2000 FROM item",
            Duration::from_secs(30),
        );
    }
    let ids =
        |session: &mut Session| -> Vec<i64> { session.column("SELECT id FROM item ORDER BY id") };
    let [mut one, mut other] = sessions;
    assert_eq!(ids(&mut one), ids(&mut other));
    assert_unique([&ids(&mut one)]);
    let of: Vec<i32> = one.column("SELECT DISTINCT snowflake_shard(id) FROM item ORDER BY 1");
    assert_eq!(of, [1, 2]);
    let version: String =
        one.one("SELECT extversion FROM pg_extension WHERE extname = 'pglogical'");
    neighbor.works(&version);
}
