//! Two servers that replicate a table to each other, whose keys are minted on each side: with nodes of a registry, at
//! random, and as tickets of one of two servers.

use mint_cluster::registry::members::{AUTO, first_id};
use mint_cluster::{Registry, Server, count, or_skip, say};
use std::time::{Duration, Instant};

const ROWS: usize = 50;

#[test]
fn keys_minted_on_both_sides_never_conflict() {
    let registry = or_skip!(Registry::start("logical replication"));
    if registry.server.major() < 16 {
        say("SKIPPED logical replication in both directions: it needs PostgreSQL 16");
        return;
    }
    let rows = count(1_000_000, 20_000);
    let sides = ["left", "right"].map(|name| {
        let builder = Server::build(name).conf(AUTO);
        registry.admit(
            builder
                .conf("wal_level = logical")
                .conf("max_wal_size = '4GB'"),
        )
    });
    subscribe_to_each_other(&sides);
    mint_on_both(&sides, rows);
    await_rows(&sides, 2 * rows as i64);
    assert_same_rows(&sides, 2 * rows);
    for side in &sides {
        let log = side.log();
        assert!(!log.contains("duplicate key"), "{log}");
        assert!(!log.contains("ERROR"), "{log}");
    }
}

fn subscribe_to_each_other(sides: &[Server; 2]) {
    for (number, side) in sides.iter().enumerate() {
        let server = number + 1;
        side.run(&format!(
            "SELECT ticket_create('photos', server => {server}, servers => 2);
             CREATE TABLE t (
                 id bigint PRIMARY KEY DEFAULT snowflake_next_id(), side text NOT NULL, n bigint NOT NULL,
                 u uuid NOT NULL UNIQUE DEFAULT uuid_v7(), o objectid NOT NULL UNIQUE DEFAULT objectid(),
                 ticket bigint NOT NULL UNIQUE DEFAULT ticket_next('photos')
             );
             CREATE PUBLICATION mine FOR TABLE t"
        ));
    }
    for (here, there) in [(0, 1), (1, 0)] {
        let other = sides[there].socket();
        sides[here].run(&format!(
            "CREATE SUBSCRIPTION theirs CONNECTION 'host={} port=5432 user=postgres dbname=postgres' PUBLICATION mine
             WITH (origin = none, copy_data = false)",
            other.display()
        ));
    }
}

fn mint_on_both(sides: &[Server; 2], rows: usize) {
    std::thread::scope(|scope| {
        for side in sides {
            scope.spawn(|| {
                let insert = format!(
                    "INSERT INTO t (side, n) SELECT '{}', n FROM generate_series(1, {ROWS}) n",
                    side.name()
                );
                side.pgbench("postgres", &format!("{insert};\n"), 2, rows / ROWS / 2);
            });
        }
    });
}

fn await_rows(sides: &[Server; 2], total: i64) {
    for side in sides {
        let mut session = side.connect("postgres");
        let deadline = Instant::now() + Duration::from_secs(300);
        while session.one::<i64>("SELECT count(*) FROM t") < total {
            assert!(Instant::now() < deadline, "{}", side.log());
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

/// Asserts that both sides have the same rows, minted with one node on each side.
fn assert_same_rows(sides: &[Server; 2], total: usize) {
    let contents = "SELECT format('%s %s', count(*), md5(string_agg(format('%s %s %s %s %s %s', id, side, n, u, o, ticket), ',' ORDER BY id)))
        FROM t";
    let [left, right] = [0, 1].map(|side| sides[side].one::<String>(contents));
    assert_eq!(left, right);
    assert!(left.starts_with(&format!("{total} ")), "{left}");
    let shards: i64 = sides[0].one("SELECT count(DISTINCT (side, snowflake_shard(id))) FROM t");
    assert_eq!(
        shards, 2,
        "each side mints as one node, and not as the other's"
    );
}

/// A server that replicates all of its tables to a member, and back: rows of the registry collide with nothing, and make no
/// registry of the other side.
#[test]
fn replicating_all_tables_leaves_the_registry_where_it_is() {
    let builder = Server::build("all tables")
        .conf("wal_level = logical")
        .conf(AUTO);
    let registry = or_skip!(Registry::start_with(builder));
    if registry.server.major() < 16 {
        say("SKIPPED logical replication in both directions: it needs PostgreSQL 16");
        return;
    }
    let mut central = registry.connect();
    central.run("CREATE EXTENSION dblink");
    registry.create_server(&mut central, "registry", "postgres");
    central.set_for_server("pg_mint.registry", "'registry'");
    let member = registry.admit(Server::build("ada").conf(AUTO).conf("wal_level = logical"));
    let mut session = member.connect("postgres");
    // On both sides, as an administrator can do who has read one page only.
    session.run("SELECT mint.registry_create()");
    let sides = [&registry.server, &member];
    for side in sides {
        side.run(
            "CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_next_id()); CREATE PUBLICATION mine FOR ALL TABLES",
        );
    }
    for [here, there] in [sides, [sides[1], sides[0]]] {
        here.run(&format!(
            "CREATE SUBSCRIPTION theirs CONNECTION 'host={} port=5432 user=postgres dbname=postgres' PUBLICATION mine
             WITH (origin = none, copy_data = false)",
            there.socket().display()
        ));
    }
    for side in sides {
        first_id(side, "INSERT INTO t DEFAULT VALUES RETURNING id");
    }
    // A renewal of each, and a grant.
    std::thread::sleep(Duration::from_secs(12));
    let late = registry.auto("late");
    first_id(&late, "SELECT snowflake_next_id()");
    for side in sides {
        let mut session = side.connect("postgres");
        side.until("both rows are there", || {
            session.one("SELECT count(*) = 2 FROM t")
        });
        let log = side.log();
        assert!(!log.contains("duplicate key"), "{log}");
        assert!(!log.contains("ERROR"), "{log}");
    }
    let places = "SELECT count(DISTINCT place) FROM mint.registry_leases";
    assert_eq!(central.one::<i64>(places), 1);
    assert_eq!(session.one::<i64>(places), 1);
    let own = "SELECT count(*) FROM mint.registry_leases WHERE place = mint.registry_place()";
    assert_eq!(central.one::<i64>(own), 3);
    assert_eq!(session.one::<i64>(own), 0);
}
