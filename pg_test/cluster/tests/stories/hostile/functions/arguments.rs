//! Every function with ordinary and with extreme arguments: it returns a value or an error with a proper code, and the session
//! survives.

use super::table::{assert_expected, functions, is_bad, set_up};
use mint_cluster::Server;
use std::collections::BTreeSet;

#[test]
fn ordinary_calls_succeed_or_are_refused_by_the_table() {
    let server = Server::build("ordinary calls")
        .conf("pg_mint.node = 3")
        .start();
    set_up(&server);
    let mut session = server.connect("postgres");
    let all = functions(&mut session, "prokind <> 'a'");
    assert_expected(&mut session, &all, "public", |_| ());
}

#[test]
fn every_function_withstands_the_ends_of_its_arguments() {
    let server = Server::build("extremes")
        .conf("pg_mint.max_wait = 0")
        .conf("pg_mint.node = 3")
        .start();
    set_up(&server);
    let postmaster = "SELECT pg_postmaster_start_time()::text";
    let mut session = server.connect("postgres");
    let started: String = session.one(postmaster);
    let all = functions(&mut session, "prokind <> 'p'");
    assert!(all.len() > 120, "only {} functions", all.len());
    let mut bad = Vec::new();
    let mut lines = BTreeSet::new();
    for function in &all {
        // Its changes are rolled back, except for those in shared memory.
        for call in function.ends() {
            // A set can be as large as its arguments say, so only its first rows are fetched.
            let sql = format!(
                "BEGIN; SET LOCAL statement_timeout = '500ms'; SELECT * FROM (SELECT {call} LIMIT 3) t"
            );
            match session.try_run(&sql) {
                Ok(()) => {}
                Err(refusal) if is_bad(&refusal.code) => {
                    bad.push(format!("{call:.300}: {refusal:.300}"));
                    if refusal.is_loss() {
                        session = server.connect("postgres");
                    }
                }
                Err(refusal) => lines.extend(refusal.line),
            }
            session.run("ROLLBACK");
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    // An error shows the place that raised it, not one through which all errors pass.
    assert!(
        lines.len() > 30,
        "errors of {} places: {lines:?}",
        lines.len()
    );
    assert_eq!(
        session.one::<String>(postmaster),
        started,
        "the server was restarted"
    );
    for sign in ["PANIC", "TRAP", "panicked", "was terminated by signal"] {
        assert!(!server.log().contains(sign), "{sign} in the log");
    }
    // Everything still works.
    session.run("SELECT segment_set('tag', 1), segment_set('ticket', 1)");
    assert_eq!(session.one::<i64>("SELECT segment_next('tag')"), 2);
    assert!(session.one::<i64>("SELECT ticket_next('ticket')") > 0);
    assert!(session.one::<i64>("SELECT user_sequence_next('family', 1)") > 0);
    session.run("SELECT uuid_v1(), uuid_v6(), uuid_v7(), objectid()");
}
