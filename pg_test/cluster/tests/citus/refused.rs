//! Statements with volatile functions that Citus refuses: with pg_mint's they stay refused, and nothing is changed.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::or_skip;

#[rustfmt::skip]
const REFUSED: [(&str, &str); 6] = [
    ("UPDATE ev SET id = snowflake_next('twitter') WHERE tenant = 5", "VOLATILE"),
    ("UPDATE ev SET note = uuid_v7()::text", "VOLATILE"),
    (
        "INSERT INTO ev (id, tenant) VALUES (1, 5) ON CONFLICT (tenant, id) DO UPDATE SET note = uuid_v7()::text",
        "IMMUTABLE",
    ),
    (
        "MERGE INTO ev USING src ON ev.tenant = src.author WHEN NOT MATCHED THEN INSERT (id, tenant) VALUES (snowflake_next('twitter'), src.author)",
        "MERGE",
    ),
    (
        "MERGE INTO ev USING src ON ev.tenant = src.author WHEN NOT MATCHED THEN INSERT (tenant) VALUES (src.author)",
        "MERGE",
    ),
    ("INSERT INTO ev (tenant) VALUES (3) RETURNING uuid_v7()", "IMMUTABLE"),
];

#[test]
fn volatile_functions_stay_refused() {
    let cluster = or_skip!(Cluster::start("refused statements", 2));
    cluster.run(
        "CREATE TABLE src (author bigint PRIMARY KEY);
         CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint, note text, PRIMARY KEY (tenant, id))",
    );
    cluster.run(
        "SELECT create_distributed_table('src', 'author'); SELECT create_distributed_table('ev', 'tenant');
         INSERT INTO src VALUES (1), (2), (3); INSERT INTO ev (tenant, note) VALUES (5, 'old'), (6, 'old')",
    );
    for mut session in cluster.sessions() {
        for (sql, words) in REFUSED {
            let refusal = session.refusal(sql);
            assert!(
                // MERGE's are elog(ERROR).
                ["0A000", "XX000"].contains(&refusal.code.as_str()),
                "{sql}: {refusal}"
            );
            refusal.assert_message(words);
        }
        assert_eq!(
            session.one::<i64>("SELECT count(*) FROM ev WHERE note = 'old'"),
            2
        );
        // Functions of ids are immutable, so they are at home everywhere.
        session.run("UPDATE ev SET note = snowflake_shard(id, 'twitter')::text WHERE tenant = 99");
        session.run("INSERT INTO ev (tenant, note) VALUES (7, 'new') RETURNING snowflake_time(id, 'twitter'), id_to_text(id)");
    }
    cluster.assert_unique("ev", "id", 5);
    // The default of a distribution column must be there before the table is distributed.
    cluster.run(
        "CREATE TABLE late (id bigint PRIMARY KEY); SELECT create_distributed_table('late', 'id')",
    );
    let refusal = cluster
        .session(0)
        .refusal("ALTER TABLE late ALTER COLUMN id SET DEFAULT snowflake_next('twitter')");
    refusal.assert_message("partition column");
}
