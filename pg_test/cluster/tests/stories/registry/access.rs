//! Requirements and privileges of members and registries, and the errors where something is missing.

use mint_cluster::registry::members::{AUTO, assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, say};
use std::thread;
use std::time::Duration;

const NEXT: &str = "SELECT snowflake_next_id()";

/// A hint is for the reason that it is given with, also where PostgreSQL uses the same words for something else.
#[test]
fn hints_are_those_of_the_reason() {
    let builder = Server::build("hints").conf("max_connections = 8");
    let Some(registry) = Registry::start_with(builder, 5) else {
        return;
    };
    let hint = |member: &Server, words: &str| {
        let mut session = member.connect("postgres");
        let mut refusal = session.refusal(NEXT);
        member.until(words, || {
            refusal = session.refusal(NEXT);
            refusal.detail.contains(words)
        });
        refusal.hint
    };
    let ada = registry.admit(Server::build("ada").conf("pg_mint.node = 'assigned'"));
    let told = hint(&ada, "no node (13 bits) is assigned to \"ada\"");
    assert!(told.contains("mint.registry_assign()"), "{told}");

    let eve = registry.admit(
        Server::build("eve")
            .conf(AUTO)
            .conf("pg_mint.registry_database = 'elsewhere'"),
    );
    let told = hint(&eve, "database \"elsewhere\" does not exist");
    assert!(told.contains("pg_mint.registry_database"), "{told}");
    let health: String = eve
        .connect("postgres")
        .one("SELECT string_agg(detail || hint, ' ') FROM mint.health() WHERE status = 'critical'");
    assert!(health.contains("\"elsewhere\" does not exist"), "{health}");
    assert!(!health.contains("max_worker_processes"), "{health}");

    let ben = registry.auto("ben");
    let place = registry.server.place_of("member");
    let all: Vec<_> = std::iter::from_fn(|| place.try_connect().ok()).collect();
    assert!(!all.is_empty());
    let told = hint(&ben, "remaining connection slots are reserved");
    assert!(
        told.contains("Check that the registry is running"),
        "{told}"
    );
}

#[test]
fn errors_say_what_a_member_lacks() {
    let Some(registry) = Registry::start("missing", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let refused = |setup: &str, words: &str| {
        let mut session = ada.connect("postgres");
        session.run(setup);
        // A server that could not be connected to is left alone for a second.
        let mut refusal = session.refusal(NEXT);
        ada.until(words, || {
            refusal = session.refusal(NEXT);
            refusal.detail.contains(words)
        });
        say(format!("{words}: {refusal}"));
        assert_refused(&refusal, words);
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
    refused("SELECT", "permission denied for view nodes");
    session.run("ALTER USER MAPPING FOR postgres SERVER registry OPTIONS (SET user 'member')");
    session.run("DROP EXTENSION dblink CASCADE");
    refused("SELECT", "dblink");
}

/// A session that waits for a worker that cannot start gets the reason in time.
#[test]
fn no_session_waits_for_ever_for_a_worker_that_cannot_start() {
    let Some(registry) = Registry::start("no worker", 5) else {
        return;
    };
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("pg_mint.registry_database = 'nowhere'"),
    );
    let refusal = ada.connect("postgres").refusal(NEXT);
    say(format!("no such database: {refusal}"));
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    let mut session = ada.connect("postgres");
    session.set_for_server("pg_mint.registry_database", "'postgres'");
    session.set_for_server("pg_mint.registry_role", "'nobody'");
    let refusal = session.refusal(NEXT);
    say(format!("no such role: {refusal}"));
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    session.set_for_server("pg_mint.registry_role", "''");
    let (_, after) = first_id(&ada, NEXT);
    assert!(after < Duration::from_secs(4), "{after:?}");
}

#[test]
fn a_session_without_a_free_worker_says_so() {
    let Some(registry) = Registry::start("no free worker", 5) else {
        return;
    };
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
        let refusal = session.refusal(NEXT);
        assert_eq!(refusal.code, "53000", "{refusal}");
        assert!(refusal.hint.contains("max_worker_processes"), "{refusal}");
        assert!(refusal.after < Duration::from_secs(longest), "{refusal}");
    }
    session.run("SET statement_timeout = '1s'");
    assert_eq!(session.refusal(NEXT).code, "57014");
}

/// A parallel query of any role takes the last worker for a while.
#[test]
fn a_session_waits_for_a_worker_that_is_free_soon() {
    let Some(registry) = Registry::start("a worker that is free soon", 5) else {
        return;
    };
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("max_worker_processes = 2"),
    );
    let mut root = ada.connect("postgres");
    root.run("CREATE ROLE anyone LOGIN");
    let mut anyone = ada.connect_as("anyone", "postgres");
    anyone.run("DO $$ BEGIN PERFORM set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); END $$");
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

/// Members may lock the registry's tables as an INSERT does. Its owner does not wait for them without a limit.
#[test]
fn the_owner_does_not_wait_for_a_lock_of_a_member() {
    let server = Server::start("a locked registry");
    let mut owner = server.connect("postgres");
    owner.run(
        "SELECT mint.registry_create(); SELECT mint.registry_end_quarantine(); CREATE ROLE member LOGIN;
         GRANT USAGE ON SCHEMA mint_registry TO member; GRANT INSERT ON mint_registry.nodes TO member;
         SET statement_timeout = '10s'",
    );
    let mut member = server.connect_as("member", "postgres");
    member.run("BEGIN; LOCK TABLE mint_registry.nodes IN ROW EXCLUSIVE MODE");
    let refusal = owner.refusal("SELECT mint.registry_drop()");
    assert_eq!(refusal.code, "55P03", "{refusal}");
    assert!(refusal.message.contains("busy"), "{refusal}");
    assert!(refusal.after < Duration::from_secs(3), "{refusal}");
    member.run("ROLLBACK");
    owner.run("SELECT mint.registry_drop()");
    assert_eq!(owner.one::<String>("SHOW lock_timeout"), "0");
}

/// After an administrator terminates the worker, the next session that needs one starts another.
#[test]
fn a_terminated_worker_is_replaced() {
    let Some(registry) = Registry::start("terminated worker", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT)];
    for _ in 0..3 {
        session.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'");
        ids.push(session.one(NEXT));
        thread::sleep(registry.lease);
        ids.push(session.one(NEXT));
    }
    mint_cluster::assert_ascending(&ids);
}

#[test]
fn ordinary_roles_may_mint_and_nothing_else() {
    let Some(registry) = Registry::start("ordinary roles", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    registry.connect().run("CREATE ROLE app LOGIN");
    let mut app = registry.server.connect_as("app", "postgres");
    for call in [
        "mint.registry_create()",
        "mint.registry_reserve(13, 1, 1, 'mine')",
        "mint.registry_unreserve(13, 1, 1)",
        "mint.registry_begin_quarantine()",
        "mint.registry_end_quarantine()",
        "mint.registry_accept_clock()",
        "mint.registry_prepare_restart()",
        "mint.registry_evict('ada')",
        "mint.registry_evict(13, 0, 9)",
        "mint.registry_drop()",
        r#"mint.registry_request('{"protocol": 1, "request": "release", "id": 1, "until": 1}')"#,
        r#"mint.registry_request('{"protocol": 1, "request": "lease", "node_bits": 13, "holder": "x", "system": 1, "clock": 1}')"#,
        "mint.release_leases()",
        "count(*) FROM mint_registry.nodes",
        "count(*) FROM mint.leases",
        "count(*) FROM mint_registry.leases",
        "count(*) FROM mint_registry.registry",
    ] {
        let refusal = app.refusal(&format!("SELECT {call}"));
        assert_eq!(refusal.code, "42501", "{call}: {refusal}");
    }
    // The role of members may call the functions, but not read or write the tables.
    let mut member = registry.server.connect_as("member", "postgres");
    for statement in [
        "SELECT * FROM mint_registry.leases",
        "DELETE FROM mint_registry.leases",
        "UPDATE mint_registry.registry SET lease = '1 h'",
    ] {
        assert_eq!(member.refusal(statement).code, "42501", "{statement}");
    }

    ada.connect("postgres")
        .run("CREATE ROLE app LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor");
    let mut app = ada.connect_as("app", "postgres");
    app.one::<i64>(NEXT);
    for (setting, code) in [
        ("node = '5'", "42501"),
        ("nodes = '5'", "55P02"),
        ("registry = ''", "55P02"),
        ("registry_database = 'app'", "55P02"),
        ("registry_role = 'app'", "55P02"),
    ] {
        let refusal = app.refusal(&format!("SET pg_mint.{setting}"));
        assert_eq!(refusal.code, code, "{setting}: {refusal}");
        let refusal = app.refusal(&format!("ALTER SYSTEM SET pg_mint.{setting}"));
        assert_eq!(refusal.code, "42501", "{setting}: {refusal}");
    }
    let mut watcher = ada.connect_as("watcher", "postgres");
    assert_eq!(
        watcher.one::<i64>("SELECT count(*) FROM mint.leases WHERE held"),
        1
    );
}

/// However many sessions want a node that is not granted, the registry gets few requests.
#[test]
fn many_refused_sessions_send_few_requests() {
    let builder = Server::build("a crowd").conf("track_functions = all");
    let Some(registry) = Registry::start_with(builder, 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
    ada.connect("postgres")
        .one::<i64>("SELECT snowflake_next_id(5)");
    let asked = || -> i64 {
        thread::sleep(Duration::from_millis(1_100));
        registry.connect().one(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_user_functions WHERE funcname = 'registry_request'",
        )
    };
    let before = asked();
    let (ids, refusals) = mint_cluster::load::sessions::split(
        mint_cluster::load::sessions::while_minting(&ben, 8, "SELECT snowflake_next_id(5)", || {
            thread::sleep(Duration::from_secs(4))
        }),
    );
    let asked = asked() - before;
    say(format!(
        "{} refusals in 4 s took {asked} questions",
        refusals.len()
    ));
    assert!(ids.iter().all(Vec::is_empty), "a node was granted twice");
    assert!(asked < 6 * 25, "{asked} requests in 6 s");
}

/// Returns the rows of `mint.leases` as text.
fn rows(session: &mut Session) -> Vec<String> {
    session.column(
        "SELECT format('%s-%s %s%s', first_node, last_node,
                 CASE WHEN held AND lease_until > now() AND time_left > '0' THEN 'held'
                      WHEN num_nulls(lease_from, lease_until, time_left, renewed) = 4 THEN 'never held'
                      ELSE 'ended' END,
                 ': ' || regexp_replace(trouble, 'until \\S+', 'until ...'))
         FROM mint.leases ORDER BY first_node",
    )
}

const BENS: &str = "7-7 never held: node 7 (13 bits) is leased by \"ben\" until ...";
const OLD: &str = "9-10 never held: nodes 9 to 10 (13 bits) are reserved for \"the old servers\"";

#[test]
fn each_lease_has_a_trouble_of_its_own() {
    let Some(registry) = Registry::start("troubles", 5) else {
        return;
    };
    let reserve = "SELECT mint.registry_reserve(13, 9, 10, 'the old servers')";
    registry.connect().run(reserve);
    let (ada, ben) = (
        registry.fixed("ada", "5, 7, 9-10"),
        registry.fixed("ben", "7"),
    );
    let mint = |node: i64| format!("SELECT snowflake_next_id({node})");
    ben.connect("postgres").one::<i64>(&mint(7));
    let mut session = ada.connect("postgres");
    session.one::<i64>(&mint(5));
    ada.until("each task was tried", || rows(&mut session).len() == 3);
    assert_eq!(rows(&mut session), ["5-5 held", BENS, OLD]);

    // A session hears of its own node, and what to do.
    for (node, words, other, remedy) in [
        (
            7, "leased by \"ben\"", "reserved", "Wait until that lease ends",
        ),
        (
            10,
            "reserved for \"the old servers\"",
            "leased by",
            "mint.registry_unreserve()",
        ),
    ] {
        let refusal = session.refusal(&mint(node));
        assert!(refusal.detail.contains(words), "{refusal}");
        assert!(!refusal.detail.contains(other), "{refusal}");
        assert!(refusal.hint.contains(remedy), "{refusal}");
    }

    // A trouble that is over is gone, and so are rows of nodes that are not wanted any more.
    ben.stop_fast();
    ada.until("the node is free", || {
        session.try_one::<i64>(&mint(7)).is_ok()
    });
    ada.until("its trouble is over", || {
        rows(&mut session) == ["5-5 held", "7-7 held", OLD]
    });
    session.set_for_server("pg_mint.nodes", "'5'");
    ada.until("the other nodes are released", || {
        rows(&mut session) == ["5-5 held"]
    });

    // All leases are in trouble while the registry is away.
    session.set_for_server("pg_mint.nodes", "'5, 6'");
    ada.until("another node is leased", || {
        session.try_one::<i64>(&mint(6)).is_ok()
    });
    registry.server.stop_immediate();
    let away = "SELECT count(*) = 2 AND bool_and(held AND coalesce(trouble, '') LIKE 'could not establish connection%') FROM mint.leases";
    ada.until("both renewals fail", || session.one(away));
    ada.until("the leases end", || {
        session.try_one::<i64>(&mint(6)).is_err()
    });
    let refusal = session.refusal(&mint(6));
    assert!(refusal.hint.contains("user mapping"), "{refusal}");
    let health: String =
        session.one("SELECT hint FROM mint.health() WHERE check_name = 'registry'");
    assert!(health.contains("user mapping"), "{health}");
}
