//! Errors of members and registries have their reason and their remedy, within a second or two.

use mint_cluster::registry::members::{AUTO, assert_refused, first_id, refused_for};
use mint_cluster::{Registry, Server, or_skip};
use std::thread;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
/// A node of a width that no session has needed before.
const ANOTHER: [&str; 2] = [
    "SELECT snowflake_next('twitter')",
    "SELECT snowflake_next('sonyflake')",
];

/// An administrator's change of the registry, the member's message and its hint, and the statement that undoes it.
const OBSTACLES: [(&str, &str, &str, &str); 7] = [
    (
        "ALTER ROLE member NOLOGIN",
        "role \"member\" is not permitted to log in",
        "accepts the connection",
        "ALTER ROLE member LOGIN",
    ),
    (
        "ALTER ROLE member CONNECTION LIMIT 0",
        "too many connections for role \"member\"",
        "max_connections",
        "ALTER ROLE member CONNECTION LIMIT -1",
    ),
    (
        "ALTER ROLE member SET default_transaction_read_only = on",
        "in a read-only transaction",
        "default_transaction_read_only",
        "ALTER ROLE member RESET default_transaction_read_only",
    ),
    (
        "ALTER ROLE member SET statement_timeout = 1",
        "canceling statement due to statement timeout",
        "Set \"statement_timeout\" to 0",
        "ALTER ROLE member RESET statement_timeout",
    ),
    (
        "ALTER ROLE member SET default_transaction_isolation = 'serializable'",
        "requires isolation level READ COMMITTED",
        "ALTER ROLE ... SET default_transaction_isolation",
        "ALTER ROLE member RESET default_transaction_isolation",
    ),
    (
        "REVOKE EXECUTE ON FUNCTION mint.registry_request(jsonb) FROM member",
        "permission denied for function registry_request",
        "Grant EXECUTE on function mint.registry_request(jsonb)",
        "GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member",
    ),
    (
        "UPDATE mint.registry SET rings = '5'",
        "table \"mint.registry\" was changed by hand",
        "SET run = NULL",
        "UPDATE mint.registry SET rings = '{}'",
    ),
];
const END_SESSIONS: &str =
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'member'";

#[test]
fn each_obstacle_at_the_registry_has_its_reason_and_remedy() {
    let builder = Server::build("obstacles").conf("max_connections = 8");
    let registry = or_skip!(Registry::start_with(builder));
    let ada = registry.auto("ada");
    let told = |words: &str, remedy: &str| {
        let begun = Instant::now();
        let refusal = refused_for(&ada, NEXT, words);
        assert_eq!(refusal.code, "55000", "{refusal}");
        refusal.assert_hint(remedy);
        let health: String = ada.one(
            "SELECT detail || hint FROM mint.health() WHERE check_name = 'registry' AND status = 'critical'",
        );
        assert!(
            health.contains(words) && health.contains(remedy),
            "{health}"
        );
        // A session retries what has failed a second ago.
        assert!(begun.elapsed() < Duration::from_secs(3), "{words}");
    };
    for (obstacle, words, remedy, undo) in OBSTACLES {
        registry.connect().run(obstacle);
        registry.connect().run(END_SESSIONS);
        told(words, remedy);
        registry.connect().run(undo);
    }
    registry.connect().run(END_SESSIONS);
    let place = registry.server.place_of("member");
    let all: Vec<_> = std::iter::from_fn(|| place.try_connect().ok()).collect();
    assert!(!all.is_empty());
    told("remaining connection slots are reserved", "max_connections");
    drop(all);
    let mut admin = registry.connect();
    for table in ["mint.registry", "mint.registry_leases"] {
        admin.run(&format!("BEGIN; LOCK TABLE {table}"));
        told(
            "registry is busy",
            "End other transactions, also prepared ones",
        );
        admin.run("ROLLBACK");
    }
    registry.end_wait();
    first_id(&ada, NEXT);
}

/// Renewals lock their own row only, so a client that sits on a grant's lock costs others no id. It cannot sit there for long.
#[test]
fn a_login_that_keeps_locks_holds_up_nobody() {
    let registry = or_skip!(Registry::start("kept locks"));
    let ada = registry.auto("ada");
    let mut ids = vec![first_id(&ada, NEXT).0];
    let request = mint_cluster::registry::members::request_sql(13, r#"{"grant": 5}"#);
    let mut eve = registry.server.connect_as("member", "postgres");
    eve.run("BEGIN");
    eve.refused(&format!("SELECT {request}"), "25001");
    eve.run("ROLLBACK");
    // The expressions of an index on it are evaluated after the deadline has ended.
    let temporary = format!(
        "DO $$ BEGIN CREATE TEMPORARY TABLE t (i int) ON COMMIT DELETE ROWS; PERFORM {request}; END $$"
    );
    assert_eq!(eve.refusal(&temporary).code, "0A000");
    let hold = format!(
        "DO $$ BEGIN PERFORM {request}; FOR pause IN 1..10 LOOP
             BEGIN PERFORM pg_sleep(2); EXCEPTION WHEN OTHERS OR query_canceled THEN END; END LOOP; END $$"
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..8 {
                let mut eve = registry.server.connect_as("member", "postgres");
                let begun = Instant::now();
                eve.try_run(&hold).expect_err("the end of the session");
                assert!(begun.elapsed() < Duration::from_secs(5), "it holds locks");
            }
        });
        let begun = Instant::now();
        let mut session = ada.connect("postgres");
        while begun.elapsed() < Duration::from_secs(22) {
            ids.push(session.one(NEXT));
            thread::sleep(Duration::from_millis(50));
        }
        assert!(
            session.one::<bool>("SELECT renewed > lease_from + interval '5 s' FROM mint.leases")
        );
        first_id(&registry.auto("ben"), NEXT);
    });
    mint_cluster::assert_ascending(&ids);
}

/// A hot standby grants nothing, and says so.
#[test]
fn a_registry_on_a_standby_is_no_registry() {
    let registry = or_skip!(Registry::start("a registry on a standby"));
    let ada = registry.auto("ada");
    let standby = registry.server.standby("a standby");
    registry.server.wait_for(&standby);
    let asked = format!(
        "SELECT {}",
        mint_cluster::registry::members::request_sql(13, r#"{"grant": 5}"#)
    );
    standby.refused(&asked, "25006");
    ada.run(&format!(
        "ALTER SERVER registry OPTIONS (SET host '{}')",
        standby.socket().display()
    ));
    let refusal = refused_for(&ada, NEXT, "cannot grant leases during recovery");
    refusal.assert_hint("primary server");
}

#[test]
fn errors_say_what_a_member_lacks() {
    let registry = or_skip!(Registry::start("missing"));
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let refused = |setup: &str, words: &str| {
        ada.run(setup);
        assert_refused(&refused_for(&ada, NEXT, words), words);
    };
    refused(
        "ALTER EXTENSION dblink SET SCHEMA pg_catalog; ALTER SERVER registry RENAME TO other",
        "server \"registry\" does not exist",
    );
    refused(
        "ALTER SERVER other RENAME TO registry; ALTER SERVER registry OPTIONS (SET port '1')",
        ".s.PGSQL.1",
    );
    refused(
        "ALTER SERVER registry OPTIONS (SET port '5432', SET dbname 'nowhere')",
        "\"nowhere\" does not exist",
    );
    refused(
        "ALTER SERVER registry OPTIONS (SET dbname 'template1')",
        "extension \"pg_mint\" is not installed in the database of foreign server \"registry\"",
    );
    refused(
        "ALTER SERVER registry OPTIONS (SET dbname 'postgres'); DROP USER MAPPING FOR postgres SERVER registry",
        "user mapping not found",
    );
    refused(
        "CREATE USER MAPPING FOR postgres SERVER registry OPTIONS (user 'nobody')",
        "\"nobody\" does not exist",
    );
    registry.connect().run("CREATE ROLE nobody LOGIN");
    refused("SELECT", "permission denied for function registry_request");
    session.run("ALTER USER MAPPING FOR postgres SERVER registry OPTIONS (SET user 'member')");
    session.run("DROP EXTENSION dblink CASCADE");
    refused("SELECT", "dblink");
}

/// A session that waits for a worker that cannot start gets the reason in time.
#[test]
fn no_session_waits_for_ever_for_a_worker_that_cannot_start() {
    let registry = or_skip!(Registry::start("no worker"));
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("pg_mint.registry_database = 'nowhere'"),
    );
    let refusal = ada.refused(NEXT, "55000");
    refusal.assert_hint("pg_mint.registry_database");
    let health: String = ada
        .one("SELECT string_agg(detail || hint, ' ') FROM mint.health() WHERE status = 'critical'");
    assert!(health.contains("\"nowhere\" does not exist"), "{health}");
    assert!(!health.contains("max_worker_processes"), "{health}");
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    let mut session = ada.connect("postgres");
    session.set_for_server("pg_mint.registry_database", "'postgres'");
    let (_, after) = first_id(&ada, NEXT);
    assert!(after < Duration::from_secs(4), "{after:?}");
}

#[test]
fn a_session_without_a_free_worker_says_so() {
    let registry = or_skip!(Registry::start("no free worker"));
    // The only worker serves logical replication.
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("max_worker_processes = 1"),
    );
    let mut session = ada.connect("postgres");
    // A worker can be free soon.
    for (wait, longest) in [("0", 1), ("2s", 3), ("5s", 6)] {
        session.run(&format!("SET pg_mint.max_wait = '{wait}'"));
        let refusal = session.refused(NEXT, "53000");
        refusal.assert_hint("max_worker_processes");
        assert!(refusal.after < Duration::from_secs(longest), "{refusal}");
    }
    session.run("SET statement_timeout = '1s'");
    session.refused(NEXT, "57014");
}

/// A parallel query of any role takes the last worker for a while.
#[test]
fn a_session_waits_for_a_worker_that_is_free_soon() {
    let registry = or_skip!(Registry::start("a worker that is free soon"));
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("max_worker_processes = 2"),
    );
    let mut root = ada.connect("postgres");
    root.run("CREATE ROLE anyone LOGIN");
    let mut anyone = ada.connect_as("anyone", "postgres");
    anyone.force_parallel();
    let mut session = ada.connect("postgres");
    thread::scope(|scope| {
        scope.spawn(|| anyone.run("SELECT pg_sleep(2)"));
        ada.until("a parallel worker", || {
            root.one(
                "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'",
            )
        });
        session.run(NEXT);
    });
}

/// After an administrator terminates the worker, the next session that needs one starts another.
#[test]
fn a_terminated_worker_is_replaced() {
    let registry = or_skip!(Registry::start("terminated worker"));
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![ada.until_minted(|| session.try_one(NEXT))];
    for _ in 0..3 {
        session.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'");
        ids.push(session.one(NEXT));
        thread::sleep(Duration::from_secs(2));
        ids.push(session.one(NEXT));
    }
    mint_cluster::assert_ascending(&ids);
}

#[test]
fn ordinary_roles_may_mint_and_nothing_else() {
    let registry = or_skip!(Registry::start("ordinary roles"));
    let ada = registry.auto("ada");
    registry.connect().run("CREATE ROLE app LOGIN");
    let mut app = registry.server.connect_as("app", "postgres");
    let mut member = registry.server.connect_as("member", "postgres");
    for statement in [
        "SELECT mint.registry_create()",
        "SELECT mint.release_leases()",
        "TABLE mint.leases",
        "TABLE mint.registry",
        "TABLE mint.registry_leases",
        "DELETE FROM mint.registry_leases",
        "UPDATE mint.registry SET run = NULL",
        "ALTER TABLE mint.registry_leases DISABLE TRIGGER ALL",
    ] {
        for session in [&mut app, &mut member] {
            session.refused(statement, "42501");
        }
    }
    app.refused("SELECT mint.registry_request('{}')", "42501");

    first_id(&ada, NEXT);
    ada.run("CREATE ROLE app LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor");
    let mut app = ada.connect_as("app", "postgres");
    app.one::<i64>(NEXT);
    for (setting, code) in [
        ("node = '5'", "42501"),
        ("own_shards = '5'", "55P02"),
        ("registry = ''", "55P02"),
        ("registry_database = 'app'", "55P02"),
    ] {
        app.refused(&format!("SET pg_mint.{setting}"), code);
        app.refused(&format!("ALTER SYSTEM SET pg_mint.{setting}"), "42501");
    }
    let mut watcher = ada.connect_as("watcher", "postgres");
    assert_eq!(watcher.one::<i64>("SELECT count(*) FROM mint.leases"), 1);
}

/// Each width has a trouble of its own, which is gone when it is over.
#[test]
fn each_lease_has_a_trouble_of_its_own() {
    let registry = or_skip!(Registry::start("troubles"));
    registry.connect().run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
         SELECT 10, n, 'kept', 'infinity' FROM generate_series(512, 1023) AS n",
    );
    let ada = registry.auto("ada");
    first_id(&ada, NEXT);
    const NONE_FREE: &str = "no node is free: 512 of 512 nodes (10 bits) are leased";
    assert_refused(&refused_for(&ada, ANOTHER[0], NONE_FREE), NONE_FREE);
    let mut session = ada.connect("postgres");
    let rows = "SELECT format('%s %s %s', node_bits, node IS NOT NULL, regexp_replace(trouble, ' nodes.*', '')) FROM mint.leases";
    assert_eq!(
        session.column::<String>(rows),
        ["10 f no node is free: 512 of 512", "13 t "]
    );
    registry
        .connect()
        .run("UPDATE mint.registry_leases SET lease_until = '-infinity', lease_from = '-infinity' WHERE node_bits = 10");
    for another in ANOTHER {
        first_id(&ada, another);
    }
    assert_eq!(session.column::<String>(rows), ["10 t ", "13 t ", "16 t "]);
    // All are in trouble while the registry is away.
    registry.server.stop_immediate();
    let away = "SELECT count(*) = 3 AND bool_and(node IS NOT NULL AND coalesce(trouble, '') LIKE 'could not establish connection%') FROM mint.leases";
    ada.until("all renewals fail", || session.one(away));
    let hint: String = session.one("SELECT hint FROM mint.health() WHERE check_name = 'registry'");
    assert_eq!(hint.matches("Check that").count(), 1, "once: {hint}");
}
