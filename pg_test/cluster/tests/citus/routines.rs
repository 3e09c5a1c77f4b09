//! Functions, procedures and triggers whose bodies Citus runs on workers.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::or_skip;

/// Number of calls in each session.
const CALLS: usize = 40;

#[test]
fn a_delegated_body_draws_ids_of_its_worker() {
    let cluster = or_skip!(Cluster::start("delegated", 2));
    for sql in [
        "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL, PRIMARY KEY (tenant, id))",
        "SELECT create_distributed_table('ev', 'tenant')",
        "CREATE FUNCTION add_ev(tenant bigint) RETURNS bigint LANGUAGE plpgsql AS $$
             DECLARE new bigint; BEGIN INSERT INTO ev (tenant) VALUES ($1) RETURNING ev.id INTO new; RETURN new; END $$",
        "CREATE PROCEDURE add_two(tenant bigint) LANGUAGE plpgsql AS $$
             BEGIN INSERT INTO ev (tenant) VALUES ($1); INSERT INTO ev (tenant) VALUES ($1); END $$",
        "CREATE FUNCTION own(tenant bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN snowflake_next('twitter'); END $$",
    ] {
        cluster.run(sql);
    }
    for routine in ["add_ev(bigint)", "add_two(bigint)", "own(bigint)"] {
        cluster.run(&format!(
            "SELECT create_distributed_function('{routine}', '$1', colocate_with := 'ev')"
        ));
    }
    let mut rows = 0;
    let mut own = Vec::new();
    for mut session in cluster.sessions() {
        for tenant in 0..CALLS {
            let id: i64 = session.one(&format!("SELECT add_ev({tenant})"));
            // The worker that has the tenant's shard is also the one that generated the id.
            let right: bool = session.one(&format!(
                "SELECT snowflake_shard({id}, 'twitter') = groupid FROM pg_dist_placement
                 WHERE shardid = get_shard_id_for_distribution_column('ev', {tenant})"
            ));
            assert!(right, "an id of tenant {tenant}");
            session.run(&format!("CALL add_two({tenant})"));
            own.push(session.one::<i64>(&format!("SELECT own({tenant})")));
        }
        rows += 3 * CALLS;
    }
    cluster.assert_unique("ev", "id", rows);
    mint_cluster::assert_unique([&own]);
}

#[test]
fn triggers_draw_ids() {
    let cluster = or_skip!(Cluster::start_with(
        "triggers",
        2,
        mint_cluster::citus::cluster::Number::Group,
        &["citus.enable_unsafe_triggers = on"],
    ));
    let mut rows = 0;
    // One by one, as Citus takes a trigger alone.
    for sql in [
        "CREATE FUNCTION give() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN NEW.id := snowflake_next('twitter'); NEW.uuid := uuid_v7(); RETURN NEW; END $$",
        "CREATE TABLE hashed (id bigint, uuid uuid, tenant bigint)",
        "CREATE TABLE local (LIKE hashed)",
        "SELECT create_distributed_table('hashed', 'tenant')",
        "SELECT citus_add_local_table_to_metadata('local')",
        "CREATE TRIGGER give BEFORE INSERT ON hashed FOR EACH ROW EXECUTE FUNCTION give()",
        "CREATE TRIGGER give BEFORE INSERT ON local FOR EACH ROW EXECUTE FUNCTION give()",
    ] {
        cluster.run(sql);
    }
    for mut session in cluster.sessions() {
        for table in ["hashed", "local"] {
            session.run(&format!(
                "INSERT INTO {table} (tenant) VALUES (1), (2), (3)"
            ));
            session.run(&format!(
                "INSERT INTO {table} (tenant) SELECT n FROM generate_series(1, 97) AS n"
            ));
        }
        session.run("INSERT INTO local (tenant) SELECT tenant FROM hashed WHERE tenant < 50");
        session.run("INSERT INTO hashed (tenant) SELECT tenant FROM hashed WHERE tenant < 4");
        rows += 100;
    }
    let mut counted = cluster.session(0);
    for table in ["hashed", "local"] {
        let all: i64 = counted.one(&format!("SELECT count(*) FROM {table}"));
        assert!(all > rows, "{table}: {all}");
        for column in ["id", "uuid"] {
            cluster.assert_unique(table, column, all as usize);
        }
    }
    // A row of a shard gets its id where the shard is.
    assert_eq!(cluster.shards_of("hashed", "id", "twitter"), [1, 2]);
}
