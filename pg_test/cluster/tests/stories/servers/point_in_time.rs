//! A registry that is recovered to a time before some of its grants. It has forgotten them, and no node is granted twice.

use mint_cluster::registry::members::{AUTO, assert_refused, first_id};
use mint_cluster::{Registry, Server, assert_ascending, assert_unique, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const NEXT_5: &str = "SELECT snowflake_next_id(5)";
const NEXT_7: &str = "SELECT snowflake_next_id(7)";
const QUARANTINE: Duration = Duration::from_secs(70);

#[test]
fn a_registry_recovered_to_a_time_before_grants_repeats_none_of_them() {
    let builder = Server::build("a recovered registry").archiving();
    // Leases that outlast the recovery on a busy machine.
    let Some(mut registry) = Registry::start_with(builder, 60) else {
        return;
    };
    let (ada, ben, kim) = (
        registry.fixed("ada", "5"),
        registry.auto("ben"),
        registry.auto("kim"),
    );
    let eve = registry.fixed("eve", "7");
    let late = registry.admit(Server::build("late").conf(AUTO).conf("pg_mint.nodes = '7'"));
    let asked = [(&ada, NEXT_5), (&ben, NEXT), (&kim, NEXT)];
    let mut sessions = asked.map(|(member, sql)| (member.connect("postgres"), sql));
    let mut ids: Vec<Vec<i64>> = vec![Vec::new(); sessions.len()];
    let mut draw = |members: std::ops::Range<usize>| {
        for member in members {
            let (session, sql) = &mut sessions[member];
            ids[member].push(session.one(sql));
        }
    };
    draw(0..2);
    let backup = registry.server.backup();
    let time: String = registry.connect().one("SELECT clock_timestamp()::text");
    draw(2..3);
    let mut of_seven: Vec<i64> = vec![eve.connect("postgres").one(NEXT_7)];
    let end: String = eve
        .connect("postgres")
        .one("SELECT lease_until::text FROM mint.leases");
    registry.server.fill_archive();
    // It would tell of its lease.
    let frozen = eve.freeze();
    registry.server.stop_immediate();
    let target = format!("recovery_target_time = '{time}'");
    let recovered = registry.server.restored("recovered", backup, &target, "+0");
    registry.move_to(recovered);
    let begun = Instant::now();
    let mut witness = registry.connect();
    let holders = "SELECT holder FROM mint_registry.nodes WHERE held ORDER BY holder";
    assert_eq!(witness.column::<String>(holders), ["ada", "ben"]);

    let mut session = late.connect("postgres");
    assert_refused(
        &session.refusal(NEXT_7),
        "registry is in quarantine and grants no new leases",
    );
    // Members whose grants were forgotten continue as those whose grants were not.
    let (id, after) = loop {
        draw(0..3);
        sleep(Duration::from_millis(250));
        if let Ok(id) = session.try_one::<i64>(NEXT_7) {
            break (id, begun.elapsed());
        }
        assert!(
            begun.elapsed() < QUARANTINE * 2,
            "no lease after {:?}",
            begun.elapsed()
        );
    };
    say(format!("a new lease {after:?} after the recovery"));
    assert!(after >= QUARANTINE, "{after:?}");
    let past: bool = session.one(&format!(
        "SELECT bool_and(lease_from >= '{end}') FROM mint.leases WHERE first_node = 7"
    ));
    assert!(past, "two members have leases of a node at once");
    of_seven.push(id);
    let (any, _) = first_id(&late, NEXT);
    draw(0..3);
    drop(frozen);
    eve.until("the old lease is found lost", || {
        let mut session = eve.connect("postgres");
        let refusal = session.refusal(NEXT_7);
        refusal.detail.contains("is leased by \"late\" until")
    });
    of_seven.push(session.one(NEXT_7));
    assert_ascending(&of_seven);
    assert_eq!(
        witness.column::<String>(holders),
        ["ada", "ben", "kim", "late", "late"]
    );
    ids.extend([of_seven, vec![any]]);
    let shards = ids.iter().map(|ids| super::shard(&mut witness, ids[0]));
    assert_eq!(shards.collect::<Vec<_>>(), [5, 8191, 8190, 7, 8189]);
    assert_unique(&ids);
}
