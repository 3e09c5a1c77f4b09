//! setval and ALTER SEQUENCE while segments of the sequence are in use.

use mint_cluster::{Server, Session, assert_unique};

fn start(name: &str) -> (Server, Session, Session) {
    let server = Server::start(name);
    let (mut one, other) = (server.connect("postgres"), server.connect("postgres"));
    one.run("CREATE SEQUENCE s; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT segment_next('s'), n int)");
    (server, one, other)
}

fn next(session: &mut Session) -> i64 {
    session.one("SELECT segment_next('s')")
}

/// An import inserts rows with keys of their own and ends with setval.
#[test]
fn the_next_statement_follows_setval_after_a_bulk_load() {
    for (first, last) in [
        (2, 2_000),
        (2, 5_000),
        (2, 1_000_000),
        (100, 5_300),
        (1_900, 2_033),
    ] {
        let (_server, mut one, mut other) = start("bulk load");
        assert_eq!(next(&mut other), 1);
        one.run("INSERT INTO t (n) VALUES (1)");
        one.run(&format!(
            "INSERT INTO t SELECT g, g FROM generate_series({first} + 1, {last}) g"
        ));
        one.run("SELECT setval('s', (SELECT max(id) FROM t))");
        for session in [&mut one, &mut other] {
            session.run("INSERT INTO t (n) VALUES (2)");
        }
        assert!(next(&mut other) > last);
    }
}

/// The same with calls of nextval after setval.
#[test]
fn the_next_statement_follows_setval_before_calls_of_nextval() {
    let (_server, mut one, mut other) = start("setval and nextval");
    assert_eq!((next(&mut one), next(&mut other)), (1, 2));
    one.run("SELECT setval('s', 1000000), nextval('s'), nextval('s')");
    assert_eq!(next(&mut other), 1_000_003);
    other.run("SELECT setval('s', 500, false)");
    assert_eq!(next(&mut one), 500);
    other.run("SELECT setval('s', 100)");
    assert_eq!((next(&mut one), next(&mut other)), (101, 102));
}

/// Calls of nextval in between do not make a session drop its segment.
#[test]
fn calls_of_nextval_drop_no_segment() {
    let (_server, mut one, mut other) = start("nextval in between");
    assert_eq!(next(&mut one), 1);
    let mut all: Vec<i64> = vec![1];
    for n in 1..200 {
        // Calls that use up the values logged ahead cannot be told from setval.
        if n % 33 != 0 {
            let drawn = next(&mut one);
            assert!(
                n > 33 || drawn <= 2_000,
                "value {drawn} after {n} calls of nextval"
            );
            all.push(drawn);
        }
        all.push(other.one("SELECT nextval('s')"));
    }
    assert_unique([&all]);
}

/// The same within a transaction, which takes no lock that would process invalidations.
#[test]
fn the_next_statement_of_a_transaction_follows_restart() {
    let (_server, mut one, mut other) = start("restart");
    one.run("BEGIN");
    assert_eq!(next(&mut one), 1);
    other.run("ALTER SEQUENCE s RESTART WITH 1000000");
    assert_eq!(next(&mut other), 1_000_000);
    assert_eq!(next(&mut one), 1_000_001);
    other.run("ALTER SEQUENCE s INCREMENT 10");
    let first = next(&mut one);
    assert_eq!(next(&mut one), first + 10);
    // An uncommitted RESTART has no effect.
    other.run("BEGIN; ALTER SEQUENCE s RESTART WITH 5");
    assert_eq!(next(&mut one), first + 20);
    other.run("ROLLBACK");
    assert_eq!(next(&mut one), first + 30);
    one.run("COMMIT");
}

/// Even a running statement gets no value below one that segment_set has set.
#[test]
fn segment_set_takes_effect_at_once() {
    let (_server, mut one, mut other) = start("segment_set");
    one.run(
        "CREATE FUNCTION twice() RETURNS bigint[] LANGUAGE plpgsql AS $$ DECLARE a bigint := segment_next('s'); BEGIN
           PERFORM segment_set('s', 70000); RETURN ARRAY[a, segment_next('s'), segment_next('s')]; END $$",
    );
    assert_eq!(next(&mut other), 1);
    assert_eq!(one.one::<Vec<i64>>("SELECT twice()"), [2, 70_001, 70_002]);
    assert_eq!(next(&mut other), 70_003);
    other.refused("SELECT segment_set('s', 0)", "22003");
    one.run("CREATE ROLE reader LOGIN; GRANT USAGE ON SEQUENCE s TO reader");
    other.run("SET ROLE reader");
    other.refused("SELECT segment_set('s', 5)", "42501");
    assert_eq!(next(&mut other), 70_004);
}

/// With false, the value itself is the next one, also of a running statement and of nextval; 1 is the first of all.
#[test]
fn segment_set_can_set_the_first_value() {
    let (_server, mut one, mut other) = start("segment_set to the first");
    let three = |next| {
        format!(
            "SELECT ARRAY[segment_set('s', {next}, false), segment_next('s'), segment_next('s')]"
        )
    };
    assert_eq!(next(&mut other), 1);
    assert_eq!(one.one::<Vec<i64>>(&three(1)), [1, 1, 2]);
    assert_eq!(next(&mut other), 3);
    assert_eq!(one.one::<Vec<i64>>(&three(500)), [500, 500, 501]);
    assert_eq!(next(&mut other), 502);
    one.run("SELECT segment_set('s', 70, false)");
    assert_eq!(one.one::<i64>("SELECT nextval('s')"), 70);
    other.refused("SELECT segment_set('s', 0, false)", "22003");
    one.run("SELECT segment_set('s', 9223372036854775807, false)");
    assert_eq!(next(&mut other), i64::MAX);
    other.refused("SELECT segment_next('s')", "2200H");
    let unset: Option<i64> = one.one("SELECT segment_set('s', 5, NULL)");
    assert_eq!(unset, None);
}

/// segment_set drops the session's cached values of nextval, as setval does.
#[test]
fn nextval_follows_segment_set() {
    let (_server, mut one, _) = start("segment_set and nextval");
    one.run("ALTER SEQUENCE s CACHE 100");
    assert_eq!(one.one::<i64>("SELECT nextval('s')"), 1);
    one.run("SELECT segment_set('s', 500)");
    assert_eq!(one.one::<i64>("SELECT nextval('s')"), 501);
    assert_eq!(next(&mut one), 601);
}

/// A revoked privilege takes effect in the middle of a transaction and of a segment.
#[test]
fn a_revoked_privilege_takes_effect_at_once() {
    let (server, mut one, _) = start("revoke");
    one.run("CREATE ROLE reader LOGIN; GRANT USAGE ON SEQUENCE s TO reader");
    let mut reader = server.connect_as("reader", "postgres");
    reader.run("BEGIN");
    assert_eq!(next(&mut reader), 1);
    one.run("REVOKE USAGE ON SEQUENCE s FROM reader");
    reader.refused("SELECT segment_next('s')", "42501");
}

/// With another number of sections, users would move to other sections and get their numbers again.
#[test]
fn a_family_with_another_number_of_sections_is_refused() {
    let (_server, mut one, mut other) = start("sections added");
    one.run("SELECT user_sequence_create('box')");
    let draw = "SELECT user_sequence_next('box', 7)";
    assert_eq!(other.one::<i64>(draw), 1);
    one.run("ALTER TABLE box ADD COLUMN section_64 bigint GENERATED ALWAYS AS IDENTITY");
    other.refused(draw, "42809");
    one.run("ALTER TABLE box DROP COLUMN section_64");
    assert_eq!(other.one::<i64>(draw), 2);
}
