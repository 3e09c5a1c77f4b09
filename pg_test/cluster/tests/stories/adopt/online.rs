//! Columns of type integer that become bigint while clients use them, by the script that the plan prints.

use super::load::during;
use super::shop::{
    BACK, PLAN, Stage, UNTIL_SWAP, assert_sound, gexec, has_stage, make_shop, shape,
};
use mint_cluster::{Server, count, say};
use std::time::Duration;

/// What a statement of a client can take, on a machine that does much else: without bounds on its waits it would be minutes.
const LONGEST: Duration = Duration::from_secs(5);
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

/// Functions of triggers that a session has compiled with an integer are compiled again after the swap, and after the way back.
#[test]
fn open_sessions_write_after_the_swap() {
    let server = Server::start("open sessions");
    let mut session = server.connect("postgres");
    make_shop(&mut session, 500);
    session.run(
        "CREATE ROLE other; GRANT CREATE ON SCHEMA public TO other; CREATE TABLE log (id bigint);
         CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql COST 7 AS $$ BEGIN IF NEW.id + 1 > 0 THEN INSERT INTO log VALUES (NEW.id); END IF; RETURN NEW; END $$;
         CREATE TRIGGER logged BEFORE INSERT OR UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION logged();
         CREATE TRIGGER logged AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION logged();
         CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; ALTER FUNCTION theirs() OWNER TO other;
         CREATE TRIGGER theirs BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION theirs()",
    );
    let note: String = session.one(&format!(
        "SELECT note FROM {PLAN} WHERE note LIKE '%theirs()%'"
    ));
    assert!(
        note.contains("not compiled again") && !note.contains("logged"),
        "{note}"
    );
    let mut open = server.connect("postgres");
    let mut write = || {
        open.run("INSERT INTO customer (name) VALUES ('open')");
        open.run("UPDATE customer SET name = name WHERE id = 7");
        open.run("INSERT INTO orders (customer, n) VALUES (7, (SELECT max(n) + 1 FROM orders))");
        open.run("UPDATE orders SET n = n + 100000 WHERE customer = 7");
    };
    write();
    gexec(&server, PLAN, UNTIL_SWAP);
    write();
    gexec(&server, BACK, "true");
    write();
    let cost: f32 = session.one("SELECT procost FROM pg_proc WHERE proname = 'logged'");
    assert!((cost - 7.0).abs() < 0.1, "{cost}");
}
