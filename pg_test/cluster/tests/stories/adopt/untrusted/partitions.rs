//! Partitions whose bounds, checks and indexes another role has written, met by the functions that plan and maintain them.

use super::domains::{assert_not_sprung, bob, each, set, start};

/// Partitions by a key of such a domain, with checks that cast to one, and of another role: no plan and no maintenance runs any.
#[test]
fn partitions_of_another() {
    let server = start("partitions of another");
    let mut alice = server.connect_as("alice", "postgres");
    alice.run(
        "CREATE TABLE keyed (id e.key DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id);
         CREATE TABLE given (id bigint DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id); CREATE TABLE given_rest PARTITION OF given DEFAULT;
         CREATE TABLE cast_to (id bigint DEFAULT snowflake_next_id(5), n int, CHECK (n::e.d > 0)) PARTITION BY RANGE (id); CREATE TABLE cast_rest PARTITION OF cast_to DEFAULT;
         CREATE TABLE unclear (id bigint DEFAULT (random() * 5)::bigint) PARTITION BY RANGE (id); CREATE TABLE unclear_old PARTITION OF unclear FOR VALUES FROM (0) TO (3000000000000000000)",
    );
    server
        .connect("postgres")
        .run("ALTER TABLE given_rest OWNER TO bob; ALTER TABLE unclear_old OWNER TO bob");
    bob(&server).run(
        "ALTER TABLE given_rest ADD CHECK (e.now()); CREATE INDEX ON unclear_old (id) WHERE e.now()",
    );
    set(&server);
    for (table, why) in [
        (
            "keyed",
            "partition key of table \"keyed\" has values of type e.key",
        ),
        ("cast_to", "has values of type e.d"),
        (
            "given",
            "partition \"given_rest\" has another owner than table \"given\"",
        ),
    ] {
        let mut said = each(
            &server,
            &format!("SELECT string_agg(command, '') FROM mint.partition_plan('{table}', '1 day')"),
        )
        .concat();
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let call = format!("CALL mint.partition_maintain('{table}', '1 day')");
            if let Err(error) = session.try_run(&call) {
                said.push_str(&error.to_string());
            }
        }
        assert_not_sprung(&server, table);
        assert!(said.contains(why), "{said}");
    }
    let drop = "SELECT string_agg(command, '') FROM mint.partition_drop_plan('unclear', '1 day', 'instagram')";
    let said = each(&server, drop);
    assert_not_sprung(&server, "unclear");
    assert!(
        said[1].contains("partition \"unclear_old\" has another owner"),
        "{said:?}"
    );
}
