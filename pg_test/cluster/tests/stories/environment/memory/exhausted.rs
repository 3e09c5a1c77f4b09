//! A system that gives no more memory, as with strict overcommit: the session that asked for it ends, and no other.

use super::memory;
use mint_cluster::{Server, Session};

/// Limits the memory of a session to what it has and some bytes more.
fn limit(session: &mut Session, more: i64) {
    let pid = session.pid;
    let limit = memory(pid, "VmSize") * 1_024 + more;
    session.run(&format!(
        "COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; prlimit --pid {pid} --as={limit}:{limit}'"
    ));
}

/// Returns when the shared memory was made: a crash of one session ends all, and the server begins again.
fn began(server: &Server) -> String {
    let query =
        "SELECT backend_start::text FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
    server.one(query)
}

/// The server has memory for the message of an error, and Rust has none for its copy.
#[test]
fn a_session_without_memory_ends_alone() {
    const LENGTH: i64 = 100_000_000;
    let server = Server::start("no memory");
    let mut other = server.connect("postgres");
    let before = began(&server);
    other.run(&format!(
        "CREATE FUNCTION boom() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING MESSAGE = repeat('x', {LENGTH}); END $$;
         CREATE EVENT TRIGGER boom ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION boom()",
    ));
    let in_transaction = "BEGIN; CREATE TABLE t AS SELECT snowflake_next_id(5) AS id";
    other.run(in_transaction);
    let mut ended = 0;
    for quarters in 12..=26 {
        let mut session = server.connect("postgres");
        session.run("SELECT snowflake_next_id(5)");
        limit(&mut session, LENGTH / 4 * quarters);
        // The session continues after an error of the server's own, as it does with enough memory.
        let call = "SELECT user_sequence_create('us')";
        assert!(session.try_run(call).is_err());
        let is_over = session.try_run("SELECT 1").is_err();
        ended += i32::from(is_over);
    }
    assert!(ended > 0);
    other.run("SELECT id FROM t; COMMIT");
    assert_eq!(began(&server), before);
}
