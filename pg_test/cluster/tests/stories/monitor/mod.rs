//! What an administrator sees: wait events, statistics, checks, and the queries of monitoring systems.

mod alarms;
mod ceiling_file;
mod health;
mod other_servers;
mod queries;
mod stats;
mod waits;

use mint_cluster::Session;

/// Returns the status of a check.
pub fn status(session: &mut Session, check: &str) -> String {
    session.one(&format!(
        "SELECT status FROM mint.health() WHERE check_name = '{check}'"
    ))
}

/// Asserts the status of a check, whose detail has these words.
#[track_caller]
pub fn assert_status(session: &mut Session, check: &str, status: &str, words: &str) {
    let row: String = session.one(&format!(
        "SELECT concat_ws(' | ', status, detail, hint) FROM mint.health() WHERE check_name = '{check}'"
    ));
    assert!(
        row.starts_with(status) && row.contains(words),
        "{check}: {row}"
    );
    let hint: bool = session.one(&format!(
        "SELECT hint IS NOT NULL = (status <> 'ok') FROM mint.health() WHERE check_name = '{check}'"
    ));
    assert!(hint, "{check}: {row}");
}
