//! Gigantic arguments: every function that takes a text, bytes or an array answers soon, and says little of them. The functions
//! are read from the catalog, so that new ones are included.

use mint_cluster::{Rng, Server, Session, count, say};

/// Calls every function once for each of its arguments that can be long, with `content` repeated there, and returns the calls,
/// their times and errors. A value is made once, so that only the call is measured; `base` is what
/// the server itself takes to pass all values on.
const PROBE: &str = r"CREATE FUNCTION pg_temp.probe(content text, size int, which text) RETURNS TABLE (call text, ms float8, length int, message text, base float8)
LANGUAGE plpgsql AS $$
DECLARE
    long text := repeat(content, size / octet_length(content));
    json jsonb := to_jsonb(left(long, 200000000));
    bytes bytea := convert_to(left(long, size / 2), getdatabaseencoding());
    ints int[] := array_fill(1, ARRAY[size / 4]);
    bigints bigint[] := array_fill(1::bigint, ARRAY[size / 8]);
    begun timestamptz; detail text; hint text;
BEGIN
    begun := clock_timestamp();
    EXECUTE 'SELECT octet_length($1), octet_length($2), array_ndims($3), array_ndims($4), jsonb_typeof($5)' USING long, bytes, ints, bigints, json;
    base := extract(epoch FROM clock_timestamp() - begun) * 1000;
    FOR call IN
        SELECT format('%s.%I(%s)', p.pronamespace::regnamespace, p.proname, given.list)
        FROM pg_proc p
        JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
        JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_mint'
        CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS long (kind, place)
        CROSS JOIN LATERAL (
            SELECT string_agg(
                CASE WHEN a.place = long.place THEN CASE a.kind::regtype::text
                    WHEN 'text' THEN '$1' WHEN 'bytea' THEN '$2' WHEN 'integer[]' THEN '$3' WHEN 'bigint[]' THEN '$4'
                    WHEN 'jsonb' THEN '$5'
                    ELSE '$1::' || a.kind::regtype END
                ELSE CASE a.kind::regtype::text
                    WHEN 'text' THEN '''id''::text' WHEN 'regclass' THEN '''plain''::regclass' WHEN 'bytea' THEN '''\x00''::bytea'
                    WHEN 'uuid' THEN 'gen_random_uuid()' WHEN 'interval' THEN '''1 day''::interval' WHEN 'boolean' THEN 'true'
                    WHEN 'integer[]' THEN '''{1}''::int[]' WHEN 'objectid' THEN 'objectid()' WHEN 'jsonb' THEN '''{}''::jsonb'
                    WHEN 'snowflake_layout' THEN '''twitter''::snowflake_layout'
                    WHEN 'timestamp with time zone' THEN 'now()' ELSE '1::' || a.kind::regtype END
                END, ', ' ORDER BY a.place) AS list
            FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (kind, place)
        ) AS given
        WHERE p.prokind = 'f' AND p.proname ~ which AND long.kind::regtype::text = ANY (
            '{text,bytea,name,character varying,integer[],bigint[],jsonb,snowflake_layout,objectid}')
        ORDER BY 1
    LOOP
        message := ''; detail := ''; hint := '';
        begun := clock_timestamp();
        BEGIN
            EXECUTE 'SELECT count(*) FROM ' || call || ' AS x' USING long, bytes, ints, bigints, json;
        EXCEPTION WHEN others OR query_canceled THEN
            GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        END;
        ms := extract(epoch FROM clock_timestamp() - begun) * 1000;
        length := octet_length(message) + octet_length(detail) + octet_length(hint);
        RETURN NEXT;
    END LOOP;
END $$";

/// Digits, letters of every encoding here, names and separators, and what parsers look for.
const CONTENTS: [&str; 10] = [
    "7", "z", "\"", " ", "é", "aé", "_", ",", "time:1 ", "seq_1_to_",
];

/// All functions but the one that raises what it is given, as `RAISE` does.
const ALL: &str = "^(?!refuse$)";

/// Functions whose work is to read all of the argument.
const READERS: &str = "uuid_v[35]";

fn prepare(session: &mut Session) {
    session.run("CREATE TABLE plain (id bigint PRIMARY KEY); CREATE ROLE holder");
    session.run(PROBE);
}

#[track_caller]
fn assert_short_and_quick(
    session: &mut Session,
    content: &str,
    size: usize,
    which: &str,
    most_ms: u32,
) -> i64 {
    let probe = format!("pg_temp.probe($c${content}$c$, {size}, '{which}')");
    session.run(&format!(
        "CREATE TEMP TABLE answers AS SELECT * FROM {probe}"
    ));
    let bad: Vec<String> = session.column(&format!(
        "SELECT format('%s: %s ms, %s bytes: %s', call, ms, length, left(message, 200)) FROM answers
         WHERE length > 1000 OR ms > {most_ms} + 3 * base AND call !~ '{READERS}'"
    ));
    assert!(bad.is_empty(), "{content:?}: {bad:#?}");
    let calls = session.one("SELECT count(*) FROM answers");
    session.run("DROP TABLE answers");
    calls
}

#[test]
fn long_arguments_are_refused_soon_and_in_a_few_words() {
    let server = Server::build("long arguments").alone().start();
    let mut session = server.connect("postgres");
    prepare(&mut session);
    let size = count(20_000_000, 2_000_000);
    for content in CONTENTS {
        let calls = assert_short_and_quick(&mut session, content, size, ALL, 250);
        assert!(calls > 80, "only {calls} calls");
    }
    // Some at their largest: in the short form of one content, at random.
    let largest = count(250_000_000, 200_000_000);
    let mut contents = ["7", "a1"];
    Rng::from_environment().shuffle(&mut contents);
    for content in contents.into_iter().take(count(2, 1)) {
        assert_short_and_quick(
            &mut session,
            content,
            largest,
            "layout_from_text|to_bin|sequence_table|v2|id_inspect|from_text|to_text|typeid|ulid|registry_request",
            400,
        );
    }
    for encoding in ["LATIN1", "EUC_JP", "SQL_ASCII"] {
        let database = encoding.to_lowercase();
        session.run(&format!(
            "CREATE DATABASE {database} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        ));
        let mut other = server.connect(&database);
        other.run("CREATE EXTENSION pg_mint; CREATE TABLE plain (id bigint PRIMARY KEY)");
        other.run(PROBE);
        let letters = if encoding == "EUC_JP" { "aあ" } else { "aé" };
        for content in [letters, "7"] {
            assert_short_and_quick(&mut other, content, size, ALL, 250);
        }
    }
}

/// As above, without a block that catches the errors: what of them the server's log has.
#[test]
fn the_log_does_not_grow_by_the_arguments() {
    let server = Server::start("long arguments in the log");
    let mut session = server.connect("postgres");
    let long = "repeat('7', 20000000)";
    let before = server.log().len();
    for call in [
        "mint.snowflake_layout_from_text(LONG)",
        "uuid_v2(LONG, 1)",
        "uuid_v3(LONG, 'x')",
        "uuid_v5(LONG, 'x')",
        "mint.sequence_table_bounds(LONG)",
        "id_from_text(LONG)",
        "id_to_text(1, LONG)",
        "typeid_uuid(LONG)",
        "ulid_to_uuid(LONG)",
        "segment_create(LONG)",
        "ticket_create(LONG)",
        "user_sequence_create(LONG)",
        "segment_create('s', 1, 1, LONG)",
        "snowflake_next_id(1, LONG)",
    ] {
        let refusal = session.refusal(&format!("SELECT {}", call.replace("LONG", long)));
        let length = refusal.message.len() + refusal.detail.len() + refusal.hint.len();
        assert!(length < 1_000, "{call}: {length} bytes");
    }
    let grown = server.log().len() - before;
    say(format!("the log has grown by {grown} bytes"));
    assert!(grown < 100_000, "{grown} bytes");
}

/// A jsonb of some kilobytes can have megabytes of digits as text, and one of many ranges takes long to parse.
#[test]
fn a_request_to_the_registry_is_no_longer_than_one_of_a_member() {
    let server = Server::start("long requests");
    let mut session = server.connect("postgres");
    for request in [
        "jsonb_build_object('protocol', 1, 'request', 'lease', 'listed',
            (SELECT jsonb_agg(jsonb_build_array(n, n)) FROM generate_series(1, 1000000) n))",
        "(SELECT jsonb_agg('1e131071'::numeric) FROM generate_series(1, 900))",
    ] {
        session.run(&format!(
            "CREATE TEMP TABLE asked AS SELECT {request} AS it"
        ));
        let refusal = session.refusal("SELECT mint.registry_request(it) FROM asked");
        assert_eq!(refusal.code, "54000", "{refusal}");
        assert!(refusal.after.as_millis() < 1_000, "{refusal}");
        session.run("DROP TABLE asked");
    }
}
