//! A function that is not unsafe runs in a statement that has a parallel plan: in its leader, if it is restricted. There nothing
//! can ask for a transaction id.

use super::table::{Argument, functions, set_up};
use mint_cluster::Server;

const RELATIONS: [&str; 5] = ["plain", "parts", "tag", "ticket", "family"];

/// The calls are those that the catalog allows, of every kind of relation.
#[test]
fn functions_run_beside_a_parallel_plan() {
    let server = Server::start("a parallel plan");
    set_up(&server);
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE crowd AS SELECT n FROM generate_series(1, 10000) n; ALTER TABLE crowd SET (parallel_workers = 2); ANALYZE crowd;
         INSERT INTO plain DEFAULT VALUES; INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('leaf', 10)",
    );
    session.run(
        "SELECT segment_next('tag'), ticket_next('ticket'), user_sequence_next('family', 1), snowflake_next_id(5);
         SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0",
    );
    let relations = |argument: &Argument| {
        let is_relation = argument.of == "pg_catalog.regclass";
        is_relation.then(|| RELATIONS.map(|name| format!("'public.{name}'")).to_vec())
    };
    let mut calls: Vec<String> = functions(&mut session, "proparallel <> 'u' AND prokind = 'f'")
        .iter()
        .flat_map(|function| function.with("public", relations))
        .collect();
    assert!(calls.len() > 150, "only {} calls", calls.len());
    calls.extend(session.column::<String>(
        "SELECT format('mint.%I', relname) FROM pg_class
         WHERE relnamespace = 'mint'::regnamespace AND relkind = 'v' ORDER BY 1",
    ));
    let (mut bad, mut parallel) = (Vec::new(), 0);
    for call in calls {
        let query = format!("SELECT (SELECT count(*) FROM crowd) AS n, x FROM {call} AS x");
        // The planner itself calls an immutable function, which can refuse these arguments.
        let plan = session.try_column::<String>(&format!("EXPLAIN (COSTS OFF) {query}"));
        parallel += usize::from(plan.is_ok_and(|plan| plan.concat().contains("Gather")));
        if let Err(refusal) = session.try_run(&query)
            && (refusal.message.contains("parallel") || refusal.code == "25000")
        {
            bad.push(format!("{call}: {refusal}"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    assert!(parallel > 100, "only {parallel} parallel plans");
}
