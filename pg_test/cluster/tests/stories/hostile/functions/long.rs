//! Gigantic arguments: every function that takes a text, bytes, an array or JSON answers soon, and says little of them.

use super::table::{Function, functions, relations, set_up};
use mint_cluster::{BUSY, Rng, Server, Session, count, say};

/// Runs calls, whose parameters are `content` repeated as a text, bytes, arrays of integers and JSON, and returns the time of the
/// processor that each takes, by [`BUSY`], and the length of its error. A value is made once, so that only the
/// call is measured; `base` is what the server itself takes to pass all values on.
const PROBE: &str = r"CREATE FUNCTION pg_temp.probe(content text, size int, calls text[]) RETURNS TABLE (call text, ms float8, length int, message text, base float8)
LANGUAGE plpgsql AS $$
DECLARE
    long text := repeat(content, size / octet_length(content));
    json jsonb := to_jsonb(left(long, 200000000));
    bytes bytea := convert_to(left(long, size / 2), getdatabaseencoding());
    ints int[] := array_fill(1, ARRAY[size / 4]);
    bigints bigint[] := array_fill(1::bigint, ARRAY[size / 8]);
    begun float8; detail text; hint text;
BEGIN
    begun := BUSY;
    EXECUTE 'SELECT octet_length($1), octet_length($2), array_ndims($3), array_ndims($4), jsonb_typeof($5)' USING long, bytes, ints, bigints, json;
    base := BUSY - begun;
    FOREACH call IN ARRAY calls LOOP
        message := ''; detail := ''; hint := '';
        begun := BUSY;
        BEGIN
            EXECUTE 'SELECT count(*) FROM ' || call || ' AS x' USING long, bytes, ints, bigints, json;
        EXCEPTION WHEN others OR query_canceled THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        END;
        ms := BUSY - begun;
        length := octet_length(message) + octet_length(detail) + octet_length(hint);
        RETURN NEXT;
    END LOOP;
END $$";

/// Digits, letters of every encoding here, names and separators, and what parsers look for.
const CONTENTS: [&str; 10] = [
    "7", "z", "\"", " ", "é", "aé", "_", ",", "time:1 ", "seq_1_to_",
];

/// Functions whose work is to read all of the argument.
const READERS: &str = "uuid_v[35]";

/// Returns the calls with one long argument. `mint.refuse` raises what it is given, as RAISE does, and `mint.partition_time` makes a
/// bigint of it, as a cast does.
fn calls(session: &mut Session) -> Vec<String> {
    let all = functions(
        session,
        "prokind = 'f' AND proname NOT IN ('refuse', 'partition_time')",
    );
    let calls: Vec<String> = all.iter().flat_map(Function::long).collect();
    assert!(calls.len() > 80, "only {} calls", calls.len());
    calls
}

/// A call that was too slow is tried again, as other work of the machine slows its processors.
#[track_caller]
fn assert_short_and_quick(
    session: &mut Session,
    content: &str,
    size: usize,
    calls: &[String],
    most_ms: u32,
) {
    let mut calls = calls.to_vec();
    for _ in 0..3 {
        let list = calls.join("$c$, $c$");
        calls = session.column(&format!(
            "SELECT format('%s /* %s ms, %s bytes: %s */', call, ms, length, left(message, 200))
             FROM pg_temp.probe($c${content}$c$, {size}, ARRAY[$c${list}$c$])
             WHERE length > 1000 OR ms > {most_ms} + 3 * base AND call !~ '{READERS}'"
        ));
        if calls.is_empty() {
            return;
        }
    }
    panic!("{content:?}: {calls:#?}");
}

#[test]
fn long_arguments_are_refused_soon_and_in_a_few_words() {
    let server = Server::start("long arguments");
    set_up(&server);
    let mut session = server.connect("postgres");
    session.run(&PROBE.replace("BUSY", BUSY));
    let all = calls(&mut session);
    let size = count(20_000_000, 2_000_000);
    for content in CONTENTS {
        assert_short_and_quick(&mut session, content, size, &all, 250);
    }
    // Some at their largest: in the short form of one content, at random.
    let largest = count(250_000_000, 200_000_000);
    let mut contents = ["7", "a1"];
    Rng::from_environment().shuffle(&mut contents);
    let names = [
        "layout_from_text", "to_bin", "sequence_table", "v2", "id_inspect", "from_text", "to_text",
        "typeid", "ulid", "registry_request",
    ];
    let is_one = |call: &&String| names.iter().any(|name| call.contains(name));
    let some: Vec<String> = all.iter().filter(is_one).cloned().collect();
    for content in contents.into_iter().take(count(2, 1)) {
        assert_short_and_quick(&mut session, content, largest, &some, 400);
    }
    for encoding in ["LATIN1", "EUC_JP", "SQL_ASCII"] {
        let database = encoding.to_lowercase();
        session.run(&format!(
            "CREATE DATABASE {database} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        ));
        let mut other = server.connect(&database);
        other.run("CREATE EXTENSION pg_mint");
        other.run(&relations("public", "public").join(";\n"));
        other.run(&PROBE.replace("BUSY", BUSY));
        let letters = if encoding == "EUC_JP" { "aあ" } else { "aé" };
        for content in [letters, "7"] {
            assert_short_and_quick(&mut other, content, size, &all, 250);
        }
    }
}

/// As above, without a block that catches the errors: what of them the server's log has.
#[test]
fn the_log_does_not_grow_by_the_arguments() {
    let server = Server::start("long arguments in the log");
    set_up(&server);
    let mut session = server.connect("postgres");
    let before = server.log().len();
    let mut refused = 0;
    for call in calls(&mut session) {
        if call.contains("$1") {
            let call = call.replace("$1", "repeat('7', 20000000)");
            if let Err(refusal) = session.try_run(&format!("SELECT count(*) FROM {call} AS x")) {
                let length = refusal.message.len() + refusal.detail.len() + refusal.hint.len();
                assert!(length < 1_000, "{call}: {length} bytes");
                refused += 1;
            }
        }
    }
    assert!(refused > 40, "only {refused} calls were refused");
    let grown = server.log().len() - before;
    say(format!("the log has grown by {grown} bytes"));
    assert!(grown < 100_000, "{grown} bytes");
}
