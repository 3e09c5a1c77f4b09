//! A script that makes columns bigint, which stops and is resumed, here and in a copy, or is run on a subscriber as well.

use super::super::shop::{
    BACK, PLAN, Stage, UNTIL_SWAP, assert_sound, gexec, gexec_in, has_stage, make_shop, shape,
};
use mint_cluster::{Server, Session, count, say};

/// psql stops after one step, then after two, and so on, and the step after is canceled in the middle. The plan is always
/// what is left.
#[test]
fn a_script_is_resumed_wherever_it_stops() {
    let server = Server::start("resumed scripts");
    let mut session = server.connect("postgres");
    make_shop(&mut session, count(200_000, 20_000));
    let before = shape(&mut session);
    for (plan, end, stage) in [
        (PLAN, UNTIL_SWAP, Stage::Swapped),
        (BACK, "true", Stage::Back),
        (BACK, "true", Stage::Dropped),
        (PLAN, "true", Stage::Done),
    ] {
        let (mut stops, mut canceled) = (0, 0);
        let next = format!("FROM {plan} WHERE command IS NOT NULL AND {end} ORDER BY step");
        while !has_stage(&mut session, stage) {
            let commands: Vec<String> = session.column(&format!("SELECT command {next}"));
            let script = format!(
                "\\set ON_ERROR_STOP 1\nSET client_min_messages = warning;\nSELECT command {next} LIMIT {stops} \\gexec\n"
            );
            let said =
                String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned();
            assert!(!said.contains("ERROR"), "{said}");
            if let Some(command) = commands.get(stops) {
                // A session of its own, as the timeout counts for the statement that would reset it.
                let mut other = server.connect("postgres");
                other.run(&format!(
                    "SET statement_timeout = {}",
                    [1, 4, 15, 60][stops % 4]
                ));
                canceled += usize::from(other.try_run(command).is_err());
            }
            assert_shadows(&mut session);
            stops += 1;
            assert!(stops < 200, "the plan does not end");
        }
        say(format!(
            "{stage:?}: {stops} stops, {canceled} statements canceled"
        ));
        if stage == Stage::Dropped {
            assert_eq!(shape(&mut session), before);
            assert!(!has_stage(&mut session, Stage::Begun));
        }
    }
    session.run("INSERT INTO customer (name) VALUES ('big')");
    assert_sound(&mut session);
}

/// A database that was dumped in the middle of a script, where objects have other oids than their successors are named by.
#[test]
fn a_script_ends_in_a_restored_copy() {
    let server = Server::start("restored scripts");
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE copy");
    make_shop(&mut session, 1_000);
    let mut copy = server.connect("copy");
    // The oids of the copy run ahead.
    copy.run("CREATE TABLE ahead (id int PRIMARY KEY, n int UNIQUE); DROP TABLE ahead");
    gexec(&server, PLAN, "phase NOT IN ('swap', 'cleanup', 'default')");
    let dump = server.dump("postgres", "postgres");
    gexec(&server, PLAN, "true");
    let done = shape(&mut session);
    server.restore("postgres", "copy", &dump);
    gexec_in(&server, "copy", PLAN, UNTIL_SWAP);
    assert_sound(&mut copy);
    // The way back and there again, from shadows that another database has begun.
    gexec_in(&server, "copy", BACK, "true");
    gexec_in(&server, "copy", BACK, "true");
    gexec_in(&server, "copy", PLAN, "true");
    assert_eq!(shape(&mut copy), done);
    copy.run("INSERT INTO customer (name) VALUES ('big')");
    assert_sound(&mut copy);
}

/// Rows with a shadow have the right one.
#[track_caller]
fn assert_shadows(session: &mut Session) {
    let columns: Vec<String> = session.column(
        "SELECT format('%s WHERE %I <> %I', attrelid::regclass, attname, substr(attname, 10)) FROM pg_attribute
         WHERE attname LIKE 'mint\\____\\_%' AND NOT attisdropped AND attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r')",
    );
    for column in columns {
        let wrong: i64 = session.one(&format!("SELECT count(*) FROM {column}"));
        assert_eq!(wrong, 0, "{column}");
    }
}

/// Shadows are replicated, as all columns are: a subscriber that runs what the plan prints for it follows through the whole
/// script, the cleanup included.
#[test]
fn a_subscriber_follows_the_script() {
    let publisher = Server::build("publisher of a script")
        .conf("wal_level = logical")
        .start();
    let subscriber = Server::build("subscriber of a script").start_beside(&publisher);
    let tables = "CREATE TABLE customer (id serial PRIMARY KEY, name text);
        CREATE TABLE orders (id serial PRIMARY KEY, customer int REFERENCES customer)";
    let mut here = publisher.connect("postgres");
    let mut there = subscriber.connect("postgres");
    there.run(tables);
    here.run(&format!(
        "{tables}; INSERT INTO customer (name) SELECT 'c' FROM generate_series(1, 1000);
         INSERT INTO orders (customer) SELECT id FROM customer;
         CREATE PUBLICATION \"all of it\" FOR ALL TABLES"
    ));
    there.run(&format!(
        "CREATE SUBSCRIPTION follows CONNECTION 'host={} port=5432 user=postgres dbname=postgres' PUBLICATION \"all of it\"",
        publisher.socket().display()
    ));
    let notes: Vec<String> =
        here.column(&format!("SELECT note FROM {PLAN} WHERE note ~ 'all of it'"));
    let statements = |place: usize| {
        let (_, statements) = notes[place].split_once(": ALTER").expect("statements");
        format!("ALTER{statements}")
    };
    let mut follows = |here: &mut Session, what: &str| {
        let rows = "SELECT coalesce(md5(string_agg(format('%s %s', c.id, o.id), ',' ORDER BY c.id, o.id)), '') FROM customer c LEFT JOIN orders o ON o.customer = c.id";
        let expected: String = here.one(rows);
        subscriber.until(what, || there.one::<String>(rows) == expected);
    };
    follows(&mut here, "the first copy has arrived");
    subscriber.connect("postgres").run(&statements(0));
    gexec(&publisher, PLAN, UNTIL_SWAP);
    here.run("INSERT INTO customer (name) VALUES ('late'); INSERT INTO orders (customer) SELECT max(id) FROM customer");
    follows(&mut here, "rows of after the swap have arrived");
    gexec(&publisher, PLAN, "true");
    here.run("INSERT INTO customer (name) VALUES ('big'); INSERT INTO orders (customer) SELECT max(id) FROM customer; UPDATE customer SET name = 'c!'");
    follows(&mut here, "rows of after the cleanup have arrived");
    subscriber.connect("postgres").run(&statements(1));
    here.run("DELETE FROM orders WHERE customer = 1; DELETE FROM customer WHERE id = 1; INSERT INTO customer (name) VALUES ('last')");
    follows(&mut here, "rows of after the end have arrived");
    let log = subscriber.log();
    assert!(!log.contains("missing replicated column"), "{log}");
    subscriber
        .connect("postgres")
        .run("ALTER SUBSCRIPTION follows DISABLE; ALTER SUBSCRIPTION follows SET (slot_name = NONE); DROP SUBSCRIPTION follows");
}
