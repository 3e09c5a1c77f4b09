//! Each pure function of the file answers as the extension does.

use super::FILE;
use mint_cluster::{Rng, Server, count, say};

/// Makes arguments, and calls both sides with each of them.
const GENERATOR: &str = include_str!("generator.sql");

/// Results, SQLSTATEs, messages, details and hints are the same, for as many arguments of each function as
/// `MINT_ARGUMENTS` says.
#[test]
fn pure_functions_answer_as_the_extension_does() {
    let arguments = std::env::var("MINT_ARGUMENTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| count(20_000, 1_500));
    let seed = Rng::from_environment().below(1_000_000);
    let server = Server::start("equal functions");
    let mut session = server.connect("postgres");
    session.run(&format!("BEGIN; {FILE} COMMIT; {GENERATOR}"));
    let missing: Vec<String> = session.column("SELECT function::text FROM eq.not_called");
    assert!(missing.is_empty(), "not compared: {missing:?}");
    session.run(&format!("SELECT eq.fill({seed} / 1000000.0, {arguments})"));
    session.run("SELECT eq.make('ours', 'mint_sql'), eq.make('theirs', 'public')");
    // Sessions from before a declaration parse the layout. A machine with two cores runs two at once.
    std::thread::scope(|scope| {
        for part in 0..2 {
            let mut session = server.connect("postgres");
            scope.spawn(move || {
                // The zone of a session can have an abbreviation that PostgreSQL 18 takes for UTC.
                session.run(&format!(
                    "SET jit = off; SET timezone = 'UTC+3'; SELECT eq.run({part}, 2)"
                ));
            });
        }
    });
    let differences: Vec<String> = session.column(
        "SELECT format(E'%s of %s\\nin SQL:    %s\\nextension: %s', name, argument, ours, theirs) FROM eq.difference LIMIT 5",
    );
    assert!(
        differences.is_empty(),
        "seed {seed}:\n{}",
        differences.join("\n\n")
    );
    // The generator still makes arguments that say something.
    let calls: i64 = session.one("SELECT sum(calls)::bigint FROM eq.tally");
    let errors: i64 = session.one("SELECT sum(errors)::bigint FROM eq.tally");
    assert!(
        errors * 50 > calls && errors * 2 < calls,
        "{errors} errors of {calls} calls"
    );
    let idle: Vec<String> = session
        .column("SELECT name FROM eq.tally WHERE errors = calls OR name ~ '^(encode|decode|time|layout|id_from_text)$' AND errors = 0");
    assert!(idle.is_empty(), "these say nothing: {idle:?}");
    say(format!(
        "{calls} calls of each side, {errors} with an error: all the same"
    ));
}

/// Arguments have the same names, types and defaults, and results the same types.
#[test]
fn signatures_are_the_same() {
    let server = Server::start("equal signatures");
    let mut session = server.connect("postgres");
    session.run(&format!("BEGIN; {FILE} COMMIT"));
    let shown = |schema: &str| {
        format!(
            "SELECT regexp_replace(concat_ws(' ', proname, '(' || pg_get_function_arguments(p.oid) || ')', pg_get_function_result(p.oid), proisstrict),
                 '{schema}[.]|(?<='')::(text|snowflake_layout)', '', 'g')
             FROM pg_proc AS p WHERE pronamespace = '{schema}'::regnamespace"
        )
    };
    // The extension has another function for the shard alone, and those that only its planner needs in another schema.
    let extension = shown("public").replace("= 'public'::regnamespace", "IN ('public'::regnamespace, 'mint'::regnamespace)").replace(
        "pg_get_function_arguments(p.oid)",
        r"regexp_replace(pg_get_function_arguments(p.oid), '^(shard integer, layout \w+)$', '\1 DEFAULT ''instagram''')",
    );
    let differences: Vec<String> = session.column(&format!(
        "{} AND obj_description(p.oid, 'pg_proc') NOT LIKE 'Internal: %' AND proname <> 'shard_create' EXCEPT {} ORDER BY 1",
        shown("mint_sql"),
        extension,
    ));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Texts of hundreds of megabytes, of which a regular expression would need four times as much, have the same SQLSTATEs.
#[test]
fn huge_texts_are_refused_alike() {
    let server = Server::start("equal huge texts");
    let mut session = server.connect("postgres");
    session.run(&format!("BEGIN; {FILE} COMMIT"));
    session.run(
        "CREATE FUNCTION outcomes(calls text[], t text) RETURNS TABLE (outcome text) LANGUAGE plpgsql AS $$
         DECLARE
             call text;
         BEGIN
             FOREACH call IN ARRAY calls LOOP
                 BEGIN
                     EXECUTE format('SELECT (%s)::text', replace(call, '@', '$1')) INTO outcome USING t;
                 EXCEPTION WHEN OTHERS THEN
                     outcome := concat_ws(': ', SQLSTATE, SQLERRM);
                 END;
                 outcome := concat_ws(' -> ', call, outcome);
                 RETURN NEXT;
             END LOOP;
         END $$",
    );
    let calls = [
        "typeid_check(@, 'user')",
        "typeid_check('user_01h455vb4pex5vsknk084sn02q', @)",
        "typeid_prefix(@)",
        "ulid_time(@)",
        "id_from_text(@, 'crockford-check')",
        "id_from_text(@, 'hex')",
        "id_to_text(7, @)",
        "@::snowflake_layout",
    ]
    .map(|call| call.replace('\'', "''"))
    .join("', '");
    let mut outcomes = |path: &str| {
        session.run(&format!("SET search_path = {path}, public"));
        session.column::<String>(&format!(
            "SELECT outcome FROM public.outcomes(ARRAY['{calls}'], repeat('u', 270000000))"
        ))
    };
    let ours = outcomes("mint_sql");
    assert_eq!(ours.len(), 8);
    assert_eq!(ours, outcomes("public"));
}

/// The text of a built-in layout has the fields that its name has.
#[test]
fn names_and_definitions_of_layouts_are_the_same() {
    let server = Server::start("equal layouts");
    let mut session = server.connect("postgres");
    session.run(&format!("BEGIN; {FILE} COMMIT"));
    let wrong: Vec<String> = session.column(
        "SELECT name FROM mint_sql.snowflake_layouts() WHERE mint_sql.layout_fields(name) <> mint_sql.layout_parse(definition)
         UNION ALL SELECT o.name FROM mint_sql.snowflake_layouts() AS o FULL JOIN public.snowflake_layouts() AS t USING (name)
         WHERE (o.bits, o.unit, o.epoch, o.shards, o.ids_per_second, o.first_invalid, o.expired, o.definition)
            IS DISTINCT FROM (t.bits, t.unit, t.epoch, t.shards, t.ids_per_second, t.first_invalid, t.expired, t.definition)",
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}
