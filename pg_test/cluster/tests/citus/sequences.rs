//! Numbers from sequences in a cluster: Citus moves the sequence of a default on each worker, from (group << 48) + 1 on.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::or_skip;

/// Inserts from each node by VALUES, and from the workers by INSERT ... SELECT. Returns the number of rows.
fn fill(cluster: &Cluster, table: &str) -> usize {
    for mut session in cluster.sessions() {
        session.run(&format!(
            "INSERT INTO {table} (tenant) VALUES (1), (2), (3)"
        ));
        session.run(&format!(
            "INSERT INTO {table} (tenant) SELECT author FROM src"
        ));
    }
    503 * cluster.count()
}

fn cluster(name: &str) -> Option<Cluster> {
    let cluster = Cluster::start(name, 2)?;
    cluster
        .run("CREATE TABLE src (author bigint); SELECT create_distributed_table('src', 'author')");
    cluster.run("INSERT INTO src SELECT n FROM generate_series(1, 500) AS n");
    Some(cluster)
}

#[test]
fn segments_have_a_range_for_each_node() {
    let cluster = or_skip!(cluster("segments"));
    cluster.run(
        "SELECT segment_create('tag', 20);
         CREATE TABLE tagged (id bigint DEFAULT segment_next('tag'), tenant bigint);
         SELECT create_distributed_table('tagged', 'tenant')",
    );
    let rows = fill(&cluster, "tagged");
    cluster.assert_unique("tagged", "id", rows);
    let ranges: Vec<i64> = cluster
        .session(0)
        .column("SELECT DISTINCT id >> 48 FROM tagged ORDER BY 1");
    assert_eq!(ranges, [0, 1, 2], "a range for each group");
    // A worker's sequence is one of its own, so that it is as good after a restart.
    cluster.node(1).lose_power();
    let more = fill(&cluster, "tagged");
    cluster.assert_unique("tagged", "id", rows + more);
}

#[test]
fn segments_of_a_hidden_name_stay_local() {
    let cluster = or_skip!(cluster("hidden names"));
    // The default does not depend on the sequence, which so stays on the coordinator.
    cluster.run(
        "SELECT segment_create('tag', 20);
         CREATE TABLE tagged (id bigint DEFAULT segment_next('tag'::text::regclass), tenant bigint);
         SELECT create_distributed_table('tagged', 'tenant')",
    );
    cluster.run("INSERT INTO tagged (tenant) SELECT n FROM generate_series(1, 100) AS n");
    cluster.assert_unique("tagged", "id", 100);
    let mut worker = cluster.session(1);
    worker.refused("INSERT INTO tagged (tenant) VALUES (1)", "42P01");
    let mut coordinator = cluster.session(0);
    assert_eq!(
        coordinator
            .refusal("INSERT INTO tagged (tenant) SELECT author FROM src")
            .code,
        "42P01"
    );
    cluster.assert_unique("tagged", "id", 100);
}

#[test]
fn tickets_of_one_server_are_distributed() {
    let cluster = or_skip!(cluster("tickets"));
    cluster.run(
        "SELECT ticket_create('ticket');
         CREATE TABLE sold (id bigint DEFAULT ticket_next('ticket'), tenant bigint);
         SELECT create_distributed_table('sold', 'tenant')",
    );
    let rows = fill(&cluster, "sold");
    cluster.assert_unique("sold", "id", rows);
}

/// Tickets of a server among others are the numbers with its remainder. Citus moves their start on each worker, so that
/// they must be refused there, or keep the remainder.
#[test]
fn tickets_of_several_servers_keep_their_remainder() {
    let cluster = or_skip!(cluster("tickets of several"));
    cluster.run(
        "SELECT ticket_create('ticket', 2, 3);
         CREATE TABLE sold (id bigint DEFAULT ticket_next('ticket'), tenant bigint)",
    );
    let distributed = cluster
        .session(0)
        .try_run("SELECT create_distributed_table('sold', 'tenant')");
    if distributed.is_err() {
        return;
    }
    for mut session in cluster.sessions() {
        for sql in [
            "INSERT INTO sold (tenant) VALUES (1), (2), (3)",
            "INSERT INTO sold (tenant) SELECT author FROM src",
        ] {
            if let Err(refusal) = session.try_run(sql) {
                assert_eq!(refusal.code, "55000", "{refusal}");
            }
        }
    }
    let wrong: i64 = cluster
        .session(0)
        .one("SELECT count(*) FROM sold WHERE id % 3 <> 2");
    assert_eq!(wrong, 0, "tickets with the remainder of another server");
}

#[test]
fn user_sequences_are_no_defaults_of_distributed_tables() {
    let cluster = or_skip!(cluster("user sequences"));
    cluster.run(
        "SELECT user_sequence_create('family', 4, 20);
         CREATE TABLE numbered (id bigint DEFAULT user_sequence_next('family', 7), tenant bigint)",
    );
    // The family is a table that no other node has.
    let refusal = cluster
        .session(0)
        .refusal("SELECT create_distributed_table('numbered', 'tenant')");
    assert_eq!(refusal.code, "42P01", "{refusal}");
    refusal.assert_message("family");

    // On the coordinator it is like any other, and its values can be passed as constants.
    cluster.run("CREATE TABLE chat (seq bigint, tenant bigint); SELECT create_distributed_table('chat', 'tenant')");
    let mut session = cluster.session(0);
    for _ in 0..100 {
        session.run("INSERT INTO chat VALUES (user_sequence_next('family', 7), 7)");
    }
    cluster.assert_unique("chat", "seq", 100);
    let mut worker = cluster.session(1);
    let refusal = worker.refusal("INSERT INTO chat VALUES (user_sequence_next('family', 7), 7)");
    assert_eq!(refusal.code, "42P01", "{refusal}");
}

/// A sequence of Citus's own, for comparison and for the values that one finds there.
#[test]
fn numbers_of_bigserial_are_as_citus_makes_them() {
    let cluster = or_skip!(cluster("bigserial"));
    cluster.run("CREATE TABLE plain (id bigserial, tenant bigint); SELECT create_distributed_table('plain', 'tenant')");
    let rows = fill(&cluster, "plain");
    cluster.assert_unique("plain", "id", rows);
}
