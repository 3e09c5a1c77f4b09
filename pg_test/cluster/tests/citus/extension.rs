//! The extension in a cluster: created and dropped on all nodes, loaded before or after Citus, dumped and restored.

use mint_cluster::citus::cluster::{Cluster, Number, builder, is_installed};
use mint_cluster::{Session, or_skip};

/// Returns how many nodes have an extension, as the nodes say.
fn nodes_with(cluster: &Cluster, extension: &str) -> usize {
    let has = |mut session: Session| {
        session.one::<bool>(&format!(
            "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = '{extension}')"
        ))
    };
    cluster
        .sessions()
        .into_iter()
        .map(has)
        .filter(|&has| has)
        .count()
}

#[test]
fn create_and_drop_reach_all_nodes() {
    for distributes_schemas in ["off", "on"] {
        let setting = format!("citus.enable_schema_based_sharding = {distributes_schemas}");
        let mut cluster = or_skip!(Cluster::start_with(
            "everywhere",
            2,
            Number::Group,
            &[&setting]
        ));
        assert_eq!(nodes_with(&cluster, "pg_mint"), 3);
        let distributed: i64 = cluster
            .session(0)
            .one("SELECT count(*) FROM pg_dist_schema");
        assert_eq!(distributed, 0, "a schema of the extension is distributed");
        // In a schema of its own, and on a worker that joins later.
        cluster.run("DROP EXTENSION pg_mint");
        assert_eq!(nodes_with(&cluster, "pg_mint"), 0);
        cluster.run("SET citus.enable_schema_based_sharding = off; CREATE SCHEMA ids");
        cluster.run("CREATE EXTENSION pg_mint SCHEMA ids");
        cluster.add_worker();
        assert_eq!(nodes_with(&cluster, "pg_mint"), 4);
        cluster.run("CREATE TABLE ev (id bigint DEFAULT ids.snowflake_next('twitter'), tenant bigint); SELECT create_distributed_table('ev', 'tenant')");
        let rows = cluster.insert_events(100);
        cluster.assert_unique("ev", "id", rows);
        cluster.run("ALTER EXTENSION pg_mint UPDATE");
        let refusal = cluster.session(0).refusal("DROP EXTENSION pg_mint");
        assert_eq!(refusal.code, "2BP01", "{refusal}");
        cluster.run("DROP EXTENSION pg_mint CASCADE");
        assert_eq!(nodes_with(&cluster, "pg_mint"), 0);
        cluster.assert_unique("ev", "id", rows);
    }
}

/// Citus refuses to start behind a library with hooks. In the right order, and by sessions alone, both work.
#[test]
fn citus_is_loaded_first() {
    if !is_installed("load order") {
        return;
    }
    let later = builder("citus first", 0, Number::Group, &[])
        .conf("shared_preload_libraries = 'citus, pg_mint'")
        .start_empty();
    let mut session = later.connect("postgres");
    session.run("CREATE EXTENSION citus; CREATE EXTENSION pg_mint");
    session.one::<i64>("SELECT snowflake_next_id()");
    drop(session);
    later.stop_fast();
    later.configure("shared_preload_libraries = 'pg_mint, citus'");
    assert!(!later.starts());
    assert!(
        later.log().contains("Citus has to be loaded first"),
        "{}",
        later.log()
    );
    later.configure("shared_preload_libraries = 'citus'\nsession_preload_libraries = 'pg_mint'");
    later.start_again();
    later.one::<i64>("SELECT snowflake_next_id()");
}

#[test]
fn a_dump_of_the_coordinator_is_restored() {
    let cluster = or_skip!(Cluster::start("dumped", 2));
    cluster.run(
        "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), object objectid DEFAULT objectid(), tenant bigint);
         SELECT create_distributed_table('ev', 'tenant')",
    );
    cluster.run("INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 500) AS n");
    let dump = cluster.node(0).dump("postgres", "postgres");
    let again = or_skip!(Cluster::start("restored", 2));
    again.node(0).restore("postgres", "postgres", &dump);
    again.run("SELECT create_distributed_table('ev', 'tenant')");
    again.assert_unique("ev", "id", 500);
    for mut session in again.sessions() {
        session.run("INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 500) AS n");
    }
    again.assert_unique("ev", "id", 2_000);
}
