//! Constants in texts that are printed and created again are the same, whatever settings the sessions have that print and read
//! them.

use super::super::shop::{UNTIL_SWAP, gexec};
use mint_cluster::{Server, Session};

const THERE: &str = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
const BACK: &str = "mint.convert_plan('t', 'id', NULL)";

/// All settings that the server prints or reads values by.
const HOSTILE: &str = "SET extra_float_digits = -15; SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Shanghai'; SET IntervalStyle = 'sql_standard';
    SET array_nulls = off; SET bytea_output = 'escape'; SET lc_monetary = 'C'; SET xmloption = document; SET xmlbinary = hex;
    SET quote_all_identifiers = on; SET transform_null_equals = on; SET jit = on";
/// PostgreSQL 19 refuses it.
const NOT_CONFORMING: &str = "SET standard_conforming_strings = off";
const OTHER: &str = "SET extra_float_digits = 0; SET DateStyle = 'German'; SET TimeZone = 'America/New_York'; SET IntervalStyle = 'iso_8601'";

/// One row of each constant that a setting can change, in each kind of object that is created again.
fn make(session: &mut Session) {
    session.run(
        "CREATE TABLE t (id serial PRIMARY KEY, f float8, at timestamptz, day date, span interval, list text[], b bytea, cost money);
         INSERT INTO t (f, at, day, span, list, b, cost) VALUES (0.12345678901234568, '2020-01-01 00:00:00+08', '2020-02-01', '-1 day 02:03:04.5', '{NULL,x}', '\\x005c27ff', 12.34);
         CREATE VIEW v_f AS SELECT id FROM t WHERE f = '0.12345678901234568'::float8 AND f::float4 = '0.12345679'::float4;
         CREATE VIEW v_at AS SELECT id FROM t WHERE at = '2020-01-01 00:00:00+08'::timestamptz;
         CREATE VIEW v_day AS SELECT id FROM t WHERE day = '2020-02-01'::date AND day <@ '[2020-02-01,2020-02-02)'::daterange;
         CREATE VIEW v_span AS SELECT id FROM t WHERE span = '-1 day 02:03:04.5'::interval;
         CREATE VIEW v_list AS SELECT id FROM t WHERE list = '{NULL,x}'::text[];
         CREATE VIEW v_b AS SELECT id FROM t WHERE b = '\\x005c27ff'::bytea;
         CREATE VIEW v_cost AS SELECT id FROM t WHERE cost = '12.34'::money;
         CREATE INDEX ON t (id, (f < '0.12345678901234568'::float8)) WHERE f <= '0.12345678901234568'::float8 AND at < '2020-03-01 12:00:00+00'::timestamptz;
         CREATE STATISTICS s ON (id + 1), (at - '2020-03-01 12:00:00+00'::timestamptz) FROM t;
         ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0 AND f <= '0.12345678901234568'::float8 AND day < '2020-02-03'::date);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
         CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.id > 0 AND NEW.at > '2020-03-01 12:00:00+00'::timestamptz AND NEW.list <> '{NULL,x}'::text[]) EXECUTE FUNCTION note()",
    );
}

/// How many rows each view has, and all definitions without the types of integers.
fn state(server: &Server) -> Vec<String> {
    let mut session = server.connect("postgres");
    let views = "SELECT format('SELECT concat_ws('' '', %L, count(*), pg_get_viewdef(%L)) FROM %I', viewname, viewname, viewname) FROM pg_views WHERE schemaname = 'public' ORDER BY viewname";
    let views: Vec<String> = session.column(views);
    let mut all: Vec<String> = views.iter().map(|view| session.one(view)).collect();
    let others: Vec<String> = session.column(
        "SELECT x FROM (
             SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
             UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'c'
             UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal
             UNION ALL SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext
         ) AS all_of_it (x) ORDER BY x COLLATE \"C\"",
    );
    let others = others.iter().filter(|one| !one.contains("mint_"));
    all.extend(others.map(|one| one.replace("(1)::bigint", "1").replace("(0)::bigint", "0")));
    all
}

/// The plan is printed by one session and run by another one, each with its own settings; there, and back.
#[test]
fn constants_stay_whatever_sessions_set() {
    let server = Server::start("settings of sessions");
    make(&mut server.connect("postgres"));
    let before = state(&server);
    assert_eq!(before.iter().filter(|one| one.starts_with("v_")).count(), 7);
    assert!(
        before
            .iter()
            .all(|one| !one.starts_with("v_") || one.contains(" 1 ")),
        "{before:?}"
    );
    for (plan, condition) in [
        (THERE, UNTIL_SWAP),
        (BACK, UNTIL_SWAP),
        (BACK, "true"),
        (THERE, "true"),
    ] {
        let mut prints = server.connect("postgres");
        prints.run(OTHER);
        let commands: Vec<String> = prints.column(&format!(
            "SELECT command FROM {plan} WHERE command IS NOT NULL AND {condition} ORDER BY step"
        ));
        let mut reads = server.connect("postgres");
        reads.run(HOSTILE);
        if reads.try_run(NOT_CONFORMING).is_err() {
            reads.run("SET standard_conforming_strings = on");
        }
        let settings = "SELECT concat(current_setting('search_path'), string_agg(name || ' ' || setting, ', ' ORDER BY name)) FROM pg_settings WHERE source = 'session' AND name NOT IN ('search_path', 'role')";
        let had: String = reads.one(settings);
        commands.iter().for_each(|command| reads.run(command));
        assert_eq!(reads.one::<String>(settings), had, "{plan}");
        assert_eq!(state(&server), before, "{plan} {condition}");
    }
}

fn set_for_role(session: &mut Session) {
    for setting in HOSTILE.split(';') {
        session.run(&format!("ALTER ROLE postgres {setting}"));
    }
    let _ = session.try_run(&format!("ALTER ROLE postgres {NOT_CONFORMING}"));
}

/// The same in psql, with the settings of the role.
#[test]
fn constants_stay_whatever_a_role_sets() {
    let server = Server::start("settings of a role");
    let mut session = server.connect("postgres");
    make(&mut session);
    let before = state(&server);
    set_for_role(&mut session);
    let clean = || {
        let mut session = server.connect("postgres");
        session.run("ALTER ROLE postgres RESET ALL");
        let after = state(&server);
        set_for_role(&mut session);
        after
    };
    gexec(&server, THERE, UNTIL_SWAP);
    assert_eq!(clean(), before);
    gexec(&server, BACK, UNTIL_SWAP);
    assert_eq!(clean(), before);
    gexec(&server, BACK, "true");
    gexec(&server, THERE, "true");
    assert_eq!(clean(), before);
}

/// A type can print a value that it reads as another: what has one is refused before the first step, and where a text cannot be
/// parsed before, by the swap.
#[test]
fn constants_that_are_read_as_others_are_refused() {
    let server = Server::start("lossy constants");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TYPE lossy;
         CREATE FUNCTION lossy_in(cstring) RETURNS lossy LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
         CREATE FUNCTION lossy_out(lossy) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
         CREATE TYPE lossy (INPUT = lossy_in, OUTPUT = lossy_out);
         CREATE TABLE t (id serial PRIMARY KEY, name text);
         CREATE VIEW v AS SELECT id, '\\x5c5c'::lossy AS two FROM t",
    );
    let found: Vec<String> =
        session.column(&format!("SELECT coalesce(note, command) FROM {THERE}"));
    let expected = "blocker: view public.v would not mean the same when it is created again.";
    assert!(
        found.len() == 1 && found[0].starts_with(expected),
        "{found:?}"
    );
    session.run(
        "DROP VIEW v; CREATE VIEW v AS SELECT id, name, '\\x5c5c'::lossy AS two FROM t GROUP BY id",
    );
    let script = format!(
        "\\set ON_ERROR_STOP 1\nSELECT command FROM {THERE} WHERE command IS NOT NULL ORDER BY step \\gexec\n"
    );
    let said = server.psql("postgres", script.as_bytes());
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.contains("view public.v would not mean the same as before"),
        "{said}"
    );
    let two: bool = session.one("SELECT pg_get_viewdef('v') LIKE '%GROUP BY%' AND pg_typeof(id)::text = 'integer' FROM (SELECT max(id) AS id FROM t) AS one");
    assert!(two);
}
