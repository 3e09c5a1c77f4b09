//! What pg_mint says of distributed tables before anything goes wrong: refused conversions, findings and checks.

use mint_cluster::citus::cluster::{Cluster, Number};

#[test]
fn conversions_of_distributed_tables_are_refused_early() {
    let Some(cluster) = Cluster::start_with("conversions", 1, Number::Group, &[]) else {
        return;
    };
    cluster.run("CREATE TABLE serial (id bigserial PRIMARY KEY, tenant bigint); SELECT create_distributed_table('serial', 'id')");
    cluster.run(
        "CREATE TABLE other (id integer, tenant bigint); SELECT create_reference_table('other')",
    );
    let mut session = cluster.session(0);
    for table in ["serial", "other"] {
        for call in [
            format!("SELECT mint.convert('{table}', 'id', 'snowflake_next(''twitter'')')"),
            format!(
                "SELECT * FROM mint.convert_plan('{table}', 'id', 'snowflake_next(''twitter'')')"
            ),
            format!("SELECT mint.convert_revert('{table}', 'id')"),
        ] {
            let refusal = session.refusal(&call);
            assert_eq!(refusal.code, "0A000", "{call}: {refusal}");
            assert!(!refusal.hint.is_empty(), "{call}: {refusal}");
        }
    }
    // A local table of the same server is converted as everywhere.
    session.run("CREATE TABLE plain (id bigserial PRIMARY KEY)");
    session.run("SELECT mint.convert('plain', 'id', 'snowflake_next(''twitter'')')");
}

#[test]
fn defaults_with_a_shard_are_named() {
    let Some(cluster) = Cluster::start_with("findings", 1, Number::Group, &[]) else {
        return;
    };
    let mut session = cluster.session(0);
    let check = "SELECT status FROM mint.health() WHERE check_name = 'citus'";
    assert_eq!(session.one::<String>(check), "ok");
    session.run("CREATE TABLE ev (id bigint DEFAULT snowflake_next_id(6), tenant bigint); SELECT create_distributed_table('ev', 'tenant')");
    assert_ne!(session.one::<String>(check), "ok");
    let said: String =
        session.one("SELECT concat(detail, hint) FROM mint.health() WHERE check_name = 'citus'");
    assert!(said.contains("ev"), "{said}");
    let found: String = session
        .one("SELECT coalesce(string_agg(a::text, ' '), '') FROM mint.audit('ev', 'id') AS a");
    assert!(
        found.contains("ev") && found.contains("snowflake_next("),
        "{found}"
    );
    session.run("ALTER TABLE ev ALTER COLUMN id SET DEFAULT snowflake_next('instagram')");
    assert_eq!(session.one::<String>(check), "ok");
}

#[test]
fn shards_of_two_nodes_are_named() {
    let Some(cluster) = Cluster::start_with("overlaps", 2, Number::Group, &[]) else {
        return;
    };
    let check = "SELECT status FROM mint.health() WHERE check_name = 'citus'";
    let mut sessions = cluster.sessions();
    sessions[1].set_for_server("pg_mint.own_shards", "'5, 100-163'");
    sessions[2].set_for_server("pg_mint.own_shards", "'200-300'");
    assert_eq!(sessions[1].one::<String>(check), "ok");
    sessions[2].set_for_server("pg_mint.own_shards", "'150-300'");
    assert_ne!(sessions[1].one::<String>(check), "ok");
}
