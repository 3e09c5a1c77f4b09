//! Segments of another server's sequence, from which many servers draw, with outages on either side.

use mint_cluster::load::sessions::{split, while_minting};
use mint_cluster::registry::members::first_id;
use mint_cluster::{Registry, Server, assert_unique, count, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub const NEXT: &str = "SELECT segment_next('orders')";
const UNREACHABLE: &str = "Check the foreign server, the sequence there, and the user mapping of the owner of the sequence here.";

/// Starts a central server with the sequence, and servers that draw from it.
pub fn start(story: &str, servers: &[&str]) -> Option<(Registry, Vec<Server>)> {
    let central = Registry::start(story)?;
    central.connect().run(
        "SELECT segment_create('orders', step => 1000);
         GRANT USAGE ON SEQUENCE orders TO member",
    );
    let servers = servers.iter().map(|name| {
        let server = central.admit(Server::build(name));
        server.run("SELECT segment_create('orders', step => 1000, source => 'registry')");
        server
    });
    let servers = servers.collect();
    Some((central, servers))
}

#[test]
fn two_servers_draw_from_one_sequence() {
    let (central, servers) = or_skip!(start("one sequence for two", &["ada", "ben"]));
    let many = count(200_000, 30_000);
    let draw = format!("SELECT segment_next('orders') FROM generate_series(1, {many})");
    let mut lists: Vec<Vec<i64>> = servers.iter().map(|server| server.column(&draw)).collect();
    // A client of the central server draws by nextval.
    lists.push(
        central
            .connect()
            .column("SELECT nextval('orders') FROM generate_series(1, 100)"),
    );
    lists.extend(servers.iter().map(|server| {
        let range = "SELECT generate_series(r.first, r.last, r.step) FROM segment_next_range('orders', 700) AS r";
        server.column(range)
    }));
    assert_unique(&lists);
    assert_eq!(lists[0].len(), many);

    let mut session = servers[0].connect("postgres");
    session.refused("SELECT nextval('orders')", "2200H");
    session.refused("SELECT segment_next_range('orders', 1001)", "22023");
    session.run("CREATE ROLE app LOGIN; GRANT USAGE ON SEQUENCE orders TO app");
    let mut app = servers[0].connect_as("app", "postgres");
    assert_unique([&app.column::<i64>(NEXT)]);
    app.run("BEGIN READ ONLY");
    assert_unique([&app.column::<i64>(NEXT)]);
    app.run("COMMIT");
    // A role without a user mapping of its own is told so.
    session
        .run("GRANT USAGE ON FOREIGN SERVER registry TO app; GRANT CREATE ON SCHEMA public TO app");
    app.run("SELECT segment_create('unmapped', source => 'registry')");
    let refusal = app.refused("SELECT segment_next('unmapped')", "55000");
    refusal.assert_detail("user mapping not found");
    assert_eq!(refusal.hint, UNREACHABLE);
}

#[test]
fn an_outage_is_noticed_when_two_segments_are_used_up() {
    let (central, servers) = or_skip!(start("a sequence that is out", &["ada"]));
    let mut session = servers[0].connect("postgres");
    let mut values: Vec<i64> =
        session.column("SELECT segment_next('orders') FROM generate_series(1, 500)");
    // The next segment is prefetched soon.
    servers[0].until("the next segment", || {
        session.one("SELECT next_ready FROM mint.segments")
    });
    central.server.stop_immediate();
    values.extend(
        session.column::<i64>("SELECT segment_next('orders') FROM generate_series(1, 1500)"),
    );
    let refusal = session.refusal(NEXT);
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(
        refusal.detail.contains("could not establish connection"),
        "{refusal}"
    );
    assert_eq!(refusal.hint, UNREACHABLE);
    let of_health = "SELECT status || detail FROM mint.health() WHERE check_name = 'sequences'";
    let told: String = session.one(of_health);
    assert!(
        told.starts_with("critical") && told.contains("lacks a segment"),
        "{told}"
    );
    // A role that can only draw does not learn where the owner connects to.
    session.run("CREATE ROLE app LOGIN; GRANT USAGE ON SEQUENCE orders TO app");
    let mut app = servers[0].connect_as("app", "postgres");
    let refusal = app.refusal(NEXT);
    assert_eq!(
        refusal.detail,
        "The last request failed: see the server log."
    );
    let trouble: String = app.one("SELECT trouble FROM mint.segments");
    assert_eq!(trouble, "see the server log");
    central.server.start_again();
    let (value, _) = first_id(&servers[0], NEXT);
    values.push(value);
    assert_unique([&values]);
    assert!(session.one::<String>(of_health).starts_with("ok"));
}

/// The central server is killed, its sequence altered, and a drawing server killed: no value is drawn twice.
#[test]
fn faults_on_either_side_repeat_no_value() {
    let (central, servers) = or_skip!(start("a sequence under faults", &["ada", "ben"]));
    let mut lists = Vec::new();
    let mut refusals = Vec::new();
    let burst = "SELECT segment_next('orders') FROM generate_series(1, 300)";
    for round in 0..count(6, 2) {
        let mut others = Vec::new();
        let records = while_minting(&servers[0], 2, burst, || {
            others = while_minting(&servers[1], 2, burst, || {
                sleep(Duration::from_millis(300));
                match round % 2 {
                    0 => {
                        // The session of a request is too short to be found.
                        central.server.kill9(central.connect().pid);
                        sleep(Duration::from_millis(500));
                        servers[1].kill9_any();
                    }
                    _ => {
                        central.server.stop_immediate();
                        sleep(Duration::from_millis(300));
                        central.server.start_again();
                        let mut session = central.connect();
                        session.run("ALTER SEQUENCE orders CACHE 500");
                        session.run("SELECT setval('orders', nextval('orders') + 5000)");
                    }
                }
                for server in &servers {
                    first_id(server, NEXT);
                }
                sleep(Duration::from_millis(300));
            });
        });
        for records in [records, others] {
            let (ids, refused) = split(records);
            lists.extend(ids);
            refusals.extend(refused);
        }
    }
    assert_unique(&lists);
    for refusal in &refusals {
        assert!(
            ["55000", "XX000"].contains(&refusal.code.as_str()),
            "{refusal}"
        );
    }
}

/// The central server is frozen while a worker waits for it. Neither a shutdown nor the owner of the database waits for
/// the worker.
#[test]
fn a_frozen_source_holds_up_nothing() {
    let (central, servers) = or_skip!(start("a frozen source", &["ada"]));
    let ada = &servers[0];
    let mut session = ada.connect("postgres");
    session.run("CREATE ROLE owner SUPERUSER LOGIN");
    session.run("CREATE DATABASE shop OWNER owner");
    let mut shop = ada.connect("shop");
    shop.run("CREATE EXTENSION dblink; CREATE EXTENSION pg_mint");
    central.create_server(&mut shop, "registry", "postgres");
    shop.run("ALTER SERVER registry OPTIONS (DROP connect_timeout)");
    shop.run("SELECT segment_create('orders', step => 1000, source => 'registry')");
    let first: i64 = shop.one(NEXT);
    // A request that does not fit into the buffer of a socket would wait for the other server to read it.
    shop.run(
        "SELECT segment_create('long', source => 'registry', source_sequence => repeat('x', 20000))",
    );
    let refusal = shop.refusal("SELECT segment_next('long')");
    refusal.assert_detail("is too long");
    // The owner of the database ends its worker, a superuser or not.
    session.run("ALTER ROLE owner NOSUPERUSER CREATEDB");
    let frozen = central.server.freeze();
    let used_up = shop.refusal("SELECT segment_next('orders') FROM generate_series(1, 3000)");
    assert_eq!(used_up.code, "55000", "{used_up}");
    ada.until("the reason is known", || {
        let refusal = shop.refusal(NEXT);
        refusal
            .detail
            .contains("foreign server \"registry\" did not respond")
    });
    drop(shop);
    let mut owner = ada.connect_as("owner", "postgres");
    owner.run("CREATE DATABASE copy TEMPLATE shop");
    // The worker of another session, which waits for the central server.
    let wait = |database: &str| {
        ada.until("a worker waits", || {
            let mut session = ada.connect(database);
            session.run("SET pg_mint.max_wait = '100ms'");
            session
                .refusal(NEXT)
                .detail
                .contains("has not responded yet")
        });
    };
    wait("shop");
    owner.run("ALTER DATABASE shop RENAME TO other");
    wait("other");
    // The session of a superuser, which the owner may not end, has to be gone; the worker stays.
    ada.until("only the worker is in the database", || {
        let sessions = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'other' AND backend_type = 'client backend')";
        session.one(sessions)
    });
    owner.run("DROP DATABASE other WITH (FORCE)");
    wait("copy");
    let begun = Instant::now();
    ada.stop_fast();
    assert!(begun.elapsed() < Duration::from_secs(4));
    drop(frozen);
    ada.start_again();
    let mut copy = ada.connect("copy");
    let value: i64 = ada.until_minted(|| copy.try_one(NEXT));
    assert!(value > first, "{value} after {first}");
}

/// A session wakes the worker while it waits for another sequence, so that what it waits for has reset the latch.
#[test]
fn an_order_during_a_request_is_not_late() {
    let (central, servers) = or_skip!(start("orders during requests", &["ada"]));
    let ada = &servers[0];
    let mut watch = central.connect();
    let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'member' AND wait_event_type = 'Lock')";
    let rounds = (0..3).map(|round| {
        watch.run(&format!(
            "SELECT segment_create('slow{round}'), segment_create('quick{round}');
             GRANT USAGE ON SEQUENCE slow{round}, quick{round} TO member"
        ));
        let [mut slow, mut quick] = [0, 1].map(|_| ada.connect("postgres"));
        slow.run(&format!(
            "SELECT segment_create('slow{round}', source => 'registry'), segment_create('quick{round}', source => 'registry')"
        ));
        let mut admin = central.connect();
        admin.run(&format!("BEGIN; ALTER SEQUENCE slow{round} CACHE 1"));
        std::thread::scope(|scope| {
            scope.spawn(|| slow.one::<i64>(&format!("SELECT segment_next('slow{round}')")));
            central.server.until("the worker waits", || watch.one(waits));
            let drawn = scope.spawn(|| {
                quick.one::<i64>(&format!("SELECT segment_next('quick{round}')"));
                Instant::now()
            });
            sleep(Duration::from_millis(100));
            let begun = Instant::now();
            admin.run("ROLLBACK");
            drawn.join().expect("a value") - begun
        })
    });
    let fastest = rounds.min();
    assert!(fastest < Some(Duration::from_millis(500)), "{fastest:?}");
}

/// Flickr's shards: a name for the tickets of each of two ticket servers, here two sequences of one. While one cannot be
/// had, those of the other are drawn.
#[test]
fn a_shard_draws_from_two_ticket_servers() {
    let (central, servers) = or_skip!(start("tickets of two servers", &["shard"]));
    central.connect().run(
        "SELECT ticket_create('even', server => 2, servers => 2), ticket_create('odd', server => 1, servers => 2);
         GRANT USAGE ON SEQUENCE even, odd TO member",
    );
    let mut shard = servers[0].connect("postgres");
    shard.run(
        "SELECT segment_create('photos_1', step => 30, source => 'registry', source_sequence => 'even'),
             segment_create('photos_2', step => 30, source => 'registry', source_sequence => 'odd');
         CREATE FUNCTION next_photo() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
         BEGIN
             RETURN segment_next('photos_1');
         EXCEPTION WHEN object_not_in_prerequisite_state THEN
             RETURN segment_next('photos_2');
         END $$",
    );
    assert_eq!(shard.one::<i64>("SELECT next_photo()"), 2);
    assert_eq!(
        shard.one::<Option<i64>>("SELECT ticket_current('photos_1')"),
        Some(2)
    );
    central.connect().run("DROP SEQUENCE even");
    let mut drawn: Vec<i64> = shard.column("SELECT next_photo() FROM generate_series(1, 29)");
    assert_eq!(drawn, (2..=30).map(|n| 2 * n).collect::<Vec<i64>>());
    drawn = (0..3).map(|_| shard.one("SELECT next_photo()")).collect();
    assert_eq!(drawn, [1, 3, 5]);
    // After a restart it remembers what it took.
    drop(shard);
    servers[0].restart();
    let mut shard = servers[0].connect("postgres");
    assert_eq!(
        shard.one::<Option<i64>>("SELECT segment_current('photos_1')"),
        Some(60)
    );
    assert_eq!(shard.one::<i64>("SELECT next_photo()"), 61);
}
