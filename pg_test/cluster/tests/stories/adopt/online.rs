//! Columns of type integer that become bigint while they are in use, by the script that the plan prints.

use super::load::during;
use mint_cluster::{Server, Session, count, say};
use std::time::Duration;

/// What a statement of a client can take, on a machine that does much else: without bounds on its waits it would be minutes.
const LONGEST: Duration = Duration::from_secs(5);
pub(super) const PLAN: &str = "mint.convert_plan('customer', 'id', 'snowflake_next_id(5)')";
pub(super) const BACK: &str = "mint.convert_plan('customer', 'id', NULL)";

pub(super) fn make_shop(session: &mut Session, rows: i32) {
    session.run(&format!(
        "CREATE TABLE customer (id serial PRIMARY KEY, parent int REFERENCES customer, name text);
         CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             customer int NOT NULL REFERENCES customer ON DELETE CASCADE ON UPDATE CASCADE, n int, UNIQUE (customer, n));
         CREATE INDEX orders_n ON orders (n DESC, customer) WITH (fillfactor = 80);
         CREATE INDEX customer_parent ON customer (parent);
         CREATE TABLE item (orders int PRIMARY KEY REFERENCES orders DEFERRABLE, customer int, n int,
             FOREIGN KEY (customer, n) REFERENCES orders (customer, n) ON DELETE SET NULL);
         COMMENT ON COLUMN customer.id IS 'the number of a customer';
         INSERT INTO customer (parent, name) SELECT nullif(g / 2, 0), 'c' || g FROM generate_series(1, {rows}) g;
         INSERT INTO orders (customer, n) SELECT g, 1 FROM generate_series(1, {rows}) g;
         INSERT INTO item SELECT id, customer, n FROM orders WHERE id % 5 = 0;
         ANALYZE customer, orders, item"
    ));
}

/// Runs the commands of a plan as a user does: in psql, by \gexec.
#[track_caller]
pub(super) fn gexec(server: &Server, plan: &str, condition: &str) -> String {
    gexec_in(server, "postgres", plan, condition)
}

#[track_caller]
pub(super) fn gexec_in(server: &Server, database: &str, plan: &str, condition: &str) -> String {
    let script = format!(
        "\\set ON_ERROR_STOP 1\nSET client_min_messages = warning;\nSELECT command FROM {plan} WHERE command IS NOT NULL AND {condition} ORDER BY step \\gexec\n"
    );
    let said = String::from_utf8_lossy(&server.psql(database, script.as_bytes())).into_owned();
    assert!(!said.contains("ERROR"), "{said}");
    said
}

pub(super) const UNTIL_SWAP: &str = "phase NOT IN ('cleanup', 'default')";

/// What is to be said of the columns by their names, whatever their place in the table is.
fn shape(session: &mut Session) -> String {
    session.one(
        "SELECT string_agg(x, E'\\n' ORDER BY x COLLATE \"C\") FROM (
             SELECT format('%s.%s %s %s %s %s', attrelid::regclass, attname, atttypid::regtype, attnotnull, attidentity,
                 (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS x
             FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped AND attname NOT LIKE 'mint_%'
             UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
             WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
             UNION ALL SELECT format('%s %s', pg_get_serial_sequence('customer', 'id'), pg_get_serial_sequence('orders', 'id'))
             UNION ALL SELECT format('%s', tgname) FROM pg_trigger WHERE NOT tgisinternal
             UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'mint%'
             UNION ALL SELECT col_description('customer'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'customer'::regclass
         ) AS all_of_it (x)",
    )
}

/// Nobody waits for long while the script runs, and all ids and references are what they were.
#[test]
fn integers_become_bigint_under_load() {
    let server = Server::start("integers under load");
    let mut session = server.connect("postgres");
    make_shop(&mut session, count(500_000, 60_000));
    let before = shape(&mut session);
    let clients: [&[&str]; 5] = [
        &[
            "INSERT INTO customer (parent, name) VALUES (1, 'new')",
            "INSERT INTO orders (customer, n) SELECT max(id), 2 FROM customer",
        ],
        &[
            "UPDATE customer SET name = name || '!' WHERE id IN (SELECT (random() * 50000)::int FROM generate_series(1, 5))",
        ],
        &[
            "SELECT count(*) FROM customer c JOIN orders o ON o.customer = c.id WHERE c.id BETWEEN 1000 AND 1100",
            "SELECT max(id) FROM orders",
        ],
        &[
            "BEGIN",
            "INSERT INTO customer (name) VALUES ('short')",
            "DELETE FROM customer WHERE id = currval('customer_id_seq')",
            "COMMIT",
        ],
        &[
            "UPDATE orders SET n = n + 1000 WHERE customer = (SELECT (random() * 50000)::int + 1) AND n < 1000 AND id % 5 <> 0",
        ],
    ];
    let ((), seen) = during(&server, &clients, || {
        gexec(&server, PLAN, UNTIL_SWAP);
    });
    say(format!(
        "there: {} statements, the longest {:?}: {}",
        seen.statements, seen.longest, seen.which
    ));
    seen.assert_undisturbed(LONGEST, &["0A000"]);
    assert_sound(&mut session);
    let wide: String = shape(&mut session);
    assert!(wide.contains("customer.id bigint t"), "{wide}");
    assert!(wide.contains("item.customer bigint"), "{wide}");

    // The way back, after the swap and under the same load.
    let ((), seen) = during(&server, &clients, || {
        gexec(&server, BACK, "true");
    });
    say(format!(
        "back: {} statements, the longest {:?}: {}",
        seen.statements, seen.longest, seen.which
    ));
    seen.assert_undisturbed(LONGEST, &["0A000"]);
    gexec(&server, BACK, "true");
    assert_eq!(shape(&mut session), before);
    assert_sound(&mut session);

    // And to the end.
    let ((), seen) = during(&server, &clients, || {
        gexec(&server, PLAN, "true");
    });
    seen.assert_undisturbed(LONGEST, &["0A000", "2200H", "55000"]);
    let after: String = shape(&mut session);
    assert!(
        !after.contains("mint_copy") && after.contains("snowflake_next_id(5)"),
        "{after}"
    );
    session.run("INSERT INTO customer (name) VALUES ('big'); INSERT INTO orders (customer, n) SELECT max(id), 1 FROM customer");
    let large: bool = session.one("SELECT max(customer) > 1000000000000 FROM orders");
    assert!(large);
    assert_sound(&mut session);
    session.run("SELECT mint.convert_revert('customer', 'id')");
}

/// While a transaction keeps a lock for long, the swap tries again and again, and others wait for one attempt at most.
#[test]
fn a_long_transaction_holds_up_the_script_alone() {
    let server = Server::start("long transaction");
    let mut session = server.connect("postgres");
    make_shop(&mut session, 1_000);
    gexec(&server, PLAN, "phase NOT IN ('swap', 'cleanup', 'default')");
    let mut long = server.connect("postgres");
    long.run("BEGIN; SELECT FROM item LIMIT 1");
    let clients: [&[&str]; 2] = [
        &["UPDATE customer SET name = name WHERE id = 7"],
        &["SELECT count(*) FROM orders"],
    ];
    let ((), seen) = during(&server, &clients, || {
        std::thread::scope(|scope| {
            let swap = scope.spawn(|| gexec(&server, PLAN, UNTIL_SWAP));
            std::thread::sleep(2 * LONGEST);
            assert!(!swap.is_finished());
            long.run("COMMIT");
        });
    });
    say(format!("the longest {:?}: {}", seen.longest, seen.which));
    seen.assert_undisturbed(LONGEST, &["0A000"]);
    assert!(has_stage(&mut session, Stage::Swapped));
}

/// Autovacuum, which a backfill is sure to start, holds up neither the script nor a conversion, though it gives way to nobody
/// before `deadlock_timeout`, and nobody waits for it with them.
#[test]
fn autovacuum_gives_way() {
    let server = Server::build("autovacuum gives way")
        .conf("autovacuum_naptime = 1s")
        .start();
    let mut session = server.connect("postgres");
    make_shop(&mut session, 5_000);
    for (table, column) in [("customer", "name"), ("orders", "n"), ("item", "n")] {
        session.run(&format!(
            "ALTER TABLE {table} SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
                 autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1);
             UPDATE {table} SET {column} = {column}"
        ));
    }
    let mut watcher = server.connect("postgres");
    let mut vacuumed = |table: &str| {
        server.until("autovacuum is at work", || {
            watcher.one(&format!(
                "SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE relid = '{table}'::regclass"
            ))
        });
    };
    let clients: [&[&str]; 2] = [
        &["UPDATE customer SET name = name WHERE id = 7"],
        &["DELETE FROM customer WHERE id = 0"],
    ];
    let ((), seen) = during(&server, &clients, || {
        vacuumed("customer");
        gexec(&server, PLAN, UNTIL_SWAP);
        vacuumed("orders");
        gexec(&server, PLAN, "phase = 'cleanup'");
        vacuumed("customer");
        session.run("SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)', '100 ms', 3)");
    });
    say(format!("the longest {:?}: {}", seen.longest, seen.which));
    seen.assert_undisturbed(LONGEST, &["0A000"]);
}

/// The references hold, by the rows and not by what the constraints promise.
#[track_caller]
fn assert_sound(session: &mut Session) {
    let lost: i64 = session.one(
        "SELECT (SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM customer c WHERE c.id = o.customer))
              + (SELECT count(*) FROM customer o WHERE parent IS NOT NULL AND NOT EXISTS (SELECT FROM customer c WHERE c.id = o.parent))
              + (SELECT count(*) FROM item i WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = i.orders))
              + (SELECT count(*) FROM item i WHERE customer IS NOT NULL AND n IS NOT NULL AND NOT EXISTS (SELECT FROM orders o WHERE (o.customer, o.n) = (i.customer, i.n)))",
    );
    assert_eq!(lost, 0);
    let invalid: i64 = session.one("SELECT (SELECT count(*) FROM pg_index WHERE NOT indisvalid) + (SELECT count(*) FROM pg_constraint WHERE NOT convalidated)");
    assert_eq!(invalid, 0);
}

/// How far a script has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begun,
    Swapped,
    Back,
    Dropped,
    Done,
}

fn has_stage(session: &mut Session, stage: Stage) -> bool {
    let count = |session: &mut Session, pattern: &str| -> i64 {
        session.one(&format!("SELECT count(*) FROM pg_attribute WHERE attname LIKE '{pattern}' AND NOT attisdropped AND attnum > 0
            AND attrelid IN ('customer'::regclass, 'orders'::regclass, 'item'::regclass)"))
    };
    let (new, old) = (count(session, "mint\\_new%"), count(session, "mint\\_old%"));
    match stage {
        Stage::Begun => new + old > 0,
        Stage::Swapped => old > 0,
        Stage::Back => old == 0,
        Stage::Dropped => new + old == 0,
        Stage::Done => new + old == 0 && session.one("SELECT count(*) = 1 FROM mint.conversions"),
    }
}

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
    let subscriber = Server::start("subscriber of a script");
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

/// A view that is read all the time is made again in the swap, and a session that has prepared a statement prepares it again.
#[test]
fn views_are_in_use_during_the_swap() {
    let server = Server::start("views in use");
    let mut session = server.connect("postgres");
    make_shop(&mut session, 5_000);
    session.run(
        "CREATE VIEW of_customers AS SELECT c.id, count(o.id) AS orders FROM customer c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id;
         CREATE VIEW best AS SELECT * FROM of_customers JOIN customer USING (id) WHERE orders > 0",
    );
    let clients: [&[&str]; 3] = [
        &["SELECT FROM best WHERE id = 7"],
        &[
            "SELECT FROM of_customers WHERE id < 20",
            "SELECT FROM best WHERE id = 9",
        ],
        &["UPDATE customer SET name = name WHERE id = 7"],
    ];
    let mut old = server.connect("postgres");
    old.run("PREPARE by_id AS SELECT id FROM best WHERE id = 7; EXECUTE by_id");
    let ((), seen) = during(&server, &clients, || {
        gexec(&server, PLAN, UNTIL_SWAP);
    });
    say(format!("the longest {:?}: {}", seen.longest, seen.which));
    // A statement that was waiting for the view finds that it is another one.
    seen.assert_undisturbed(LONGEST, &["0A000", "XX000", "42P01"]);
    for _ in 0..3 {
        assert_eq!(old.refusal("EXECUTE by_id").code, "0A000");
    }
    old.run("DEALLOCATE by_id; PREPARE by_id AS SELECT id FROM best WHERE id = 7; EXECUTE by_id");
    let types: String =
        session.one("SELECT string_agg(DISTINCT pg_typeof(id)::text, ' ') FROM best");
    assert_eq!(types, "bigint");
}
