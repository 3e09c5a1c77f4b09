//! What a script would lose or could not do is refused in its first plan, by name, and not by the swap.

use super::super::shop::{UNTIL_SWAP, gexec};
use mint_cluster::{Server, Session};

/// Returns what prevents a plan.
#[track_caller]
fn blockers(session: &mut Session, plan: &str) -> String {
    session.one(&format!(
        "SELECT coalesce(string_agg(note, E'\\n'), '') FROM {plan} WHERE note LIKE 'blocker%'"
    ))
}

/// A foreign key of periods would be one of equal values.
#[test]
fn foreign_keys_with_a_period_are_refused() {
    let server = Server::start("periods");
    let mut session = server.connect("postgres");
    if server.major() < 18 {
        return;
    }
    session.run(
        "CREATE EXTENSION btree_gist;
         CREATE TABLE room (id int, during daterange, UNIQUE (id, during), PRIMARY KEY (id, during WITHOUT OVERLAPS));
         CREATE TABLE booking (id serial PRIMARY KEY, room_id int NOT NULL, during daterange,
             CONSTRAINT bk FOREIGN KEY (room_id, PERIOD during) REFERENCES room (id, PERIOD during));
         CREATE INDEX ON booking (room_id)",
    );
    let plan = "mint.convert_plan('booking', 'room_id', 'snowflake_next_id(5)')";
    let found = blockers(&mut session, plan);
    assert!(
        found.starts_with("blocker: foreign key \"bk\" of table public.booking has PERIOD"),
        "{found}"
    );
    session.run("ALTER TABLE booking DROP CONSTRAINT bk");
    assert_eq!(blockers(&mut session, plan), "");
}
