//! Databases in other encodings than UTF-8: functions and messages with text beyond ASCII.

use mint_cluster::Server;

/// Databases with their encodings, the client's encoding, a letter in that, and its number of bytes in the database.
/// The last two have bytes that are no UTF-8, and bytes that are.
const STORIES: [(&str, &str, &str, &[u8], usize); 6] = [
    ("latin", "LATIN1", "LATIN1", b"\xe9", 1),
    ("latin_utf8", "LATIN1", "UTF8", "é".as_bytes(), 1),
    ("japanese", "EUC_JP", "EUC_JP", b"\xa4\xa2", 2),
    ("japanese_utf8", "EUC_JP", "UTF8", "あ".as_bytes(), 2),
    ("ascii", "SQL_ASCII", "SQL_ASCII", b"\xe9", 1),
    ("ascii_utf8", "SQL_ASCII", "SQL_ASCII", "é".as_bytes(), 2),
];

/// Statements and their output. `@` is the letter, and `#` the question marks for its bytes in errors of the server itself.
#[rustfmt::skip]
const CALLS: &[(&str, &str)] = &[
    // Counters, by name and with the server's own errors about names.
    ("SELECT segment_create('a@', 100)", "a@"),
    ("SELECT segment_create('a@', 100)", "42P07: relation \"a#\" already exists"),
    ("SELECT segment_create('n@.a', 100)", "3F000: schema \"n#\" does not exist"),
    ("SELECT segment_create('b', 100, NULL, 's@')", "server \"s#\" does not exist"),
    ("SELECT segment_next('a@'), r.* FROM segment_next_range('a@', 2) r", "3|1|2|1"),
    ("SELECT sequence FROM mint.segments ORDER BY 1", "a@"),
    ("CREATE UNLOGGED SEQUENCE \"u@\"; SELECT segment_next('u@')", "unlogged sequence \"u@\""),
    ("CREATE TABLE \"t@\" (id int); SELECT segment_next('t@')", "42809: \"t@\" is not a sequence"),
    ("CREATE SEQUENCE \"e@\" MAXVALUE 2; SELECT segment_next('e@')", "01000: sequence \"e@\" is nearly exhausted"),
    ("SELECT segment_next('e@'); SELECT segment_next('e@')", "2200H: reached maximum value of sequence \"e@\" (2)"),
    (
        "CREATE SEQUENCE \"g@\" START 9223372036854775807; SELECT segment_last('g@')",
        "55000: segment_last of sequence \"g@\" is not yet defined in this session",
    ),
    ("SET ROLE nobody; SELECT segment_next('a@')", "42501: permission denied for sequence a#"),
    ("SET ROLE nobody; DROP SEQUENCE \"a@\"", "42501: must be owner of sequence a@"),
    ("DROP SEQUENCE \"a@\"; SELECT 'gone'", "gone"),
    ("SELECT segment_next('a@')", "42P01: relation \"a@\" does not exist"),
    ("SELECT ticket_create('k@')", "k@"),
    ("SELECT ticket_last('k@')", "55000: ticket_last of sequence \"k@\" is not yet defined in this session"),
    ("SELECT r.*, ticket_last('k@'), ticket_next('k@') FROM ticket_next_range('k@', 2) r", "1|2|1|1|3"),
    ("SELECT ticket_alter('k@', 1, 2, 1)", "has taken tickets of sequence \"k@\" up to 12."),
    ("SELECT ticket_alter('k@', 1, 2, 4000)", "4001"),
    ("SET ROLE nobody; SELECT ticket_last('k@')", "42501: permission denied for sequence k#"),
    ("SET ROLE nobody; SELECT ticket_alter('k@', 1, 2, 9)", "42501: must be owner of sequence k#"),
    ("DROP SEQUENCE \"k@\"; SELECT 'gone'", "gone"),
    ("SELECT user_sequence_create('f@', 2)", "f@"),
    ("SELECT user_sequence_next('f@', 1), user_sequence_current('f@', 1)", "1|1"),
    ("SELECT r.*, user_sequence_next_for_commit('f@', 1) FROM user_sequence_next_range('f@', 1, 2) r", "2|3|1|4"),
    ("SELECT user_sequence_next('t@', 1)", "42809: \"t@\" is not a family of user sequences"),
    ("SET ROLE nobody; SELECT user_sequence_next('f@', 1)", "42501: permission denied for table f#"),
    ("SET ROLE nobody; SELECT user_sequence_next_for_commit('f@', 1)", "42501: permission denied for table f#"),
    ("SELECT user_sequence_create('n@.a')", "3F000: schema \"n#\" does not exist"),
    ("SELECT 'gone', user_sequence_drop('f@')", "gone|"),
    ("INSERT INTO mint.leaf_alloc VALUES ('l@', 1, 10, 'd@')", ""),
    ("SELECT biz_tag, description, segment_next('l@') FROM mint.leaf_alloc WHERE biz_tag = 'l@'", "l@|d@|1"),
    ("INSERT INTO mint.leaf_alloc VALUES ('l@', 1, 10)", "42P07: relation \"l#\" already exists"),
    // Text forms of values.
    ("SELECT id_from_text('2@')", "22P02: invalid base58 id: \"2@\""),
    ("SELECT id_from_text('2@')", "\" is not a base58 digit."),
    ("SELECT id_from_text(repeat('@', 200))", "@@@..."),
    ("SELECT id_to_text(5, 'c@')", "22023: unrecognized encoding: \"c@\""),
    ("SELECT 'y@'::snowflake_layout", "22P02: invalid input syntax for type snowflake_layout: \"y@\""),
    ("SELECT 'time:41 @:5'::snowflake_layout", "snowflake_layout: \"time:41 @:5\""),
    ("SELECT 'o@'::objectid", "22P02: invalid input syntax for type objectid: \"o@\""),
    ("SELECT is_uuid('i@')", "f"),
    ("SELECT uuid_v2('w@', 1)", "22023: unrecognized domain: \"w@\""),
    // Names are hashed as they are stored; version and variant leave the last 6 bytes as they were.
    (
        "SELECT right(uuid_v3('dns', '@')::text, 12) = right(md5(uuid_send('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
             || convert_to('@', getdatabaseencoding())), 12)",
        "t",
    ),
    ("SELECT uuid_v3('x@', 'a')", "\"x@\""),
    ("SELECT uuid_v5('dns', '@') = uuid_v5('dns', '@'), uuid_v5('dns', '@') = uuid_v5('dns', '?')", "t|f"),
    ("SELECT * FROM sequence_table('seq_@')", "\"seq_@\""),
    ("SELECT snowflake_node_from_mac('@')", "22P02: invalid MAC address: \"@\""),
    // The registry.
    (
        "SELECT mint.registry_create(); INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
      VALUES (10, 700, 'h@', 'infinity'); SELECT holder FROM mint.registry_leases",
        "h@",
    ),
    (
        "SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'holder', 'm@', 'width', 10, 'clock', now, 'demand',
      jsonb_build_object('renewal', jsonb_build_object('node', 701, 'number', 1, 'from', now, 'until', now + 20000000)))) #>> '{answer,lease,node}'
      FROM CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS now",
        "701",
    ),
    ("SELECT holder FROM mint.registry_leases WHERE node = 701", "m@"),
    ("ALTER SYSTEM SET pg_mint.own_shards = 'q@'", "q@"),
];

#[test]
fn every_text_and_message_is_in_the_encoding_of_the_database() {
    let server = Server::build("other encodings").preload(true).start();
    let mut wrong = Vec::new();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE nobody");
    for (database, encoding, client, letter, length) in STORIES {
        session.run(&format!(
            "CREATE DATABASE {database} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
        ));
        // A script in the client's encoding, with the extension in a schema whose name has the letter.
        let said = |sql: &str| {
            let script = format!(
                "\\encoding {client}\n\\set VERBOSITY verbose\nSET search_path = \"z@\", public;\n{sql};\n"
            );
            server.psql(database, &with_letter(&script, letter))
        };
        let _ = said(
            "CREATE SCHEMA \"z@\"; GRANT USAGE ON SCHEMA \"z@\" TO nobody; CREATE EXTENSION pg_mint SCHEMA \"z@\"",
        );
        assert_eq!(
            said("SELECT octet_length('@')"),
            format!("{length}\n").into_bytes()
        );
        for (sql, words) in CALLS {
            let said = said(sql);
            // pgrx takes the server's errors for UTF-8.
            let marks = match database {
                "ascii_utf8" => 1,
                _ => length,
            };
            let expected = with_letter(&words.replace('#', &"?".repeat(marks)), letter);
            let is_good = said
                .windows(expected.len().max(1))
                .any(|part| part == expected)
                || expected.is_empty() && said.trim_ascii().is_empty();
            let is_bad = [
                &b"XX000"[..],
                b"invalid byte",
                "\u{fffd}".as_bytes(),
                "ï¿½".as_bytes(),
            ]
            .iter()
            .any(|bad| said.windows(bad.len()).any(|part| part == *bad));
            if !is_good || is_bad {
                wrong.push(format!(
                    "{encoding}, client {client}: {sql}\n  is to say {:?}\n  and says {:?}",
                    String::from_utf8_lossy(&expected),
                    said.escape_ascii().to_string()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        CALLS.len() * STORIES.len(),
        wrong.join("\n")
    );
}

/// Returns a text with the letter in place of each `@`.
fn with_letter(text: &str, letter: &[u8]) -> Vec<u8> {
    text.split('@')
        .map(str::as_bytes)
        .collect::<Vec<_>>()
        .join(letter)
}
