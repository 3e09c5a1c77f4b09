//! A central server that has forgotten which values it issued: restored, failed over, or set back. The servers that draw
//! from it issue nothing again, say so, and continue once it is corrected.

use super::sources::{NEXT, start};
use mint_cluster::{Refusal, Registry, Server, assert_unique, or_skip};

const SET_BEYOND: &str = "Set the sequence to the furthest \"segment_end\" in mint.segments of all servers that draw from it.";

/// Draws up to `most` values, until it is refused.
fn draw(server: &Server, most: usize) -> (Vec<i64>, Option<Refusal>) {
    const BURST: usize = 50;
    let mut session = server.connect("postgres");
    let burst = format!("SELECT segment_next('orders') FROM generate_series(1, {BURST})");
    let mut values = Vec::new();
    while values.len() < most {
        match session.try_column::<i64>(&burst) {
            Ok(drawn) => values.extend(drawn),
            Err(refusal) => return (values, Some(refusal)),
        }
    }
    (values, None)
}

/// Draws until the server refuses, as the central server was set back. Returns what it drew before.
#[track_caller]
fn draw_until_set_back(server: &Server) -> Vec<i64> {
    let (mut values, mut told) = (Vec::new(), None);
    // For a while after another failure, nobody asks.
    server.until("the reason", || {
        let (drawn, refusal) = draw(server, 20_000);
        values.extend(drawn);
        told = refusal;
        let refusal = told.as_ref();
        refusal.is_none_or(|refusal| refusal.detail.contains("was set back"))
    });
    let refusal = told.unwrap_or_else(|| panic!("{} draws on", server.name()));
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(
        refusal.detail.contains("sequence \"orders\" was set back")
            && refusal.detail.contains("Servers have taken values up to"),
        "{refusal}"
    );
    assert_eq!(refusal.hint, SET_BEYOND);
    let trouble: String = server.one("SELECT trouble FROM mint.segments");
    assert!(trouble.contains("was set back"), "{trouble}");
    server.until("the log says so", || {
        server.log().contains("sequence \"orders\" was set back")
    });
    values
}

/// Sets the central sequence beyond all that the servers have taken, as the documents say.
fn correct(central: &Registry, servers: &[Server]) {
    let ends = servers.iter().map(|server| {
        let end = "SELECT segment_end FROM mint.segments WHERE sequence = 'orders'::regclass";
        server.one::<i64>(end)
    });
    let end = ends.max().expect("servers");
    central
        .connect()
        .run(&format!("SELECT setval('orders', {end})"));
}

#[track_caller]
fn draws_again(servers: &[Server]) -> Vec<Vec<i64>> {
    let drawn = servers.iter().map(|server| {
        // For a while after a failure, nobody asks.
        let mut session = server.connect("postgres");
        let first: i64 = server.until_minted(|| session.try_one(NEXT));
        let (mut values, refusal) = draw(server, 3_000);
        values.push(first);
        assert!(refusal.is_none(), "{}: {refusal:?}", server.name());
        let trouble = "SELECT count(trouble) FROM mint.segments";
        assert_eq!(server.one::<i64>(trouble), 0);
        values
    });
    drawn.collect()
}

/// Eve has taken nothing since the copy was made, so only the others can tell that it is old.
#[test]
fn an_old_copy_of_the_central_server_issues_nothing_again() {
    let (mut central, servers) =
        or_skip!(start("a central server restored", &["ada", "ben", "eve"]));
    let mut lists: Vec<Vec<i64>> = servers.iter().map(|server| draw(server, 500).0).collect();
    for server in &servers {
        server.until("the next segment", || {
            let ready = "SELECT next_ready FROM mint.segments";
            server.one(ready)
        });
    }
    let copy = central.server.copied("an old copy");
    for server in &servers[..2] {
        lists.push(draw(server, 4_000).0);
    }
    central.server.stop_immediate();
    copy.start_again();
    central.move_to(copy);
    // The end of what it took outlives the server's memory.
    lists.push(draw_until_set_back(&servers[0]));
    servers[0].kill9(servers[0].connect("postgres").pid);
    lists.push(draw_until_set_back(&servers[0]));
    servers[0].restart();
    let end = "SELECT segment_end FROM mint.segments WHERE sequence = 'orders'::regclass";
    let ends: Vec<i64> = servers[0].column(end);
    assert!(ends.len() == 1 && ends[0] > 4_000, "{ends:?}");
    lists.push(draw_until_set_back(&servers[0]));
    lists.push(draw_until_set_back(&servers[1]));
    lists.push(draw_until_set_back(&servers[2]));
    correct(&central, &servers);
    lists.extend(draws_again(&servers));
    assert_unique(&lists);
}

#[test]
fn a_lagging_standby_of_the_central_server_issues_nothing_again() {
    let (mut central, mut servers) = or_skip!(start("a central server that lags", &["ada", "ben"]));
    let mut lists: Vec<Vec<i64>> = servers.iter().map(|server| draw(server, 500).0).collect();
    let central_standby = central.server.standby("the central server's standby");
    central.server.wait_for(&central_standby);
    central_standby.stop_receiving();
    for server in &servers {
        lists.push(draw(server, 4_000).0);
    }
    // A server that fails over itself remembers, as its standby has.
    let standby = servers[0].standby("ada's standby");
    servers[0].wait_for(&standby);
    central.server.stop_immediate();
    servers[0].stop_immediate();
    central_standby.promote();
    central.move_to(central_standby);
    standby.promote();
    servers[0].replace_by(standby);
    for server in &servers {
        lists.push(draw_until_set_back(server));
    }
    correct(&central, &servers);
    lists.extend(draws_again(&servers));
    assert_unique(&lists);
}

#[test]
fn a_central_sequence_that_is_set_back_issues_nothing_again() {
    let (central, servers) = or_skip!(start("a central sequence set back", &["ada", "ben"]));
    let mut session = central.connect();
    for (definition, back) in [
        ("", "ALTER SEQUENCE orders RESTART"),
        (
            "INCREMENT -3 MINVALUE -1000000000 START -1",
            "SELECT setval('orders', -1)",
        ),
    ] {
        session.run("DROP SEQUENCE orders");
        session.run(&format!("CREATE SEQUENCE orders {definition}"));
        session.run("GRANT USAGE ON SEQUENCE orders TO member");
        for server in &servers {
            server.run(
                "DROP SEQUENCE orders; SELECT segment_create('orders', step => 1000, source => 'registry')",
            );
        }
        let mut lists: Vec<Vec<i64>> = servers.iter().map(|server| draw(server, 2_500).0).collect();
        session.run(back);
        for server in &servers {
            lists.push(draw_until_set_back(server));
        }
        let sign = if definition.is_empty() { "" } else { "-" };
        session.run(&format!("SELECT setval('orders', {sign}900000)"));
        lists.extend(draws_again(&servers));
        assert_unique(&lists);
    }
}

/// There is little room for the reasons of all sequences.
#[test]
fn the_reason_is_told_beside_those_of_others() {
    let (central, servers) = or_skip!(start("set back beside others", &["ada"]));
    let mut session = servers[0].connect("postgres");
    session.run(&format!(
        "CREATE SERVER gone FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '/{}', dbname 'x');
         CREATE USER MAPPING FOR postgres SERVER gone OPTIONS (user 'x');
         DROP SEQUENCE orders; SELECT segment_create('gone' || n, source => 'gone') FROM generate_series(1, 6) AS n;
         SELECT segment_create('orders', step => 1000, source => 'registry')",
        "nowhere".repeat(10)
    ));
    draw(&servers[0], 2_500);
    central.connect().run("ALTER SEQUENCE orders RESTART");
    for n in 1..=6 {
        let refusal = session.refusal(&format!("SELECT segment_next('gone{n}')"));
        refusal.assert_detail("nowhere");
    }
    draw_until_set_back(&servers[0]);
    let others = session.refusal("SELECT segment_next('gone6')");
    others.assert_detail("nowhere");
}

/// A sequence that begins again at its end repeats its values by definition.
#[test]
fn a_central_sequence_that_cycles_begins_again() {
    let (central, servers) = or_skip!(start("a central sequence that cycles", &["ada"]));
    central
        .connect()
        .run("ALTER SEQUENCE orders MAXVALUE 2500 CYCLE");
    let (values, refusal) = draw(&servers[0], 6_000);
    assert!(refusal.is_none(), "{refusal:?}");
    assert_eq!(values.iter().max(), Some(&2_500));
    assert!(values.iter().filter(|&&value| value == 1).count() >= 2);
    servers[0].refused("SELECT nextval('orders')", "2200H");
    servers[0].one::<i64>(NEXT);
}
