//! Databases created under the oid of a dropped one, as any role with CREATEDB can, which must find no state of the old
//! one in shared memory.

use mint_cluster::{Server, Session, assert_unique};

/// Creates a database, drops it, creates it again under the same oid, and returns what `draw` returns in each.
fn draw_in_both<T>(
    server: &Server,
    strategy: &str,
    mut draw: impl FnMut(&mut Session, usize) -> T,
) -> [T; 2] {
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE maker LOGIN CREATEDB");
    session.run("CREATE DATABASE original OWNER maker");
    server
        .connect("original")
        .run("CREATE EXTENSION pg_mint; CREATE SEQUENCE s; SELECT user_sequence_create('box')");
    let mut maker = server.connect_as("maker", "postgres");
    [0, 1].map(|round| {
        maker.run(&format!(
            "CREATE DATABASE again OID = 99961 TEMPLATE original STRATEGY = {strategy}"
        ));
        let drawn = draw(&mut server.connect("again"), round);
        if round == 0 {
            // The sessions of a database end shortly after their connections.
            server.until("the database is dropped", || {
                maker.try_run("DROP DATABASE again").is_ok()
            });
        }
        drawn
    })
}

/// The lane is ahead of the clock by more than a window; none of its ids must be issued again after a crash.
#[test]
fn ids_do_not_repeat_after_a_crash() {
    for strategy in ["wal_log", "file_copy"] {
        let server = Server::build("reused oid").durable().start();
        let mint = |session: &mut Session, many: u32| -> Vec<i64> {
            session.column(&format!(
                "SELECT snowflake_next_id(3, 'sonyflake') FROM generate_series(1, {many})"
            ))
        };
        let [_, issued] = draw_in_both(&server, strategy, |session, round| {
            mint(session, if round == 0 { 70_000 } else { 20 })
        });
        server.crash();
        let after = mint(&mut server.connect("again"), 70_000);
        assert_unique([&issued, &after]);
    }
}

#[test]
fn a_new_database_draws_from_its_own_sequences() {
    for strategy in ["wal_log", "file_copy"] {
        let server = Server::start("reused oid of sequences");
        let [_, all] = draw_in_both(&server, strategy, |session, round| {
            if round == 0 {
                // Leaves a segment in memory that starts where the sequence of the next database starts.
                return session.column::<i64>("SELECT segment_next('s')");
            }
            let mut all: Vec<i64> =
                session.column("SELECT nextval('s') FROM generate_series(1, 4)");
            all.extend(
                session.column::<i64>("SELECT segment_next('s') FROM generate_series(1, 4)"),
            );
            all
        });
        assert_unique([&all]);
        assert!(all.iter().all(|&value| value <= 4_000), "{all:?}");
    }
}

/// A user's numbers continue above those drawn in the template, though shared memory has a user of the dropped database.
#[test]
fn a_new_database_draws_from_its_own_users() {
    let server = Server::start("reused oid of users");
    let mut template = None;
    let [_, numbers] = draw_in_both(&server, "wal_log", |session, round| {
        if round == 0 {
            session.run("SELECT user_sequence_next('box', 7), user_sequence_next('box', 7)");
            let mut original = server.connect("original");
            let last: i64 = original
                .one("SELECT max(user_sequence_next('box', 7)) FROM generate_series(1, 5000)");
            template = Some(last);
            return Vec::new();
        }
        session.column::<i64>("SELECT user_sequence_next('box', 7) FROM generate_series(1, 3)")
    });
    let last = template.expect("the template's user has drawn");
    assert!(
        numbers.iter().all(|&number| number > last),
        "{numbers:?} after {last}"
    );
}

/// A poisoned ceiling of a dropped database does not affect the next database of its oid.
#[test]
fn a_poisoned_ceiling_goes_with_its_database() {
    let server = Server::start("poisoned oid");
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE pattern");
    server
        .connect("pattern")
        .run("CREATE EXTENSION pg_mint; SELECT setval('mint.time_ceiling', 9223372036854775807)");
    for _ in 0..2 {
        session.run("CREATE DATABASE trap OID = 70000 TEMPLATE pattern");
        let refusal = server
            .connect("trap")
            .refusal("SELECT snowflake_next_id(5)");
        assert_eq!(refusal.code, "58000", "{refusal}");
        session.run("DROP DATABASE trap WITH (FORCE)");
    }
    session.run("CREATE DATABASE shop OID = 70000");
    let mut shop = server.connect("shop");
    shop.run("CREATE EXTENSION pg_mint");
    assert!(shop.one::<i64>("SELECT snowflake_next_id(5)") > 0);
}
