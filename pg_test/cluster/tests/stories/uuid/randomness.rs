//! Randomness: each process has a random stream of its own, and each start of the server a node, clock sequence and
//! process bytes of its own, whether or not the library is preloaded.

use mint_cluster::Server;
use std::collections::HashSet;

#[track_caller]
fn assert_distinct<T: std::hash::Hash + Eq + std::fmt::Debug>(values: &[T]) {
    let distinct: HashSet<&T> = values.iter().collect();
    assert_eq!(distinct.len(), values.len(), "{values:?}");
}

/// Returns the first ids that a new session draws from its random stream.
fn stream(server: &Server) -> Vec<String> {
    server.connect("postgres").mint("uuid_v4()", 20)
}

/// Returns the values that a start of the server draws: node, clock sequence, the five bytes of an ObjectID.
fn start_of(server: &Server) -> String {
    server.one(
        "SELECT concat_ws(' ', uuid_node(id), uuid_clock_sequence(id), substring(objectid()::text FROM 9 FOR 10))
         FROM (SELECT uuid_v1() AS id) t",
    )
}

/// Asserts that each process draws from a stream of its own.
fn assert_streams_differ(preload: bool) {
    let server = Server::build("random streams")
        .preload(preload)
        .conf("max_worker_processes = 16")
        .conf("max_parallel_workers = 12")
        .start();
    let mut ids = Vec::new();
    let mut starts = Vec::new();
    for round in 0..4 {
        for _ in 0..3 {
            ids.extend(stream(&server));
        }
        starts.push(start_of(&server));
        assert_eq!(starts.last(), Some(&start_of(&server)), "a session's own");
        ids.extend(mint_in_workers(&server, "uuid_v4()"));
        match round {
            0 => server.restart(),
            1 => server.kill9(server.connect("postgres").pid),
            _ => {
                server.crash();
            }
        }
    }
    assert_distinct(&ids);
    assert_distinct(&starts);
    // No value of a start is the same in two of them; by chance each would be once in 2^14 tries or more.
    for part in [0, 2] {
        let parts: Vec<_> = starts
            .iter()
            .map(|start| start.split(' ').nth(part))
            .collect();
        assert_distinct(&parts);
    }
}

#[test]
fn every_process_draws_another_random_stream() {
    assert_streams_differ(false);
}

#[test]
fn every_process_draws_another_random_stream_preloaded() {
    assert_streams_differ(true);
}

/// Mints in parallel workers without the leader. A legacy ObjectID shows that there were several.
fn mint_in_workers(server: &Server, call: &str) -> Vec<String> {
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE IF NOT EXISTS rows AS SELECT generate_series(1, 20000) AS n");
    session.run("ALTER TABLE rows SET (parallel_workers = 4)");
    session.run(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
         SET parallel_leader_participation = off; SET max_parallel_workers_per_gather = 4",
    );
    let sql =
        format!("SELECT concat(objectid_legacy_pid(objectid_legacy()), ' ', {call}) FROM rows");
    let mut workers = HashSet::new();
    let mut ids = Vec::new();
    // On a busy machine one worker can finish before the next one starts.
    for _ in 0..20 {
        let drawn: Vec<String> = session.column(&sql);
        assert_eq!(drawn.len(), 20_000);
        for (pid, id) in drawn.iter().filter_map(|both| both.split_once(' ')) {
            workers.insert(pid.to_owned());
            ids.push(id.to_owned());
        }
        if workers.len() > 1 {
            break;
        }
        workers.clear();
    }
    assert!(workers.len() > 1, "not by parallel workers");
    assert!(!workers.contains(&(session.pid & 0xffff).to_string()));
    ids
}

#[test]
fn parallel_workers_mint_each_id_once() {
    let server = Server::start("parallel workers");
    for call in ["uuid_v1()", "uuid_v6()", "uuid_v7()", "objectid()"] {
        let ids = mint_in_workers(&server, call);
        assert_eq!(
            ids.iter().collect::<HashSet<_>>().len(),
            ids.len(),
            "{call}"
        );
    }
}

/// The node is the machine's address only where a superuser sets that.
#[test]
fn the_machines_address_is_used_on_request_only() {
    let server = Server::start("node of uuids");
    let mut session = server.connect("postgres");
    let random: String = session.one("SELECT uuid_node(uuid_v1())::text");
    session.run("SET pg_mint.uuid_node = 'mac'");
    match session.try_one::<String>("SELECT uuid_node(uuid_v1())::text") {
        Ok(node) => {
            assert_ne!(node, random);
            let interfaces = std::fs::read_dir("/sys/class/net").expect("interfaces");
            let addresses: Vec<String> = interfaces
                .flatten()
                .filter_map(|one| std::fs::read_to_string(one.path().join("address")).ok())
                .collect();
            assert!(addresses.iter().any(|one| one.trim() == node), "{node}");
        }
        // A machine without an address, as a container can be.
        Err(refusal) => assert_eq!(refusal.code, "55000", "{refusal}"),
    }
    // Other sessions are not affected.
    let mut other = server.connect("postgres");
    assert_eq!(
        other.one::<String>("SELECT uuid_node(uuid_v1())::text"),
        random
    );
    session.run("RESET pg_mint.uuid_node");
    assert_eq!(
        session.one::<String>("SELECT uuid_node(uuid_v6())::text"),
        random
    );
}
