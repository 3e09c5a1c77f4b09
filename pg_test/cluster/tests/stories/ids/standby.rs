//! Hot standbys, which read ids and mint none until promoted.

use super::assert_behind_ceiling;
use crate::hostile::functions::table;
use mint_cluster::torture::{Clock, Fault, Torture};
use mint_cluster::{Server, assert_ascending, assert_unique, count, short_form};
use std::collections::BTreeSet;

#[test]
fn a_standby_refuses_until_promoted() {
    let primary = Server::start("primary");
    let standby = primary.standby("standby");
    let mut session = primary.connect("postgres");
    let mut all: Vec<i64> =
        session.column("SELECT snowflake_next_id(5) FROM generate_series(1, 5000)");
    primary.wait_for(&standby);

    let mut replica = standby.connect("postgres");
    for sql in [
        "SELECT snowflake_next_id(5)",
        "SELECT count(*) FROM snowflake_next_ids(5, 10)",
        "SELECT snowflake_start_above(5)",
    ] {
        let refusal = replica.refused(sql, "25006");
        assert!(!refusal.hint.is_empty(), "no hint: {refusal}");
    }
    let id = all[0];
    assert_eq!(
        replica.one::<i32>(&format!("SELECT shard FROM snowflake_decode({id})")),
        5
    );
    let shown = format!("SELECT snowflake_time({id})::text");
    assert_eq!(replica.one::<String>(&shown), session.one::<String>(&shown));

    primary.stop_immediate();
    standby.promote();
    // The session that was refused mints without a reconnect.
    all.extend(replica.column::<i64>("SELECT snowflake_next_id(5) FROM generate_series(1, 5000)"));
    all.push(standby.one("SELECT snowflake_next_id(5)"));
    assert_unique([&all]);
    assert_ascending(&all);
}

/// Every function of the catalog: a standby answers, or says in words that it is one.
#[test]
fn no_function_has_an_internal_error_on_a_standby() {
    let primary = Server::build("functions of a primary")
        .conf("pg_mint.max_wait = 0\npg_mint.node = 3")
        .start();
    table::set_up(&primary);
    let standby = primary.standby("functions of a standby");
    primary.wait_for(&standby);
    let mut session = standby.connect("postgres");
    session.run("SET statement_timeout = '500ms'");
    let (mut refused, mut bad) = (BTreeSet::new(), Vec::new());
    for function in table::functions(&mut session, "true") {
        for call in function.ends().iter().take(count(usize::MAX, 40)) {
            match session.try_run(&function.statement(call)) {
                Err(refusal) if refusal.code == "25006" => {
                    refused.insert(function.name.clone());
                }
                Err(refusal) if table::is_bad(&refusal.code) => {
                    bad.push(format!("{call:.200}: {refusal:.200}"));
                }
                _ => {}
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    for call in [
        "segment_create('a')", "ticket_create('a')", "user_sequence_create('a')",
        "user_sequence_drop('family')", "segment_set('tag', 9)", "segment_next('tag')",
        "ticket_next('ticket')", "mint.registry_create()",
    ] {
        session.refused(&format!("SELECT {call}"), "25006");
    }
}

/// A standby computes the bound of a user from the replayed state of the user's section, and that of a sequence from its page.
#[test]
fn a_standby_shows_the_bound_of_a_user() {
    const CURRENT: &str = "SELECT user_sequence_current('mail', 7)";
    let primary = Server::start("mailboxes");
    let mut session = primary.connect("postgres");
    session.run("SELECT user_sequence_create('mail', sections => 1, step => 100)");
    session.run("CREATE ROLE reader LOGIN; CREATE SEQUENCE tag CACHE 50");
    session.run("SELECT segment_next('tag') FROM generate_series(1, 7)");
    let standby = primary.standby("a reader of mailboxes");
    primary.wait_for(&standby);
    let mut replica = standby.connect("postgres");
    assert_eq!(replica.one::<i64>(CURRENT), 0, "no value was drawn");
    // The bound of a sequence is the last value that was taken into memory.
    let bound: bool = replica.one("SELECT segment_current('tag') = last_value FROM tag");
    assert!(bound && session.one::<i64>("SELECT segment_current('tag')") == 7);

    let mut last = 0;
    for _ in 0..5 {
        session.run("SELECT user_sequence_next('mail', 7) FROM generate_series(1, 70)");
        last = session.one(CURRENT);
        primary.wait_for(&standby);
        // The bound is at most a step and a half above, for users with draws and without.
        for user in [7, 8] {
            let bound: i64 = replica.one(&format!("SELECT user_sequence_current('mail', {user})"));
            assert!((last..=last + 150).contains(&bound), "{bound}, {last}");
        }
    }
    assert_eq!(last, 350);
    replica.refused("SELECT user_sequence_next('mail', 7)", "25006");
    replica.refused("SELECT user_sequence_next_for_commit('mail', 7)", "25006");

    // Privileges apply on the standby.
    let mut reader = standby.connect_as("reader", "postgres");
    reader.refused(CURRENT, "42501");
    session.run("GRANT SELECT ON mail TO reader");
    primary.wait_for(&standby);
    let bound: i64 = reader.one(CURRENT);
    assert!(bound >= last, "{bound}");

    // A recreated family is a new one.
    session.run("SELECT user_sequence_drop('mail')");
    session.run("SELECT user_sequence_create('mail', sections => 1, step => 100)");
    primary.wait_for(&standby);
    assert_eq!(replica.one::<i64>(CURRENT), 0);
    session.run("SELECT user_sequence_next('mail', 7)");
    primary.wait_for(&standby);
    primary.stop_immediate();
    standby.promote();
    let bound: i64 = replica.one(CURRENT);
    let next: i64 = replica.one("SELECT user_sequence_next('mail', 7)");
    assert!((1..next).contains(&bound), "{bound}, {next}");
}

/// Minting does not wait for the standby: the ceiling is written half a window ahead, which is how far it can lag.
#[test]
fn failover_under_load_repeats_nothing() {
    // A wide window, as a busy machine can take longer than a quarter of a second to stream.
    let mut torture = Torture::begin("failover", &["pg_mint.ceiling_window = '2s'"]);
    for _ in 0..count(3, 1) {
        torture.survive(Fault::Failover, Clock::Right);
        if !short_form() {
            torture.survive(Fault::Failover, Clock::HourBack);
        }
    }
}

/// A promoted standby whose clock is an hour behind refuses to mint until its clock is correct.
#[test]
fn a_standby_an_hour_behind_waits_for_its_clock() {
    let primary = Server::start_with_clock("an hour ahead");
    let standby = primary.standby("an hour behind");
    standby.set_clock("-3600");
    let mut all: Vec<i64> = vec![primary.one("SELECT snowflake_next_id(5)")];
    primary.wait_for(&standby);
    primary.stop_immediate();
    standby.promote();
    let mut session = standby.connect("postgres");
    let refusal = session.refusal("SELECT snowflake_next_id(5)");
    assert_behind_ceiling(&refusal);
    standby.set_clock("+0");
    all.push(session.one("SELECT snowflake_next_id(5)"));
    assert_ascending(&all);
}
