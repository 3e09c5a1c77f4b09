//! ALTER, replacement and privileges of the sequences of counters while sessions draw from them.

use mint_cluster::load::sessions::{assert_sound, while_asking};
use mint_cluster::{Record, Server, assert_ascending, assert_unique, count};

/// Returns the values drawn, and asserts that no call was refused.
fn values_of(records: Vec<Record>) -> Vec<Vec<i64>> {
    let lists = records.into_iter().map(|record| {
        assert!(record.refusals.is_empty(), "{}", record.refusals[0]);
        record.ids
    });
    lists.collect()
}

/// These statements do not set a sequence back, so no value is repeated.
#[test]
fn altering_a_sequence_under_load_repeats_nothing() {
    let server = Server::start("altered");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE keeper; GRANT CREATE ON SCHEMA public TO keeper; SELECT segment_create('tag', 50)");
    let many = "SELECT segment_next('tag') FROM generate_series(1, 40)";
    let range = "SELECT g FROM segment_next_range('tag', 3) r, generate_series(r.first, r.last) g";
    // Enough calls to use up the segments in memory of a sequence that is rolled back.
    let and_undo = "SELECT count(segment_next('tag')) FROM generate_series(1, 300); ROLLBACK";
    let alter = || {
        for round in 0..count(60, 12) {
            let ahead: i64 = session.one("SELECT nextval('tag') + 1000000000 FROM pg_sleep(0.005)");
            let rules = round % 3 + 1;
            for statement in [
                &format!(
                    "ALTER SEQUENCE tag CACHE {} MAXVALUE 4000000000000000000",
                    50 + round
                ),
                &format!("SELECT setval('tag', {ahead})"),
                &format!("BEGIN; ALTER SEQUENCE tag RESTART; {and_undo}"),
                &format!("ALTER SEQUENCE tag RESTART {}", ahead + 1_000_000_000),
                &format!("BEGIN; DROP SEQUENCE tag; CREATE SEQUENCE tag CACHE 50; {and_undo}"),
                "BEGIN; SAVEPOINT here; DROP SEQUENCE tag; SELECT segment_create('tag', 10); ROLLBACK TO here; COMMIT",
                "BEGIN; SELECT setval('tag', nextval('tag') + 1000000); ROLLBACK",
                "GRANT USAGE ON SEQUENCE tag TO PUBLIC; ALTER SEQUENCE tag OWNER TO keeper",
                "REVOKE USAGE ON SEQUENCE tag FROM PUBLIC; REASSIGN OWNED BY keeper TO postgres",
                &format!("ALTER SEQUENCE tag INCREMENT {rules}"),
            ] {
                session.run(statement);
            }
            // A range covers the values between its own as well.
            session.run("ALTER SEQUENCE tag INCREMENT 1");
        }
    };
    let lists = values_of(while_asking(
        &server.place(),
        &[
            many, many, many, "SELECT segment_next('tag')", "SELECT nextval('tag')",
        ],
        alter,
    ));
    assert_unique(&lists);
    assert_eq!(server.column::<i64>(range).len(), 3);
}

/// The values of the segment would come again. A draw waits for the session that alters, as `nextval` does.
#[test]
fn a_sequence_that_was_set_is_noticed_while_it_is_altered() {
    let server = Server::start("set and altered");
    let [mut app, mut keeper] = [0, 1].map(|_| server.connect("postgres"));
    keeper.run("CREATE SEQUENCE tag CACHE 100");
    let many = "SELECT segment_next('tag') FROM generate_series(1, 10)";
    assert_eq!(app.column::<i64>(many), (1..=10).collect::<Vec<i64>>());
    for alter in [
        "ALTER SEQUENCE tag OWNED BY NONE",
        "ALTER SEQUENCE tag CACHE 50",
    ] {
        // Without a change of the value, sessions draw on.
        keeper.run(&format!("BEGIN; {alter}"));
        let before: i64 = app.one("SELECT segment_next('tag')");
        keeper.run("COMMIT; SELECT setval('tag', 1)");
        keeper.run(&format!("BEGIN; {alter}"));
        app.run("SET lock_timeout = '100ms'");
        let refusal = app.refusal("SELECT segment_next('tag')");
        assert_eq!(refusal.code, "55P03", "{refusal} after {before}");
        app.run("RESET lock_timeout");
        keeper.run("COMMIT");
        assert_eq!(app.column::<i64>(many), (2..=11).collect::<Vec<i64>>());
    }
}

/// A ticket of another server's series would be a duplicate of that server's.
#[test]
fn changing_tickets_under_load_repeats_nothing() {
    let server = Server::start("changed tickets");
    let mut session = server.connect("postgres");
    session.run(
        "SELECT ticket_create('photos', server => 2, servers => 3); ALTER SEQUENCE photos CACHE 20",
    );
    let many = "SELECT ticket_next('photos') FROM generate_series(1, 30)";
    let change = || {
        for _ in 0..count(60, 12) {
            let above: i64 =
                session.one("SELECT last_value + 1000000 FROM photos, pg_sleep(0.005)");
            for statement in [
                format!("BEGIN; SELECT ticket_alter('photos', 1, 5, {above})"),
                "SELECT count(ticket_next('photos')) FROM generate_series(1, 200); ROLLBACK"
                    .to_owned(),
                format!("SELECT ticket_alter('photos', 2, 3, {above})"),
                "BEGIN; DROP SEQUENCE photos; SELECT ticket_create('photos')".to_owned(),
                "SELECT count(ticket_next('photos')) FROM generate_series(1, 200); ROLLBACK"
                    .to_owned(),
            ] {
                session.run(&statement);
            }
        }
    };
    let lists = values_of(while_asking(
        &server.place(),
        &[many, many, many, "SELECT ticket_next('photos')"],
        change,
    ));
    assert_sound(&lists);
    assert!(lists.iter().flatten().all(|ticket| ticket % 3 == 2));
}

/// In every session the numbers of its user ascend, whatever happens to the user's section.
#[test]
fn altering_a_family_under_load_repeats_nothing() {
    let server = Server::start("altered family");
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family', sections => 1, step => 30)");
    let (one, many) = (
        "SELECT user_sequence_next('family', 7)",
        "SELECT user_sequence_next('family', 7) FROM generate_series(1, 25)",
    );
    let and_undo =
        "SELECT count(user_sequence_next('family', 7)) FROM generate_series(1, 200); ROLLBACK";
    let alter = || {
        for round in 0..count(60, 12) {
            std::thread::sleep(std::time::Duration::from_millis(5));
            for statement in [
                format!("ALTER SEQUENCE family_section_0_seq CACHE {}", 20 + round),
                format!("BEGIN; ALTER SEQUENCE family_section_0_seq RESTART; {and_undo}"),
                format!(
                    "BEGIN; DROP TABLE family; SELECT user_sequence_create('family', 2, 10); {and_undo}"
                ),
                "SELECT setval('family_section_0_seq', nextval('family_section_0_seq') + 100000)"
                    .to_owned(),
                format!(
                    "BEGIN; ALTER TABLE family RENAME TO other; ALTER TABLE other RENAME TO family; {and_undo}"
                ),
                "GRANT INSERT ON family TO PUBLIC".to_owned(),
                "REVOKE INSERT ON family FROM PUBLIC".to_owned(),
            ] {
                session.run(&statement);
            }
        }
    };
    let lists = values_of(while_asking(
        &server.place(),
        &[one, one, many, many],
        alter,
    ));
    assert_sound(&lists);
}

/// The numbers of a statement that began before the change ascend as well.
#[test]
fn a_long_statement_continues_above() {
    // The order of events depends on half seconds.
    let server = Server::build("long statement").alone().start();
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family', sections => 1, step => 1000)");
    let slowly = "SELECT user_sequence_next('family', 7) FROM generate_series(1, 3) g, pg_sleep(0.5 * g / g)";
    let alters = [
        "ALTER SEQUENCE family_section_0_seq CACHE 30",
        "BEGIN; ALTER SEQUENCE family_section_0_seq CACHE 30; SELECT user_sequence_next('family', 7); ROLLBACK",
    ];
    for alter in alters {
        let mut slow = server.connect("postgres");
        let mut ids = vec![slow.one::<i64>("SELECT user_sequence_next('family', 7)")];
        std::thread::scope(|scope| {
            let slow = scope.spawn(move || slow.column::<i64>(slowly));
            std::thread::sleep(std::time::Duration::from_millis(750));
            session.run(alter);
            let number: i64 = session.one("SELECT user_sequence_next('family', 7)");
            let slow = slow.join().expect("the slow session");
            ids.extend([slow[0], number, slow[1], slow[2]]);
        });
        assert_ascending(&ids);
    }
}

/// A revoked privilege is gone with the next statement, even in a session that draws all the time and uses SET ROLE in
/// between. A privilege that is granted again is there again.
#[test]
fn privileges_take_effect_at_once() {
    let server = Server::start("granted");
    let mut owner = server.connect("postgres");
    owner.run(
        "CREATE ROLE drawer; SELECT segment_create('tag', 50), ticket_create('photos'), user_sequence_create('family');
         GRANT USAGE ON SEQUENCE tag, photos TO drawer; GRANT INSERT ON family TO drawer",
    );
    let calls = [
        ("segment_next('tag')", "USAGE ON SEQUENCE tag"),
        ("ticket_next('photos')", "USAGE ON SEQUENCE photos"),
        ("user_sequence_next('family', 7)", "INSERT ON family"),
    ];
    for (number, (call, _)) in calls.iter().enumerate() {
        owner.run(&format!(
            "CREATE FUNCTION as_drawer{number}() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN {}; END';
             ALTER FUNCTION as_drawer{number} OWNER TO drawer",
            call.replace('\'', "''")
        ));
    }
    let mut session = server.connect("postgres");
    for (number, (call, privilege)) in calls.iter().enumerate() {
        let mut ids: Vec<i64> = Vec::new();
        for _ in 0..count(50, 10) {
            let as_drawer = format!("SELECT as_drawer{number}()");
            ids.push(session.one(&format!("SELECT {call}")));
            ids.push(session.one(&as_drawer));
            owner.run(&format!("REVOKE {privilege} FROM drawer"));
            session.refused(&as_drawer, "42501");
            // Its own privileges have not changed.
            ids.push(session.one(&format!("SELECT {call}")));
            owner.run(&format!("GRANT {privilege} TO drawer"));
        }
        assert_ascending(&ids);
    }
}

/// Any role can make a sequence that looks like one of Leaf's, and drop it in a transaction that does not end.
#[test]
fn leafs_view_waits_for_no_lock() {
    let server = Server::start("a tag that is dropped");
    let mut owner = server.connect("postgres");
    owner.run("INSERT INTO mint.leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 7, 10), ('held', 7, 10)");
    let mut other = server.connect("postgres");
    other.run("BEGIN; DROP SEQUENCE held");
    let max_ids = "SELECT string_agg(format('%s %s', biz_tag, max_id), ', ' ORDER BY biz_tag) FROM mint.leaf_alloc";
    owner.run("SET statement_timeout = '2s'");
    assert_eq!(owner.one::<String>(max_ids), "held , orders 7");
    for change in [
        "UPDATE mint.leaf_alloc SET step = 5",
        "DELETE FROM mint.leaf_alloc",
    ] {
        owner.refused(change, "0A000");
    }
    other.run("ROLLBACK");
    owner.run("SELECT segment_next('held')");
    assert_eq!(owner.one::<String>(max_ids), "held 17, orders 7");
}
