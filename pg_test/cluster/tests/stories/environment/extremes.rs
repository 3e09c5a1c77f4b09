//! Every function with extreme arguments: it returns a value or an error with a proper code, and the session survives.
//! The functions are read from the catalog, so that new ones are included.

use mint_cluster::{Server, Session, count, say};
use std::collections::BTreeSet;

/// A function and the types of its arguments.
pub(crate) struct Function {
    name: String,
    arguments: Vec<String>,
}

/// Texts of the types' values: an ordinary one, then the extremes, with a bar between them.
#[rustfmt::skip]
const VALUES: [(&str, &str); 17] = [
    ("smallint", "1|0|-1|2|16|63|64|65|2147483647|-2147483648"),
    ("integer", "1|0|-1|2|16|63|64|65|2147483647|-2147483648"),
    ("bigint", "1|0|-1|63|64|1024|4294967296|9007199254740993|9223372036854775807|9223372036854775806|-9223372036854775808"),
    ("boolean", "t|f"),
    ("text", TEXTS),
    ("cstring", TEXTS),
    ("bytea", r"\x000102030405060708090a0b0c0d0e0f||\x00|\xffffffffffffffffffffffff|\xffffffffffffffffffffffffffffffff"),
    ("timestamp with time zone", "2026-01-01 00:00Z|infinity|-infinity|epoch|4713-01-01 00:00Z BC|294276-12-31 23:59:59.999999Z\
        |1582-10-14 23:59Z|2106-02-07 06:28:16Z|10889-08-02 05:31:50.655Z"),
    ("timestamp without time zone", "2026-01-01 00:00|infinity|-infinity|epoch|4713-01-01 00:00 BC|294276-12-31 23:59:59.999999"),
    ("date", "2026-01-01|infinity|-infinity|4713-01-01 BC|5874897-12-31"),
    ("interval", "10 s|0|-1 s|1 us|178000000 years|-178000000 years|2147483647 days|-2562047788 hours|infinity|1 month"),
    ("uuid", "01890f0c-7e4a-7cc3-98c4-dc0c0c07398f|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff\
        |c232ab00-9414-11ec-b3c8-9f6bdeced846|000003e8-cbb9-21ea-b201-00045a86c8a1"),
    ("objectid", "507f1f77bcf86cd799439011|000000000000000000000000|ffffffffffffffffffffffff|7fffffff0000000000000000\
        |80000000ffffffffffffffff"),
    ("snowflake_layout", "instagram|sonyflake|time:1 shard:0 seq:1 unit:1us epoch:2020-01-01T00:00:00Z\
        |time:62 shard:0 seq:1 unit:1us epoch:1970-01-01T00:00:00Z|time:63 shard:0 seq:0 unit:1us epoch:2020-01-01T00:00:00Z\
        |time:20 shard:20 seq:20 unit:1000000000s epoch:0001-01-01T00:00:00Z|time:1 shard:62 seq:0 unit:1s epoch:9999-12-31T23:59:59Z\
        |time:41 shard:10 seq:12 unit:1ms epoch:99999999999999999999|time:-1|"),
    ("regclass", "plain|tag|ticket|family|pg_class|0|4294967295|pg_class_oid_index|pg_stats|down|mint.time_ceiling\
        |nothing.like.this|short"),
    ("integer[]", "{1,2}|{}|{NULL}|{1}|{{1,2},{3,4}}|[-5:-4]={7,8}|[2147483646:2147483647]={1,2}|{2147483647,-2147483648}|{1,2,3}"),
    ("bigint[]", "{1}|{}|{NULL}|{{1,2},{3,4}}|[-5:-3]={7,7,8}|[2147483646:2147483646]={1}\
        |{9223372036854775807,-9223372036854775808}"),
];
const TEXTS: &str = "base58|dns|x|| |%s%n%m|\"|a.b.c.d|pg_class|\u{10ffff}é|-1|9223372036854775808\
    |00000000-0000-0000-0000-000000000000|srv";

/// Returns ordinary arguments of a type, then its extremes.
fn values(of: &str) -> Vec<String> {
    let null = format!("NULL::{of}");
    if ["internal", "trigger", "event_trigger"].contains(&of) {
        return Vec::new();
    }
    let Some((_, texts)) = VALUES.iter().find(|(name, _)| *name == of) else {
        say(format!(
            "no values of type {of} are known here: it is tried with NULL alone"
        ));
        return vec![null];
    };
    let cast = |text: &str| format!("'{text}'::{of}");
    let mut all: Vec<String> = texts.split('|').map(cast).chain([null]).collect();
    match of {
        "text" | "cstring" => {
            all.push(format!("(E'\\x01\\x7f'::text)::{of}"));
            let long =
                ["x", "9", "é", "\"", "a."].map(|part| format!("repeat('{part}', 10485760)::{of}"));
            all.extend(long.into_iter().take(count(5, 1)));
        }
        "bytea" => all.push("convert_to(repeat('x', 10485760), 'UTF8')".to_owned()),
        _ => {}
    }
    all
}

/// Returns calls with all extremes of one argument and ordinary others, and with all pairs of the first two arguments.
pub(crate) fn calls(function: &Function) -> Vec<String> {
    let choices: Vec<Vec<String>> = function.arguments.iter().map(|of| values(of)).collect();
    let mut lists: Vec<Vec<&str>> = Vec::new();
    let Some(plain) = choices
        .iter()
        .map(|of| of.first())
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let plain: Vec<&str> = plain.into_iter().map(String::as_str).collect();
    for (place, of) in choices.iter().enumerate() {
        for end in of {
            let mut list = plain.clone();
            list[place] = end;
            lists.push(list);
        }
    }
    if let [first, second, ..] = choices.as_slice() {
        for (one, other) in first
            .iter()
            .flat_map(|one| second.iter().map(move |other| (one, other)))
        {
            // These take long, and are tried separately.
            if [one, other].iter().any(|value| value.starts_with("repeat")) {
                continue;
            }
            let mut list = plain.clone();
            (list[0], list[1]) = (one, other);
            lists.push(list);
        }
        for pick in [0, 1, 2] {
            let end = |of: &'_ Vec<String>| of.len().saturating_sub(1 + pick);
            lists.push(choices.iter().map(|of| of[end(of)].as_str()).collect());
        }
    }
    lists.sort_unstable();
    lists.dedup();
    let call = |list: &Vec<&str>| format!("{}({})", function.name, list.join(", "));
    lists.iter().map(call).collect()
}

/// Returns the extension's functions for which a condition is true.
pub(crate) fn functions(session: &mut Session, which: &str) -> Vec<Function> {
    let all: Vec<String> = session.column(&format!(
        "SELECT concat_ws('|', p.oid::regproc, (SELECT string_agg(format_type(t, NULL), '|' ORDER BY n)
                FROM unnest(proargtypes::oid[]) WITH ORDINALITY a(t, n)))
         FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
         JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'pg_mint'
         WHERE prorettype NOT IN ('trigger'::regtype, 'internal'::regtype) AND {which}
         ORDER BY 1"
    ));
    let parsed = all.iter().map(|line| {
        let mut parts = line.split('|').map(str::to_owned);
        Function {
            name: parts.next().unwrap_or_default(),
            arguments: parts.collect(),
        }
    });
    parsed.collect()
}

/// Returns whether a code stands for an internal error, a lost connection, or a broken server.
pub(crate) fn is_bad(code: &str) -> bool {
    code.is_empty()
        || ["XX", "57P", "53200"]
            .iter()
            .any(|class| code.starts_with(class))
}

pub(crate) fn set_up(server: &Server) {
    server.run(
        "CREATE SEQUENCE plain; SELECT segment_create('tag'); SELECT ticket_create('ticket');
         CREATE SEQUENCE short AS smallint MAXVALUE 3 CACHE 5;
         CREATE SEQUENCE down INCREMENT -9223372036854775808 MINVALUE -9223372036854775808 MAXVALUE -1 CYCLE;
         SELECT user_sequence_create('family', 3)",
    );
}

#[test]
fn every_function_withstands_the_ends_of_its_arguments() {
    let server = Server::build("extremes")
        .conf("pg_mint.max_wait = 0")
        .conf("pg_mint.node = 3")
        .start();
    set_up(&server);
    let postmaster = "SELECT pg_postmaster_start_time()::text";
    let mut session = server.connect("postgres");
    let started: String = session.one(postmaster);
    let all = functions(&mut session, "prokind <> 'p'");
    assert!(all.len() > 120, "only {} functions", all.len());
    let mut bad = Vec::new();
    let mut lines = BTreeSet::new();
    for function in &all {
        // Its changes are rolled back, except for those in shared memory.
        for call in calls(function) {
            // A set can be as large as its arguments say, so only its first rows are fetched.
            let sql = format!(
                "BEGIN; SET LOCAL statement_timeout = '500ms'; SELECT * FROM (SELECT {call} LIMIT 3) t"
            );
            match session.try_run(&sql) {
                Ok(()) => {}
                Err(refusal) if is_bad(&refusal.code) => {
                    bad.push(format!("{call:.300}: {refusal:.300}"));
                    if refusal.is_loss() {
                        session = server.connect("postgres");
                    }
                }
                Err(refusal) => lines.extend(refusal.line),
            }
            session.run("ROLLBACK");
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    // An error shows the place that raised it, not one through which all errors pass.
    assert!(
        lines.len() > 30,
        "errors of {} places: {lines:?}",
        lines.len()
    );
    assert_eq!(
        session.one::<String>(postmaster),
        started,
        "the server was restarted"
    );
    for sign in ["PANIC", "TRAP", "panicked", "was terminated by signal"] {
        assert!(!server.log().contains(sign), "{sign} in the log");
    }
    // Everything still works.
    session.run("SELECT segment_set('tag', 1), segment_set('ticket', 1)");
    assert_eq!(session.one::<i64>("SELECT segment_next('tag')"), 2);
    assert!(session.one::<i64>("SELECT ticket_next('ticket')") > 0);
    assert!(session.one::<i64>("SELECT user_sequence_next('family', 1)") > 0);
    session.run("SELECT uuid_v1(), uuid_v6(), uuid_v7(), objectid()");
}

/// Sends the bytes of a layout to a binary COPY.
fn copy_in(session: &mut Session, value: &[u8]) -> Result<(), String> {
    let mut data = b"PGCOPY\n\xff\r\n\0".to_vec();
    data.extend([0; 8]);
    data.extend(1_i16.to_be_bytes());
    data.extend((value.len() as i32).to_be_bytes());
    data.extend(value);
    data.extend((-1_i16).to_be_bytes());
    session
        .try_copy_in("COPY layout FROM STDIN (FORMAT binary)", &data)
        .map_err(|refusal| {
            assert!(!is_bad(&refusal.code), "{value:02x?}: {refusal}");
            refusal.code
        })
}

/// Malformed binary input is refused, and accepted input is a proper value: it can be printed, read back, minted with and
/// decoded.
#[test]
fn a_malformed_binary_layout_is_refused_or_canonical() {
    let server = Server::build("binary input")
        .conf("pg_mint.max_wait = 0")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE layout (value snowflake_layout)");
    let layouts: Vec<Vec<u8>> =
        session.column("SELECT mint.snowflake_layout_send(layout) FROM snowflake_layouts()");
    let (mut taken, mut refused) = (0, 0);
    let mut put = |session: &mut Session, bytes: &[u8]| match copy_in(session, bytes) {
        Ok(()) => taken += 1,
        Err(_) => refused += 1,
    };
    for good in layouts.iter().take(count(usize::MAX, 3)) {
        for place in 0..good.len() {
            for change in [0x00, 0x01, 0x7f, 0x80, 0xff_u8] {
                let mut bytes = good.clone();
                bytes[place] = change;
                put(&mut session, &bytes);
            }
            put(&mut session, &good[..place]);
        }
        put(&mut session, &[good.as_slice(), &[0]].concat());
    }
    assert!(
        taken > 20 && refused > 100,
        "{taken} taken, {refused} refused"
    );
    let changed: Vec<String> = session.column(
        "SELECT value::text FROM layout WHERE value::text::snowflake_layout <> value
            OR mint.snowflake_layout_send(value::text::snowflake_layout) <> mint.snowflake_layout_send(value)",
    );
    assert_eq!(changed, Vec::<String>::new(), "not the same when read back");
    let all: Vec<String> = session.column("SELECT DISTINCT value::text FROM layout");
    for layout in all {
        for call in [
            "snowflake_next_id(0, $)", "snowflake_decode(-1, $)", "snowflake_max(now(), $)",
        ] {
            let call = format!("SELECT {}", call.replace('$', &format!("'{layout}'")));
            if let Err(refusal) = session.try_run(&call) {
                assert!(!is_bad(&refusal.code), "{call}: {refusal}");
            }
        }
    }
}
