//! Alarms that a role without privileges would like to raise, or to hide.

use mint_cluster::{BUSY, Server, Session};

const ALL_LANES: &str = "SELECT count(snowflake_next_id(i, 'time:41 shard:14 seq:8 unit:1ms epoch:2020-01-01T00:00:00Z'))
    FROM generate_series(0, 16383) i";
const SHORT_LAYOUT: &str =
    "SELECT snowflake_next_id(1, format('time:21 shard:10 seq:12 unit:1s epoch:%s',
    to_char((now() - interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')))";

/// Returns the checks that are critical.
fn critical(session: &mut Session) -> Vec<String> {
    session
        .column("SELECT check_name || ': ' || detail FROM mint.health() WHERE status = 'critical'")
}

/// The role `eve`, which may only connect, uses up the memory that all share, by each family of functions.
#[test]
fn a_role_without_privileges_makes_nothing_critical() {
    let server = Server::start("alarms of others");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE eve LOGIN; CREATE SEQUENCE shared; GRANT USAGE ON SEQUENCE shared TO eve;
         SELECT user_sequence_create('family'); GRANT SELECT, INSERT, UPDATE ON family TO eve",
    );
    let mut eve = server.connect_as("eve", "postgres");
    for sql in [
        ALL_LANES,
        SHORT_LAYOUT,
        "SELECT count(snowflake_next_id(i % 8192)), count(snowflake_next_id(i % 1024, 'twitter')) FROM generate_series(0, 16383) i",
        "SELECT count(snowflake_next_id(1, format('time:41 shard:10 seq:12 unit:1ms epoch:2020-01-01T00:00:%sZ', lpad((i % 60)::text, 2, '0')))) FROM generate_series(0, 59) i",
        "CREATE TEMP SEQUENCE tiny MAXVALUE 40000",
        "SET pg_mint.max_wait = '1h'",
        "SET statement_timeout = '1500ms'",
        // This lane gets as far ahead of the clock as it can.
        "SELECT count(snowflake_next_id(2, 'time:32 shard:10 seq:1 unit:1s epoch:2020-01-01T00:00:00Z')) FROM generate_series(1, 100)",
        "SELECT snowflake_start_above(snowflake_max(now() + interval '1 year', 'twitter'), 'twitter')",
        "SELECT count(snowflake_next_id(3, 'sonyflake')) FROM generate_series(1, 300000)",
        "SELECT snowflake_next('twitter')",
        "SELECT count(segment_next('tiny')) FROM generate_series(1, 40000)",
        "SELECT count(segment_next('shared')) FROM generate_series(1, 40000)",
        "SELECT count(user_sequence_next('family', i)) FROM generate_series(1, 20000) i",
        "SELECT count(uuid_v2(i % 256, i)) FROM generate_series(1, 20000) i",
        "SELECT count(uuid_v7(now() + i * interval '1 year')) FROM generate_series(1, 200) i",
    ] {
        let _ = eve.try_run(sql);
    }
    assert_eq!(critical(&mut session), Vec::<String>::new());
    // The detail names the role of the lanes.
    session.assert_health("memory is warning: Layout \"time:41 shard:14 seq:8");
    session.assert_health("layouts is warning: No default of this database has layout");
}

/// A default is of a role with the privilege to create a table, so an end of its layout is critical. A shared lane is not, as any
/// role can bring it about: it is named.
#[test]
fn what_a_default_needs_is_not_hidden() {
    let server = Server::start("alarms of defaults");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE eve LOGIN; CREATE ROLE owner; CREATE SCHEMA shop AUTHORIZATION owner;
         CREATE TABLE shop.item (id bigint DEFAULT snowflake_next_id(6000), made int); ALTER TABLE shop.item OWNER TO owner",
    );
    session.run(&format!(
        "DO $do$ BEGIN EXECUTE format('CREATE TABLE shop.old (id bigint DEFAULT snowflake_next_id(1, %L))', {}); END $do$",
        "format('time:22 shard:9 seq:12 unit:1s epoch:%s', to_char((now() - interval '40 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))"
    ));
    session.assert_health("layouts is critical: column \"id\" of table shop.old");
    session.assert_health("memory is ok");
    let mut eve = server.connect_as("eve", "postgres");
    eve.run(SHORT_LAYOUT);
    eve.run(ALL_LANES);
    // The view's copies end sooner, and hide nothing.
    session.assert_health("layouts is critical: column \"id\" of table shop.old");
    session.assert_health(
        "memory is warning: column \"id\" of table shop.item of role \"owner\" shares a lane",
    );
    session.run("ALTER TABLE shop.item ALTER id DROP DEFAULT; DROP TABLE shop.old");
    for check in ["memory", "layouts"] {
        assert_eq!(session.health(check), "warning", "{check}");
    }
}

#[test]
fn sequences_of_others_hide_nothing() {
    let server = Server::start("alarms of sequences");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE eve LOGIN; CREATE SCHEMA eve AUTHORIZATION eve; CREATE SEQUENCE invoices MAXVALUE 40000");
    session.run("SELECT count(segment_next('invoices')) FROM generate_series(1, 37000)");
    let mut eve = server.connect_as("eve", "postgres");
    for number in 0..20 {
        let name = format!("eve.tiny{number}");
        eve.run(&format!(
            "CREATE SEQUENCE {name} MAXVALUE 3; SELECT segment_next('{name}') FROM generate_series(1, 3)"
        ));
    }
    session.assert_health("sequences is warning: Sequence \"invoices\" of role \"postgres\"");
    session.assert_health("sequences is warning: of role \"eve\" has used 100 percent");
    session.assert_health("sequences is warning: and 19 more of this role");
    session.run("SELECT count(segment_next('invoices')) FROM generate_series(1, 3000)");
    session.assert_health("sequences is critical: Sequence \"invoices\" of role \"postgres\"");
}

/// The owner of a database may write its ceiling: a dump is restored so.
#[test]
fn a_ceiling_of_another_database_is_a_warning() {
    let server = Server::start("alarms of ceilings");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    for (place, database) in ["eve1", "eve2"].into_iter().enumerate() {
        let mut eve = server.owned_database("eve", database);
        server
            .connect(database)
            .run("CREATE EXTENSION IF NOT EXISTS pg_mint");
        eve.run("SELECT setval('mint.time_ceiling', (extract(epoch FROM now() + interval '1 year') * 1e6)::bigint)");
        eve.refusal("SELECT snowflake_next_id(5)");
        for named in &["eve1", "eve2"][..=place] {
            let words = format!("database \"{named}\"");
            session.assert_health(&format!("clock is warning: {words}"));
        }
        // It is critical in the database that can generate no ids.
        let mut own = server.connect(database);
        let words = format!("database \"{database}\"");
        own.assert_health(&format!("clock is critical: {words}"));
    }
    assert_eq!(critical(&mut session), Vec::<String>::new());
}

/// Returns a layout of seconds that ends that many days from now, or has ended.
fn ending(session: &mut Session, days: i32) -> String {
    session.one(&format!(
        "SELECT format('time:21 shard:9 seq:12 unit:1s epoch:%s', to_char((now() + interval '{days} days' - (1 << 21) * interval '1 second')
             AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))"
    ))
}

/// A role with CREATE on a schema adds columns by the hundred.
#[test]
fn defaults_of_others_hide_nothing() {
    let server = Server::start("alarms of many defaults");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE eve LOGIN; CREATE SCHEMA eve AUTHORIZATION eve; CREATE SCHEMA shop");
    let soon = ending(&mut session, 20);
    session.run(&format!(
        "CREATE TABLE shop.item (id bigint DEFAULT snowflake_next_id(1, '{soon}'))"
    ));
    let mut eve = server.connect_as("eve", "postgres");
    for number in 0..5 {
        let ended = ending(&mut session, number - 4_000);
        eve.run(&format!(
            "CREATE TABLE eve.old{number} (\"a\nb\" bigint DEFAULT snowflake_next_id(1, '{ended}'))"
        ));
    }
    session.assert_health("layouts is critical: table shop.item of role \"postgres\"");
    session.assert_health(
        "layouts is critical: column \"a\\nb\" of table eve.old4 of role \"eve\" has layout",
    );
    session.assert_health("layouts is critical: and 4 more of this role");
    // These defaults are as large as one that is read can be.
    eve.run(
        "DO $$ BEGIN
             FOR many IN 1..7 LOOP
                 EXECUTE (SELECT format('CREATE TABLE eve.large%s (%s)', many, string_agg(format(
                     'c%s bigint DEFAULT snowflake_next_id(%s + length(%L))', i, i, repeat('x', 6500)), ', '))
                     FROM generate_series(1, 200) i);
             END LOOP;
         END $$",
    );
    let busy = format!("SELECT {BUSY}");
    let before: f64 = session.one(&busy);
    session.assert_health("layouts is critical: column defaults were not read");
    let taken = session.one::<f64>(&busy) - before;
    assert!(taken < 3_000.0, "{taken} ms");
    session.assert_health("layouts is critical: table shop.item");
    let lines: Vec<String> =
        session.column("SELECT detail FROM mint.health() WHERE detail ~ '[[:cntrl:]]'");
    assert_eq!(lines, Vec::<String>::new());
    let listed = "SELECT count(*) FROM mint.id_columns WHERE relation::text LIKE '%s.%' AND kind = 'snowflake'";
    let found = ["eve.large", "shop"].map(|name| session.one::<i64>(&listed.replace("%s.", name)));
    assert_eq!(found, [1_400, 1]);
    // A default that was not read can be wrong, and thousands of short ones hide no other.
    session
        .run("DROP TABLE shop.item; DROP TABLE eve.old0, eve.old1, eve.old2, eve.old3, eve.old4");
    session.assert_health("layouts is warning: column defaults were not read");
    eve.run(
        "DO $$ BEGIN
             FOR many IN 1..25 LOOP
                 EXECUTE (SELECT format('CREATE TABLE eve.short%s (%s)', many, string_agg(format(
                     'c%s bigint DEFAULT snowflake_next_id(3)', i), ', ')) FROM generate_series(1, 200) i);
             END LOOP;
         END $$;
         CREATE TABLE eve.bad (id bigint DEFAULT snowflake_next('leaf'))",
    );
    eve.refusal("INSERT INTO eve.bad DEFAULT VALUES");
    session.assert_health("node is critical: table eve.bad of role");
}
