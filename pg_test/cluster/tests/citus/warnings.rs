//! Findings and checks of pg_mint about distributed tables, before anything goes wrong.

use mint_cluster::citus::cluster::{Cluster, Number};
use mint_cluster::or_skip;

#[test]
fn defaults_with_a_shard_are_named() {
    let cluster = or_skip!(Cluster::start_with("findings", 1, Number::Group, &[]));
    let mut session = cluster.session(0);
    let check = "SELECT status FROM mint.health() WHERE check_name = 'citus'";
    assert_eq!(session.one::<String>(check), "ok");
    session.run("CREATE TABLE ev (id bigint DEFAULT snowflake_next_id(6), tenant bigint); SELECT create_distributed_table('ev', 'tenant')");
    assert_ne!(session.one::<String>(check), "ok");
    let said: String =
        session.one("SELECT concat(detail, hint) FROM mint.health() WHERE check_name = 'citus'");
    assert!(said.contains("ev"), "{said}");
    let shard: i64 =
        session.one("SELECT shard FROM mint.id_columns WHERE relation = 'ev'::regclass");
    assert_eq!(shard, 6);
    session.run("ALTER TABLE ev ALTER COLUMN id SET DEFAULT snowflake_next('instagram')");
    assert_eq!(session.one::<String>(check), "ok");
}

#[test]
fn shards_of_two_nodes_are_named() {
    let cluster = or_skip!(Cluster::start_with("overlaps", 2, Number::Group, &[]));
    let check = "SELECT status FROM mint.health() WHERE check_name = 'citus'";
    let mut sessions = cluster.sessions();
    sessions[1].set_for_server("pg_mint.own_shards", "'5, 100-163'");
    sessions[2].set_for_server("pg_mint.own_shards", "'200-300'");
    assert_eq!(sessions[1].one::<String>(check), "ok");
    sessions[2].set_for_server("pg_mint.own_shards", "'150-300'");
    // The coordinator asks all nodes, too.
    for session in &mut sessions {
        assert_eq!(session.one::<String>(check), "critical");
    }
}

/// A name in the search path of another node, which the owner of the database there chooses, is not called by the check.
#[test]
fn the_check_calls_nothing_of_owners_on_other_nodes() {
    let cluster = or_skip!(Cluster::start_with("owners", 2, Number::Group, &[]));
    let mut sessions = cluster.sessions();
    sessions[2].run(
        "SET citus.enable_ddl_propagation = off; SET citus.enable_create_role_propagation = off",
    );
    sessions[2].run("CREATE ROLE dan LOGIN; CREATE SCHEMA evil AUTHORIZATION dan; GRANT USAGE ON SCHEMA evil TO PUBLIC");
    sessions[2].run(
        "CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE plpgsql AS
         $$ BEGIN EXECUTE 'ALTER ROLE dan SUPERUSER'; RETURN '5'; END $$",
    );
    sessions[2].run("ALTER FUNCTION evil.current_setting(text, boolean) OWNER TO dan");
    let database: String = sessions[2].one("SELECT current_database()::text");
    sessions[2].run(&format!(
        "ALTER DATABASE {database} SET search_path = evil, pg_catalog, public"
    ));
    for session in &mut sessions[..2] {
        session.set_for_server("pg_mint.own_shards", "'5'");
        session.one::<i64>("SELECT count(*) FROM mint.health()");
    }
    let gained = "SELECT rolsuper FROM pg_roles WHERE rolname = 'dan'";
    assert!(!sessions[2].one::<bool>(gained));
}

/// A node that the metadata does not have, and one that does not answer, are told.
#[test]
fn lost_metadata_and_silent_nodes_are_told() {
    let cluster = or_skip!(Cluster::start_with("silent", 2, Number::Group, &[]));
    let mut sessions = cluster.sessions();
    let check = "SELECT status || ': ' || detail FROM mint.health() WHERE check_name = 'citus'";
    sessions[1].run(
        "SET citus.enable_ddl_propagation = off; SET citus.enable_create_role_propagation = off",
    );
    sessions[1].run("CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher");
    sessions[1].set_for_server("pg_mint.own_shards", "'5'");
    let mut watcher = cluster.node(1).connect_as("watcher", "postgres");
    let said: String = watcher.one(check);
    assert!(
        said.starts_with("warning") && said.contains("Group 2 did not tell"),
        "{said}"
    );
    sessions[1].run("BEGIN; DELETE FROM pg_dist_node WHERE groupid = 1");
    let said: String = sessions[1].one(check);
    assert!(said.starts_with("critical"), "{said}");
    sessions[1].run("ROLLBACK");
}
