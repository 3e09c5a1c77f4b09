//! A system that gives no more memory, as with strict overcommit: the session that asked for it ends, and no other.

use super::memory;
use mint_cluster::Server;

/// The server has memory for the message of an error, and Rust has none for its copy.
#[test]
fn a_session_without_memory_ends_alone() {
    const LENGTH: i64 = 100_000_000;
    let server = Server::start("no memory");
    let mut other = server.connect("postgres");
    let began: String = other.one("SELECT pg_postmaster_start_time()::text");
    other.run(&format!(
        "CREATE FUNCTION boom(bigint) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION USING MESSAGE = repeat('x', {LENGTH}); END $$;
         CREATE TABLE ev (id bigint DEFAULT snowflake_next_id(3)) PARTITION BY RANGE (id); CREATE TABLE ev_rest PARTITION OF ev DEFAULT; INSERT INTO ev DEFAULT VALUES;
         ALTER TABLE ev ADD CHECK (boom(id)) NOT VALID",
    ));
    let in_transaction = "BEGIN; CREATE TABLE t AS SELECT snowflake_next_id(5) AS id";
    other.run(in_transaction);
    let mut ended = 0;
    for quarters in 12..=26 {
        let mut session = server.connect("postgres");
        session.run("SELECT snowflake_next_id(5)");
        let limit = memory(session.pid, "VmSize") * 1_024 + LENGTH / 4 * quarters;
        let pid = session.pid;
        session.run(&format!(
            "COPY (SELECT 1) TO PROGRAM 'prlimit --pid {pid} --as={limit}:{limit}'"
        ));
        // The session continues after an error of the server's own, as it does with enough memory.
        let call = "CALL mint.partition_maintain('ev', '1 month', move_rows => true)";
        assert!(session.try_run(call).is_err());
        let is_over = session.try_run("SELECT 1").is_err();
        ended += i32::from(is_over);
    }
    assert!(ended > 0);
    other.run("SELECT id FROM t; COMMIT");
    let is: String = other.one("SELECT pg_postmaster_start_time()::text");
    assert_eq!(is, began);
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
}
