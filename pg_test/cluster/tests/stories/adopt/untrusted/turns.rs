//! Maintenance of all registered tables, where an owner of one of them does not want it to reach the others.

use super::domains::{bob, start};
use mint_cluster::Session;

const DROP: &str = "DO $$ DECLARE part text; BEGIN FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'public.ev'::regclass LOOP EXECUTE 'DROP TABLE ' || part; END LOOP; END $$";
const COUNT: &str = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'public.ev'::regclass";
const REGISTER: &str = "CREATE TABLE public.ev (id bigint DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); SELECT mint.partition_register('public.ev', '1 month', 3)";

/// Registers a table of bob, which comes before that of others, with a check that runs `body`.
fn set_trap(bob: &mut Session, volatility: &str, body: &str, ahead: i32) {
    bob.run(&format!(
        "DROP TABLE IF EXISTS e.ev; CREATE OR REPLACE FUNCTION e.boom(bigint) RETURNS bool LANGUAGE plpgsql {volatility} AS $$ BEGIN {body}; RETURN true; END $$;
         CREATE TABLE e.ev (id bigint DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id);
         CREATE TABLE e.ev_rest PARTITION OF e.ev DEFAULT; INSERT INTO e.ev DEFAULT VALUES;
         ALTER TABLE e.ev ADD CHECK (e.boom(id)) NOT VALID; SELECT mint.partition_register('e.ev', '1 month', {ahead}, move_rows => true)"
    ));
}

/// A function of an owner can raise the errors that the server raises for a statement that is canceled and a lock that is not free,
/// with texts of any length, and set what ends a session.
#[test]
fn no_owner_ends_the_maintenance_of_others() {
    let server = start("ended by an owner");
    let mut root = server.connect("postgres");
    root.run(REGISTER);
    let mut bob = bob(&server);
    let raise = |with: &str| format!("RAISE EXCEPTION USING {with}");
    for body in [
        raise("MESSAGE = 'boom', ERRCODE = '57014'"),
        raise("MESSAGE = 'boom', ERRCODE = '57P01'"),
        raise("MESSAGE = 'boom', ERRCODE = '55P03'"),
        raise("MESSAGE = repeat('x', 601), ERRCODE = '57014'"),
        raise("MESSAGE = 'boom', DETAIL = repeat('x', 2000000), ERRCODE = '57P01'"),
        "IF current_setting('server_version_num')::int4 < 170000 THEN RAISE EXCEPTION 'boom'; END IF; PERFORM set_config('transaction_timeout', '1', false); PERFORM pg_sleep(1)".to_owned(),
    ] {
        set_trap(&mut bob, "IMMUTABLE", &body, 3);
        root.run(DROP);
        let refusal = root.refusal("CALL mint.partition_maintain_all(retries => 2)");
        assert_eq!(refusal.code, "55000", "{body}: {refusal}");
        let made: i64 = root.one(COUNT);
        assert_eq!(made, 4, "{body}");
    }
    if root.one::<bool>("SELECT current_setting('server_version_num')::int4 < 170000") {
        return;
    }
    // It can be set as before, and is not what it is by default.
    root.run("ALTER ROLE postgres SET transaction_timeout = '1s'");
    let mut root = server.connect("postgres");
    root.run("SET transaction_timeout = 0");
    set_trap(&mut bob, "VOLATILE", "RESET ALL; PERFORM pg_sleep(1.5)", 3);
    root.run(DROP);
    root.run("CALL mint.partition_maintain_all()");
    assert_eq!(root.one::<i64>(COUNT), 4);
}

/// What a commit runs is of the owner as well: a table of another server can refuse it.
#[test]
fn a_commit_that_fails_ends_no_maintenance_of_others() {
    let server = start("commit that fails");
    server.create_database("other");
    server.connect("other").run(
        "CREATE TABLE r (n int); GRANT INSERT ON r TO bob; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no commit'; END $$;
         CREATE CONSTRAINT TRIGGER late AFTER INSERT ON r DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let mut root = server.connect("postgres");
    root.run(REGISTER);
    root.run(&format!(
        "CREATE EXTENSION postgres_fdw; CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{}', dbname 'other');
         CREATE USER MAPPING FOR bob SERVER there OPTIONS (user 'bob', password_required 'false'); GRANT USAGE ON FOREIGN SERVER there TO bob",
        server.socket().display()
    ));
    let mut bob = bob(&server);
    bob.run("CREATE FOREIGN TABLE e.r (n int) SERVER there OPTIONS (schema_name 'public')");
    set_trap(&mut bob, "VOLATILE", "INSERT INTO e.r VALUES (1)", 3);
    let refusal = root.refusal("CALL mint.partition_maintain_all()");
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert_eq!(root.one::<i64>(COUNT), 4);
    // What was rolled back is not said to be done.
    let all = "SET client_min_messages = notice; CALL mint.partition_maintain_all();\n";
    let said = server.psql("postgres", all.as_bytes());
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("DETAIL:  No commit."), "{said}");
    assert!(!said.contains("moved"), "{said}");
}

/// Names and messages can have letters that the client's encoding does not have.
#[test]
fn names_that_the_client_cannot_read_end_no_maintenance() {
    let server = start("names beyond the client");
    let mut root = server.connect("postgres");
    root.run(REGISTER);
    let mut bob = bob(&server);
    bob.run("CREATE TABLE e.\"gone☃\" (id bigint DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); SELECT mint.partition_register('e.\"gone☃\"', '1 month', 3)");
    bob.run("DROP TABLE e.\"gone☃\"; CREATE TABLE e.\"da☃\" (id bigint DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); SELECT mint.partition_register('e.\"da☃\"', '1 month', 3)");
    set_trap(&mut bob, "IMMUTABLE", "RAISE EXCEPTION 'boom ☃'", 3);
    let all = "SET client_encoding = 'LATIN1'; CALL mint.partition_maintain_all();\n";
    let said = server.psql("postgres", all.as_bytes());
    let said = String::from_utf8_lossy(&said);
    for part in [
        "registered table e.\"gone\\u{2603}\" is skipped",
        "DETAIL:  Boom \\u{2603}.",
        "created partition e.\"da\\u{2603}_",
        "of 1 of 3 tables",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(root.one::<i64>(COUNT), 4);
}

/// A table that is locked for a while is tried again between the steps of others, which can take long.
#[test]
fn a_table_that_was_locked_does_not_come_last() {
    let server = start("locked for a while");
    let mut root = server.connect("postgres");
    root.run(REGISTER);
    let mut bob = bob(&server);
    set_trap(&mut bob, "IMMUTABLE", "PERFORM pg_sleep(0.3)", 15);
    let mut locker = server.connect("postgres");
    locker.run("BEGIN; LOCK TABLE public.ev");
    std::thread::scope(|scope| {
        scope.spawn(|| root.run("CALL mint.partition_maintain_all()"));
        std::thread::sleep(std::time::Duration::from_secs(1));
        locker.run("COMMIT");
    });
    let order: String = bob.one(
        "SELECT string_agg(inhparent::regclass::text, ' ' ORDER BY inhrelid) FROM pg_inherits WHERE inhparent IN ('public.ev'::regclass, 'e.ev'::regclass) AND inhrelid <> 'e.ev_rest'::regclass",
    );
    let of_others = order.split(' ').filter(|table| *table == "ev").count();
    assert!(of_others == 4 && order.ends_with("e.ev"), "{order}");
}
