//! Every kind of statement, setting and table: no value is returned twice, and immutable calls return the same.

use crate::hostile::functions::table::{functions, is_bad};
use mint_cluster::{Refusal, Server, Session, assert_unique, count};

#[test]
fn every_kind_of_statement_returns_each_value_once() {
    let server = Server::start("kinds of statements");
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('tag', 50); SELECT user_sequence_create('family', 4, 10)");
    let rows = count(40_000, 8_000);
    for call in [
        "snowflake_next_id(7)",
        "segment_next('tag')",
        "user_sequence_next('family', 3)",
    ] {
        session.run(&format!(
            "DROP TABLE IF EXISTS drawn, source, merged;
             CREATE TABLE drawn (n bigint DEFAULT {call}, what text);
             CREATE TABLE merged (what int, n bigint DEFAULT {call});
             CREATE TABLE source AS SELECT g, {call} AS n FROM generate_series(1, {rows}) g;
             INSERT INTO merged (what) SELECT generate_series(1, 500);
             ALTER TABLE source SET (parallel_workers = 3); ANALYZE source"
        ));
        let mut all = draw_in_workers(&mut session, call);
        insert_in_every_way(&mut session, call);
        all.extend(draw_by_cursors(&mut session, call));
        for table in ["drawn", "merged", "source"] {
            all.extend(session.column::<i64>(&format!("SELECT n FROM {table}")));
        }
        session.run(&format!("PREPARE p AS SELECT {call}"));
        for _ in 0..20 {
            all.extend(session.column::<i64>("EXECUTE p"));
        }
        session.run("DEALLOCATE p");
        let count = all.len();
        assert!(count > 2 * rows as usize + 4_000, "only {count} of {call}");
        assert_unique([&all]);
    }
}

fn draw_in_workers(session: &mut Session, call: &str) -> Vec<i64> {
    session.run(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
         SET max_parallel_workers_per_gather = 3",
    );
    let draw = format!("SELECT {call} FROM source");
    let plan = session.explain(&draw);
    assert!(
        plan.contains("Workers Planned"),
        "{call} is not drawn by workers:\n{plan}"
    );
    session.column(&draw)
}

/// Inserts by COPY with a column default, MERGE, a recursive and a lateral query, and subtransactions.
fn insert_in_every_way(session: &mut Session, call: &str) {
    let lines: String = (0..1_000).map(|line| format!("copied {line}\n")).collect();
    session
        .try_copy_in("COPY drawn (what) FROM STDIN", lines.as_bytes())
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    for sql in [
        &format!(
            "MERGE INTO merged m USING (SELECT g FROM source WHERE g <= 1000) s ON m.what = s.g
             WHEN MATCHED AND g % 2 = 0 THEN UPDATE SET n = {call} WHEN NOT MATCHED THEN INSERT (what) VALUES (g)"
        ),
        &format!("WITH RECURSIVE r(n, d) AS (SELECT {call}, 1 UNION ALL SELECT {call}, d + 1 FROM r WHERE d < 500)
            INSERT INTO drawn SELECT n, 'recursive' FROM r"),
        &format!("INSERT INTO drawn SELECT (SELECT {call} WHERE g > 0), 'lateral' FROM generate_series(1, 500) g"),
        "DO $$ BEGIN FOR i IN 1..300 LOOP BEGIN INSERT INTO drawn (what) VALUES ('kept');
            INSERT INTO drawn (what) VALUES ('lost'); IF i % 3 = 0 THEN RAISE 'undone'; END IF;
            EXCEPTION WHEN raise_exception THEN INSERT INTO drawn (what) VALUES ('after'); END; END LOOP; END $$",
    ] {
        session.run(sql);
    }
}

fn draw_by_cursors(session: &mut Session, call: &str) -> Vec<i64> {
    session.run(&format!(
        "BEGIN; DECLARE held CURSOR WITH HOLD FOR SELECT {call} FROM generate_series(1, 500);
         DECLARE plain SCROLL CURSOR FOR SELECT {call} FROM generate_series(1, 500)"
    ));
    let mut all = Vec::new();
    for fetch in [
        "FETCH 200 FROM plain", "FETCH 100 FROM held", "FETCH ALL FROM plain",
    ] {
        all.extend(session.column::<i64>(fetch));
    }
    session.run("COMMIT");
    all.extend(session.column::<i64>("FETCH ALL FROM held"));
    session.run("CLOSE held");
    all
}

/// Before the library is loaded, the server accepts any value of its settings from any role. When the library is loaded,
/// values that are out of range or that the role may not set are dropped.
#[test]
fn settings_from_before_the_library_are_not_taken() {
    let server = Server::start("placeholders");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE app LOGIN; LOAD 'pg_mint'");
    let settings: Vec<String> = session.column(
        "SELECT format('%s=%s=%s=%s', name, current_setting(name), context, vartype) FROM pg_settings WHERE name LIKE 'pg\\_mint.%'",
    );
    assert!(settings.len() > 10, "{settings:?}");
    for setting in settings {
        let [name, before, context, kind] = setting.split('=').collect::<Vec<_>>()[..] else {
            panic!("{setting}");
        };
        let values = match (context, kind) {
            // Any string is a valid value of these.
            ("user", "string") => continue,
            ("user", _) => ["-2", "nonsense"],
            (_, "string") => ["5", "x"],
            (_, "enum") => ["mac", "nonsense"],
            _ => ["64", "nonsense"],
        };
        for value in values {
            let mut app = server.connect_as("app", "postgres");
            app.run(&format!("SET {name} = '{value}'"));
            app.run("SELECT uuid_v7()");
            assert_eq!(
                app.one::<String>(&format!("SHOW {name}")),
                before,
                "{name} = {value}"
            );
        }
    }
}

/// Immutable functions return the same in every session, however it displays times and bytes. Settings of how literals are
/// read, as array_nulls, are left out: they change what a function gets.
#[test]
fn immutable_functions_know_no_settings() {
    let server = Server::start("immutable");
    let mut session = server.connect("postgres");
    let others = "SET LOCAL TimeZone = 'Pacific/Apia'; SET LOCAL DateStyle = 'SQL, DMY'; SET LOCAL IntervalStyle = 'sql_standard';
        SET LOCAL bytea_output = 'escape'; SET LOCAL extra_float_digits = -5; SET LOCAL standard_conforming_strings = on;
        SET LOCAL search_path = pg_temp, pg_catalog, public; SET LOCAL xmloption = 'document'";
    let reset = "RESET ALL";
    let (mut compared, mut different) = (0, Vec::new());
    for function in functions(&mut session, "provolatile = 'i' AND prokind = 'f'") {
        let calls = function.ends();
        for call in calls
            .iter()
            .filter(|call| call.len() < 400)
            .step_by(count(1, 5))
        {
            let [one, two] =
                ["", others].map(|settings| outcome(&mut session, call, settings, reset));
            compared += 1;
            if one != two {
                different.push(format!("{call}: {one:?} and {two:?}"));
            }
        }
    }
    assert!(compared > 300);
    assert!(different.is_empty(), "{}", different.join("\n"));
    // The comparison does find functions that depend on the settings.
    let [one, two] =
        ["", others].map(|settings| outcome(&mut session, "now()::date::text", settings, reset));
    assert_ne!(one, two);
}

/// Returns the result of a call under some settings, printed under others, or the code of its error.
fn outcome(
    session: &mut Session,
    call: &str,
    settings: &str,
    show: &str,
) -> Result<String, String> {
    let code = |refusal: Refusal| refusal.code;
    session.run("BEGIN");
    let made = session.try_run(&format!(
        "{settings}; CREATE TEMP TABLE outcome AS SELECT {call} AS value LIMIT 3"
    ));
    let shown = made.and_then(|()| session.try_run(show)).and_then(|()| {
        session.try_one(
            "SELECT coalesce(md5(string_agg(o::text, '|')), 'nothing') FROM pg_temp.outcome o",
        )
    });
    session.run("ROLLBACK");
    shown.map_err(code)
}

/// On another table than Leaf's view, its trigger function is refused or works, and never ends the session.
#[test]
fn leafs_trigger_on_any_table_is_harmless() {
    let server = Server::start("leaf's trigger");
    let mut session = server.connect("postgres");
    let tables = [
        "CREATE TABLE t (biz_tag text, max_id bigint, step int, description text, update_time timestamptz)",
        "CREATE TABLE t (biz_tag int, max_id text, step bytea, description point, update_time json)",
        "CREATE TABLE t (biz_tag int[], max_id text[], step numeric, description oid, update_time bool)",
        "CREATE TABLE t (gone int, biz_tag text, max_id bigint, gone2 text, step int); ALTER TABLE t DROP gone, DROP gone2",
        "CREATE TABLE t ()",
        "CREATE TABLE t (step int, max_id bigint, biz_tag varchar(3), other text DEFAULT 'x')",
        "CREATE TABLE t (biz_tag text, max_id bigint, step int) PARTITION BY LIST (step); CREATE TABLE p PARTITION OF t DEFAULT",
        "CREATE TABLE t (biz_tag text GENERATED ALWAYS AS ('x') STORED, max_id bigint DEFAULT 9223372036854775807, step int DEFAULT -1)",
    ];
    let events = [
        "BEFORE INSERT ON t FOR EACH ROW",
        "AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW",
        "BEFORE UPDATE OR DELETE ON t FOR EACH ROW",
        "BEFORE INSERT OR UPDATE OR DELETE ON t FOR EACH STATEMENT",
        "AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH STATEMENT",
        "BEFORE TRUNCATE ON t",
        "AFTER INSERT ON t REFERENCING NEW TABLE AS n FOR EACH STATEMENT",
    ];
    let (mut fired, mut refused) = (0, 0);
    for table in tables {
        for event in events {
            session.run("BEGIN");
            session.run(table);
            session.run("ALTER TABLE t ADD pad int; INSERT INTO t DEFAULT VALUES");
            let mut tried = |session: &mut Session, sql: &str| {
                session.run("SAVEPOINT here");
                match session.try_run(sql) {
                    Ok(()) => fired += 1,
                    Err(refusal) => {
                        refused += 1;
                        assert!(!is_bad(&refusal.code), "{table}; {event}; {sql}: {refusal}");
                        session.run("ROLLBACK TO here");
                    }
                }
            };
            tried(
                &mut session,
                &format!(
                    "CREATE TRIGGER evil {event} EXECUTE FUNCTION mint.leaf_alloc_change('x', 'y')"
                ),
            );
            for sql in [
                "INSERT INTO t DEFAULT VALUES",
                "INSERT INTO t SELECT FROM generate_series(1, 3)",
                "UPDATE t SET pad = 1",
                "DELETE FROM t",
                "TRUNCATE t",
            ] {
                tried(&mut session, sql);
            }
            session.run("ROLLBACK");
        }
    }
    let refusal = session.refusal("SELECT mint.leaf_alloc_change()");
    assert!(!refusal.is_loss(), "{refusal}");
    assert!(
        fired > 50 && refused > 20,
        "{fired} did something, {refused} were refused"
    );
    session.run("INSERT INTO mint.leaf_alloc (biz_tag, step) VALUES ('tag', 10)");
    assert_eq!(session.one::<i64>("SELECT segment_next('tag')"), 1);
}

/// For every kind of sequence, segments return what `nextval` returns, up to the same end.
#[test]
fn odd_sequences_give_what_nextval_gives() {
    let server = Server::start("odd sequences");
    let mut session = server.connect("postgres");
    let (least, most) = (i64::MIN, i64::MAX);
    let odd = [
        "CYCLE MAXVALUE 3".to_owned(),
        "INCREMENT -1 MINVALUE -3 MAXVALUE 2 START 1 CYCLE CACHE 4".to_owned(),
        "INCREMENT 7 MAXVALUE 20 CYCLE".to_owned(),
        format!("INCREMENT {most}"),
        format!("INCREMENT {most} MINVALUE {least} START {least}"),
        format!("INCREMENT {least} MINVALUE {least} MAXVALUE {most} START {most}"),
        format!("INCREMENT {least} MINVALUE {least} CYCLE"),
        format!("INCREMENT {most} MINVALUE {least} START {least} CYCLE CACHE 10"),
        format!("MINVALUE {least} START {least}"),
        format!("START {}", most - 3),
        format!("INCREMENT -1 MINVALUE {least} START {}", least + 3),
        "AS smallint START 32760 CACHE 100".to_owned(),
        "AS smallint INCREMENT -32767 MAXVALUE 32767 START 32767".to_owned(),
        "AS integer START 2147483640".to_owned(),
        "MINVALUE 1 MAXVALUE 2".to_owned(),
        "MINVALUE 5 MAXVALUE 6 START 6 CYCLE CACHE 9".to_owned(),
        "INCREMENT 1000000 MAXVALUE 3000000 CACHE 1000".to_owned(),
    ];
    for options in odd {
        session.run("DROP SEQUENCE IF EXISTS ours, theirs");
        session.run(&format!(
            "CREATE SEQUENCE ours {options}; CREATE SEQUENCE theirs {options}"
        ));
        for draw in 0..25 {
            let [ours, theirs] = ["segment_next('ours')", "nextval('theirs')"].map(|call| {
                session
                    .try_one::<i64>(&format!("SELECT {call}"))
                    .map_err(|refusal| refusal.code)
            });
            assert_eq!(ours, theirs, "{options}, draw {draw}");
        }
    }
    // Temporary and unlogged sequences are refused.
    for kind in ["UNLOGGED", "TEMP"] {
        session.run(&format!("CREATE {kind} SEQUENCE fleeting"));
        let refusal = session.refusal("SELECT segment_next('fleeting')");
        assert!(!is_bad(&refusal.code), "{refusal}");
        session.run("DROP SEQUENCE fleeting");
    }
    // The greatest number of servers.
    session.run("SELECT ticket_create('last', server => 2147483647, servers => 2147483647)");
    let tickets: Vec<i64> = session.column("SELECT ticket_next('last') FROM generate_series(1, 3)");
    assert!(
        tickets.iter().all(|ticket| ticket % 2_147_483_647 == 0),
        "{tickets:?}"
    );
}
