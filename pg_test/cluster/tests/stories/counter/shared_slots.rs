//! More sequences than slots: what a session has found of a slot is not another sequence's when it is used.

use mint_cluster::load::sessions::draw_at_once;
use mint_cluster::{Registry, Server, assert_unique, count, or_skip};

/// Sessions that were about to write to a slot when it went to another sequence write nothing to it: each sequence has a range
/// of its own, and returns values of that.
#[test]
fn sequences_that_share_slots_keep_their_values() {
    let server = Server::build("stolen places")
        .conf("pg_mint.max_segments = 16")
        .start();
    let mut session = server.connect("postgres");
    session.run(
        "DO $$ BEGIN FOR n IN 1..40 LOOP
            EXECUTE format('CREATE SEQUENCE tag%s MINVALUE %s CACHE 2', n, n * 1000000000::bigint);
        END LOOP; END $$",
    );
    let each = count(100_000, 8_000);
    let draw = format!(
        "SELECT CASE value / 1000000000 WHEN tag THEN value ELSE -value END
         FROM (SELECT tag, segment_next(('tag' || tag)::regclass) AS value
               FROM (SELECT 1 + floor(random() * 40)::bigint AS tag FROM generate_series(1, {each})) AS t) AS d"
    );
    let drawn = draw_at_once(&server, "postgres", 16, |session, _| session.column(&draw));
    let foreign = drawn.iter().flatten().filter(|value| **value < 0).count();
    assert_eq!(foreign, 0, "values of other sequences");
    assert_unique(&drawn);
    let counted: i64 = session.one("SELECT segment_values FROM mint.stats");
    assert_eq!(counted, 16 * each as i64);
}

/// A sequence that loses its slot skips the rest of its segment. A role that draws from many sequences takes the slots of its
/// own, so that those of others are not used up.
#[test]
fn a_role_with_many_sequences_evicts_its_own() {
    let server = Server::build("slots of two roles")
        .conf("pg_mint.max_segments = 16")
        .start();
    server.run(
        "CREATE ROLE app LOGIN; CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO app, mallory",
    );
    let [mut app, mut mallory] = ["app", "mallory"].map(|role| server.connect_as(role, "postgres"));
    app.run("CREATE SEQUENCE ids AS smallint");
    mallory.run(
        "DO $$ BEGIN FOR n IN 1..20 LOOP EXECUTE format('CREATE SEQUENCE many%s CACHE 2', n); END LOOP; END $$",
    );
    let rounds = 50;
    let drawn: Vec<i64> = (0..rounds)
        .map(|_| {
            mallory.run(
                "SELECT segment_next(('many' || n)::regclass) FROM generate_series(1, 20) AS n",
            );
            app.one("SELECT segment_next('ids')")
        })
        .collect();
    assert_eq!(drawn, (1..=rounds).collect::<Vec<i64>>());
}

/// The same with sequences of another server: a session that waits for values and loses the slot begins again, and fails only
/// if the other server does not respond.
#[test]
fn sequences_of_another_server_share_slots() {
    let central = or_skip!(Registry::start("stolen places of a source"));
    central.connect().run(
        "DO $$ BEGIN FOR n IN 1..24 LOOP
            EXECUTE format('CREATE SEQUENCE tag%s MINVALUE %s', n, n * 1000000000::bigint);
            EXECUTE format('GRANT USAGE ON SEQUENCE tag%s TO member', n);
        END LOOP; END $$",
    );
    let server = central.admit(Server::build("draws from many").conf("pg_mint.max_segments = 16"));
    let mut session = server.connect("postgres");
    session.run(
        "SELECT segment_create('tag' || n, step => 2, source => 'registry') FROM generate_series(1, 24) AS n;
         ALTER ROLE postgres SET pg_mint.max_wait = '30s'",
    );
    let each = count(120, 30);
    let drawn = draw_at_once(&server, "postgres", 8, |session, number| {
        let draw = |round: usize| {
            let tag = (number * 7 + round * 5) % 24 + 1;
            let value: i64 = session.one(&format!("SELECT segment_next('tag{tag}')"));
            assert_eq!(value / 1_000_000_000, tag as i64, "{value} of tag{tag}");
            value
        };
        (0..each).map(draw).collect()
    });
    assert_unique(&drawn);
}

/// Databases whose worker could not connect leave no place taken once they are dropped.
#[test]
fn dropped_databases_leave_room_for_suppliers() {
    let central = or_skip!(Registry::start("places of suppliers"));
    central.connect().run(
        "SELECT segment_create('orders', step => 10); GRANT USAGE ON SEQUENCE orders TO member",
    );
    let server = central.admit(Server::build("many databases").conf("max_worker_processes = 200"));
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE first");
    let mut first = server.connect("first");
    first.run("CREATE EXTENSION dblink; CREATE EXTENSION pg_mint");
    central.create_server(&mut first, "registry", "postgres");
    first.run("SELECT segment_create('orders', step => 10, source => 'registry')");
    drop(first);
    for n in 1..=33 {
        session.run(&format!("CREATE DATABASE copy{n} TEMPLATE first"));
        let mut copy = server.connect(&format!("copy{n}"));
        session.run(&format!("ALTER DATABASE copy{n} ALLOW_CONNECTIONS false"));
        let refusal = copy.refusal("SET pg_mint.max_wait = '10ms'; SELECT segment_next('orders')");
        assert_eq!(refusal.code, "55000", "{refusal}");
        drop(copy);
        session.run(&format!("DROP DATABASE copy{n} WITH (FORCE)"));
    }
    let mut first = server.connect("first");
    let value: i64 = server.until_minted(|| first.try_one("SELECT segment_next('orders')"));
    assert_eq!(value, 1);
}
