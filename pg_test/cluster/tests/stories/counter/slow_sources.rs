//! Foreign servers that never answer, or are slow, while sessions draw.

use super::sources::{NEXT, start};
use mint_cluster::{Registry, Server, Session, assert_unique, or_skip, say};
use std::net::{TcpListener, TcpStream};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// A program that accepts connections, and never answers.
struct Silent {
    listener: TcpListener,
    accepted: Vec<TcpStream>,
}

impl Silent {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        Self {
            listener,
            accepted: Vec::new(),
        }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().expect("an address").port()
    }

    /// Returns how many connections there were.
    fn count_accepted(&mut self) -> usize {
        while let Ok((stream, _)) = self.listener.accept() {
            self.accepted.push(stream);
        }
        self.accepted.len()
    }
}

/// Orders segments from many servers that do not answer, as a role that owns nothing else.
fn attack(server: &Server, port: u16, many: usize) {
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE mallory LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO mallory;
         GRANT CREATE ON SCHEMA public TO mallory",
    );
    let mut mallory = server.connect_as("mallory", "postgres");
    mallory.run("SET pg_mint.max_wait = '10ms'");
    for n in 1..=many {
        mallory.run(&format!(
            "CREATE SERVER silent{n} FOREIGN DATA WRAPPER dblink_fdw
                 OPTIONS (host '127.0.0.1', port '{port}', dbname 'x');
             CREATE USER MAPPING FOR mallory SERVER silent{n} OPTIONS (user 'x', password 'y');
             SELECT segment_create('trap{n}', step => 10, source => 'silent{n}')"
        ));
        let refusal = mallory.refusal(&format!("SELECT segment_next('trap{n}')"));
        assert_eq!(refusal.code, "55000", "{refusal}");
    }
}

fn draw(session: &mut Session) -> i64 {
    session.one("SELECT first FROM segment_next_range('orders', 10)")
}

/// Requests of that role are one at a time, and delay nobody else's.
#[test]
fn silent_servers_of_one_role_delay_no_other() {
    let central = or_skip!(Registry::start("a source beside silent ones"));
    central.connect().run(
        "SELECT segment_create('orders', step => 10); GRANT USAGE ON SEQUENCE orders TO member",
    );
    let server = central.admit(Server::build("ada"));
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('orders', step => 10, source => 'registry')");
    let mut drawn = vec![draw(&mut session)];
    let mut silent = Silent::start();
    attack(&server, silent.port(), 20);
    // A round over the servers that do not answer would take a minute.
    session.run("SET pg_mint.max_wait = '2s'");
    drawn.extend((0..4).map(|_| draw(&mut session)));
    server.until("nobody asks for the others any more", || {
        let before = silent.count_accepted();
        drawn.extend((0..10).map(|_| draw(&mut session)));
        silent.count_accepted() == before
    });
    assert_unique([&drawn]);
    assert!(silent.count_accepted() > 0);
}

/// Lets the foreign server lead to a program that never answers.
fn lead_astray(session: &mut Session, silent: &Silent) -> String {
    let host: String = session.one(
        "SELECT substr(o, 6) FROM pg_foreign_server, unnest(srvoptions) AS o WHERE o LIKE 'host=%'",
    );
    session.run(&format!(
        "ALTER SERVER registry OPTIONS (SET host '127.0.0.1', SET port '{}')",
        silent.port()
    ));
    format!("ALTER SERVER registry OPTIONS (SET host '{host}', SET port '5432')")
}

/// Nobody waits while values are left, and nobody asks again for a while. When none are left, calls wait for a request at
/// most.
#[test]
fn a_silent_source_delays_no_draw_while_values_are_left() {
    let (_central, servers) = or_skip!(start("a silent source", &["ada"]));
    let ada = &servers[0];
    let [mut session, mut other] = [0, 1].map(|_| ada.connect("postgres"));
    let draw = "SELECT segment_next('orders') FROM generate_series(1, 50)";
    let mut drawn: Vec<i64> = session.column(draw);
    let mut silent = Silent::start();
    let back = lead_astray(&mut session, &silent);
    let began = Instant::now();
    drawn.extend((0..17).flat_map(|_| session.column::<i64>(draw)));
    // The last tenth, for longer than a request lasts, and not as long as nobody asks again.
    let draws = (0..80).map(|_| {
        sleep(Duration::from_millis(50));
        let began = Instant::now();
        drawn.push(session.one(NEXT));
        began.elapsed()
    });
    let longest = draws.max().expect("draws");
    let asked = silent.count_accepted();
    say(format!(
        "{asked} requests; a draw of the last tenth took {longest:?} at most"
    ));
    assert!(longest < Duration::from_secs(1), "{longest:?}");
    assert!(
        asked == 1 || began.elapsed() > Duration::from_secs(7),
        "{asked}"
    );
    drawn.extend((0..20).map(|_| session.one::<i64>(NEXT)));
    assert_eq!(drawn, (1..=1_000).collect::<Vec<i64>>());
    let began = Instant::now();
    let refusals = scope(|scope| {
        let both = [&mut session, &mut other];
        both.map(|session| scope.spawn(|| session.refusal(NEXT)))
            .map(|refusal| refusal.join().expect("a refusal"))
    });
    for refusal in refusals {
        assert_eq!(refusal.code, "55000", "{refusal}");
        let reasons = ["did not respond", "timeout expired"];
        let is_silence = reasons.iter().any(|why| refusal.detail.contains(why));
        assert!(is_silence, "{refusal}");
    }
    assert!(began.elapsed() < Duration::from_secs(6));
    // A request that lasts as long is running a small part of the time.
    let began = Instant::now();
    let asked = silent.count_accepted();
    while began.elapsed() < Duration::from_secs(5) {
        let refusal = session.refusal(NEXT);
        assert!(refusal.detail.contains("last request failed"), "{refusal}");
    }
    assert_eq!(silent.count_accepted(), asked);
    session.run("SET pg_mint.max_wait = '100ms'");
    ada.until("a session gives up", || {
        let refusal = session.refusal(NEXT);
        refusal.detail.contains("has not responded yet")
    });
    session.run(&back);
    let next: i64 = ada.until_minted(|| session.try_one(NEXT));
    assert_eq!(next, 1_001);
}

/// Requests that fail without delay: the worker cannot connect to its database, or to the foreign server.
#[test]
fn calls_that_fail_start_few_workers() {
    let Some((_central, servers)) = start("requests that fail", &["ada"]) else {
        return;
    };
    let ada = &servers[0];
    let mut session = ada.connect("postgres");
    session
        .run("SELECT segment_create('other', source => 'registry', source_sequence => 'orders')");
    let mut admin = ada.connect("template1");
    let port = "ALTER SERVER registry OPTIONS (SET port '1')";
    for (breaks, corrects, why, log) in [
        (
            "ALTER DATABASE postgres ALLOW_CONNECTIONS false",
            "ALTER DATABASE postgres ALLOW_CONNECTIONS true",
            "worker has ended",
            "not currently accepting connections",
        ),
        (
            port,
            "ALTER SERVER registry OPTIONS (SET port '5432')",
            "could not establish connection",
            "could not obtain segment of sequence with OID",
        ),
    ] {
        if breaks == port {
            session.run(breaks);
        } else {
            admin.run(breaks);
        }
        let (began, mut calls) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_secs(3) {
            for sequence in ["orders", "other"] {
                let next = format!("SELECT segment_next('{sequence}')");
                let refusal = session.refusal(&next);
                assert_eq!(refusal.code, "55000", "{refusal}");
                assert!(refusal.detail.contains(why), "{refusal}");
                calls += 1;
            }
        }
        let workers = ada.log().matches(log).count();
        say(format!(
            "{calls} calls that failed started {workers} workers"
        ));
        assert!((1..=10).contains(&workers), "{workers}");
        if breaks == port {
            session.run(corrects);
        } else {
            admin.run(corrects);
        }
        let began = Instant::now();
        ada.until_minted(|| session.try_one::<i64>(NEXT));
        say(format!(
            "drew {:?} after the cause was corrected",
            began.elapsed()
        ));
        assert!(began.elapsed() < Duration::from_secs(4));
        session.run("DROP SEQUENCE orders; SELECT segment_create('orders', source => 'registry')");
    }
}

/// While a request runs, the session that waits is canceled or terminated, the worker is terminated, and the foreign server or
/// the sequence is dropped; and transactions roll back.
#[test]
fn no_end_of_a_request_repeats_a_value() {
    let (central, servers) = or_skip!(start("requests that are cut off", &["ada"]));
    let ada = &servers[0];
    let mut admin = ada.connect("postgres");
    let mut watch = central.connect();
    let mut drawn = Vec::new();
    for end in [
        "SELECT 1",
        "SELECT pg_cancel_backend(PID)",
        "SELECT pg_terminate_backend(PID)",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'pg_mint segments'",
        "DROP SERVER registry CASCADE",
        "DROP SEQUENCE orders",
    ] {
        let mut session = ada.connect("postgres");
        session.run("BEGIN");
        let few = "SELECT segment_next('orders') FROM generate_series(1, 90)";
        drawn.extend(ada.until_minted(|| {
            session.try_column::<i64>(few).inspect_err(|_| {
                session.run("ROLLBACK; BEGIN");
            })
        }));
        session.run("ROLLBACK; SET pg_mint.max_wait = '2s'");
        let mut alters = central.connect();
        alters.run("BEGIN; ALTER SEQUENCE orders CACHE 999");
        let end = end.replace("PID", &session.pid.to_string());
        scope(|scope| {
            let many = "SELECT segment_next('orders') FROM generate_series(1, 2000)";
            let draws = scope.spawn(|| session.try_column::<i64>(many));
            let waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'member' AND wait_event_type = 'Lock')";
            central
                .server
                .until("the request waits", || watch.one(waits));
            admin.run(&end);
            alters.run("ROLLBACK");
            drawn.extend(draws.join().expect("no panic").unwrap_or_default());
        });
        if end.starts_with("DROP SERVER") {
            central.create_server(&mut admin, "registry", "postgres");
        }
        if end.starts_with("DROP SEQUENCE") {
            admin.run("SELECT segment_create('orders', step => 1000, source => 'registry')");
        }
    }
    let rest = "SELECT segment_next('orders') FROM generate_series(1, 2500)";
    drawn.extend(ada.until_minted(|| admin.try_column::<i64>(rest)));
    assert_unique([&drawn]);
    assert!(drawn.len() > 5_000, "{}", drawn.len());
}
