//! The register of tables whose partitions are maintained: for other owners, in a dump, and by a job.

use super::partition_maintenance::PARENT;
use super::partitions::partitions;
use mint_cluster::server::installation;
use mint_cluster::{Server, say};
use std::thread;
use std::time::{Duration, Instant};

/// Who can register a table, whose tables are maintained, and what a role without rights can do to the check.
#[test]
fn the_register_gives_no_role_more_rights() {
    let server = Server::start("a register and its owners");
    let mut root = server.connect("postgres");
    root.run(
        "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE mallory LOGIN;
         CREATE SCHEMA shop; GRANT USAGE, CREATE ON SCHEMA shop TO alice, bob, mallory",
    );
    let mut alice = server.connect_as("alice", "postgres");
    let mut mallory = server.connect_as("mallory", "postgres");
    alice.run(&format!("CREATE TABLE shop.hers {PARENT}"));
    for call in [
        "SELECT mint.partition_register('shop.hers', '1 month')",
        "CALL mint.partition_maintain('shop.hers', '1 month')",
        "INSERT INTO mint.partitioned VALUES ('shop', 'hers', 'mallory', '1 month', 1, '1 s', NULL, 'UTC', false)",
        "UPDATE mint.partitioned SET keep = '1 s'",
    ] {
        let refusal = mallory.refusal(call);
        assert_eq!(refusal.code, "42501", "{call}: {refusal}");
    }
    // The owner of a database restores dumps, and so writes rows: none that names an owner whose privileges it lacks.
    root.run("ALTER DATABASE postgres OWNER TO mallory");
    let refusal = mallory.refusal("INSERT INTO mint.partitioned VALUES ('shop', 'hers', 'alice', '1 month', 1, '1 s', NULL, 'UTC', false)");
    assert_eq!(refusal.code, "23514", "{refusal}");
    root.run("ALTER DATABASE postgres OWNER TO postgres");
    alice.run("SELECT mint.partition_register('shop.hers', '1 month', 3)");
    let refusal = mallory.refusal("SELECT mint.partition_unregister('shop.hers')");
    assert_eq!(refusal.code, "42501", "{refusal}");
    // Mallory has nothing to maintain, and the tables of Alice stay as they are.
    mallory.run("CALL mint.partition_maintain_all()");
    assert_eq!(partitions(&mut root, "shop.hers").len(), 0);
    // A trap in a table of Mallory: it runs as Mallory, whoever maintains it.
    mallory.run(&format!(
        "CREATE FUNCTION shop.trap(text) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
             IF current_user <> 'mallory' THEN RAISE EXCEPTION 'sprung as %', current_user; END IF; RETURN true; END $$;
         CREATE TABLE shop.trapped {PARENT};
         ALTER TABLE shop.trapped ADD CHECK (shop.trap(body));
         CREATE INDEX ON shop.trapped ((shop.trap(body)));
         CREATE TABLE shop.trapped_default PARTITION OF shop.trapped DEFAULT;
         INSERT INTO shop.trapped (body) SELECT 'x' FROM generate_series(1, 100);
         SELECT mint.partition_register('shop.trapped', '1 month', 3, move_rows => true)"
    ));
    // Tables that cannot be maintained keep no other from it.
    mallory.run(&format!("CREATE TABLE shop.broken {PARENT}"));
    mallory.run("SELECT mint.partition_register('shop.broken', '1 month', 3); ALTER TABLE shop.broken ALTER id DROP DEFAULT");
    let refusal = root.refusal("CALL mint.partition_maintain_all()");
    assert_eq!(
        refusal.message,
        "could not maintain partitions of 1 of 3 tables"
    );
    assert_eq!(partitions(&mut root, "shop.hers").len(), 4);
    assert_eq!(partitions(&mut root, "shop.trapped").len(), 5);
    let owners: Vec<String> = root.column("SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname LIKE 'trapped\\_2%' AND relkind = 'r'");
    assert_eq!(owners, ["mallory"]);
    let health =
        "SELECT status || ' ' || detail FROM mint.health() WHERE check_name = 'partitions'";
    let text: String = root.one(health);
    assert!(
        text.starts_with("warning Table shop.broken of role \"mallory\": Layout of column"),
        "{text}"
    );
    mallory.run("SELECT mint.partition_unregister('shop.broken')");
    // A table that changed hands is skipped, for its new owner as well, until that registers it.
    root.run("ALTER TABLE shop.hers OWNER TO bob");
    root.run("CALL mint.partition_maintain_all()");
    let text: String = root.one(health);
    assert!(
        text.contains("Role \"alice\" registered the table, and its owner is role \"bob\" now."),
        "{text}"
    );
    let refusal = alice.refusal("SELECT mint.partition_unregister('shop.hers')");
    assert_eq!(refusal.code, "42501", "{refusal}");
    let mut bob = server.connect_as("bob", "postgres");
    bob.run("SELECT mint.partition_register('shop.hers', '1 month', 5); CALL mint.partition_maintain_all()");
    // A name that is taken by another role.
    bob.run("DROP TABLE shop.hers");
    mallory.run(&format!("CREATE TABLE shop.hers {PARENT}"));
    root.run("CALL mint.partition_maintain_all()");
    assert_eq!(partitions(&mut root, "shop.hers").len(), 0);
    mallory.run("DROP TABLE shop.hers");
    let refusal = mallory.refusal("SELECT mint.partition_unregister('shop.hers')");
    assert_eq!(refusal.code, "42501", "{refusal}");
    bob.run("SELECT mint.partition_unregister('shop.hers')");
    let text: String = root.one(health);
    assert!(text.starts_with("ok"), "{text}");
    // One role has a limited number of tables there.
    mallory.run(&format!(
        "DO $$ BEGIN FOR n IN 1..1000 LOOP EXECUTE 'CREATE TABLE shop.t' || n || ' {}'; END LOOP; END $$",
        PARENT.replace('\'', "''")
    ));
    let refusal = mallory.refusal("SELECT mint.partition_register(('shop.t' || n)::regclass, '1 month') FROM generate_series(1, 1000) n");
    assert_eq!(refusal.code, "54000", "{refusal}");
}

/// The owner changes while a run waits for a lock: it is refused, and acts for nobody.
#[test]
fn a_table_that_changes_hands_meanwhile_is_left_alone() {
    let server = Server::start("a table that changes hands");
    let mut root = server.connect("postgres");
    root.run("CREATE ROLE alice; CREATE ROLE bob");
    root.run(&format!(
        "CREATE TABLE message {PARENT}; ALTER TABLE message OWNER TO alice"
    ));
    let mut other = server.connect("postgres");
    other.run("BEGIN; ALTER TABLE message OWNER TO bob");
    let refusal = thread::scope(|scope| {
        let run = scope.spawn(|| {
            server
                .connect("postgres")
                .refusal("CALL mint.partition_maintain('message', '1 month')")
        });
        thread::sleep(Duration::from_millis(800));
        other.run("COMMIT");
        run.join().expect("a refusal")
    });
    assert_eq!(refusal.message, "owner of table message has changed");
    assert_eq!(partitions(&mut root, "message").len(), 0);
}

/// A dump by a superuser and by the owner of the database has the register, and the restored one works.
#[test]
fn a_dump_has_the_register() {
    let server = Server::start("a register in a dump");
    let mut root = server.connect("postgres");
    root.run("CREATE ROLE keeper LOGIN");
    root.run("CREATE DATABASE one OWNER keeper");
    let mut keeper = server.connect_as("keeper", "one");
    keeper.run("CREATE EXTENSION pg_mint; CREATE SCHEMA shop");
    keeper.run(&format!("CREATE TABLE shop.\"My Table\" {PARENT}"));
    keeper.run("SELECT mint.partition_register('shop.\"My Table\"', '1 month', 3, keep => '1 year', zone => 'Europe/Berlin')");
    for (user, database) in [("postgres", "two"), ("keeper", "three")] {
        root.run(&format!("CREATE DATABASE {database} OWNER keeper"));
        let dump = server.dump(user, "one");
        server.restore(user, database, &dump);
        let mut session = server.connect_as("keeper", database);
        session.run("CALL mint.partition_maintain_all()");
        let row: String = session.one("SELECT concat_ws(' ', parent, owner, every, ahead, keep, zone, made, problem) FROM mint.partitions");
        assert_eq!(
            row,
            "shop.\"My Table\" keeper 1 mon 3 1 year Europe/Berlin 3"
        );
    }
}

/// A job of pg_cron calls the procedure, which commits between its steps there.
#[test]
fn pg_cron_calls_it() {
    if !installation::has_extension("pg_cron") {
        say("SKIPPED: this server tree has no pg_cron (package postgresql-15-cron)");
        return;
    }
    let server = Server::build("maintenance by pg_cron")
        .conf("shared_preload_libraries = 'pg_mint, pg_cron'")
        .conf("cron.use_background_workers = on")
        .conf("max_worker_processes = 20")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_cron");
    session.run(&format!("CREATE TABLE message {PARENT}"));
    session.run("SELECT mint.partition_register('message', '1 month', 3); SELECT cron.schedule('partitions', '* * * * *', 'CALL mint.partition_maintain_all()')");
    let begun = Instant::now();
    while partitions(&mut session, "message").len() < 4 {
        assert!(
            begun.elapsed() < Duration::from_secs(90),
            "{}",
            server.log()
        );
        thread::sleep(Duration::from_millis(500));
    }
    let status: String =
        session.one("SELECT status FROM cron.job_run_details ORDER BY runid LIMIT 1");
    assert!(
        ["succeeded", "running"].contains(&status.as_str()),
        "{status}"
    );
}
