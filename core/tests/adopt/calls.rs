//! Defaults as the server writes them.

use mint_core::adopt::call::{Call, literal};

/// A function and its arguments.
type Read<'a> = Option<(&'a str, Vec<&'a str>)>;

fn read(expression: &str) -> Read<'_> {
    Call::read(expression).map(|call| (call.function, call.arguments()))
}

#[test]
fn a_default_is_one_call_or_something_else() {
    let twitter = "'twitter'::ids.snowflake_layout";
    #[rustfmt::skip]
    let cases = [
        ("gen_random_uuid()", Some(("gen_random_uuid", vec![]))),
        (
            "(gen_random_uuid())::text",
            Some(("gen_random_uuid", vec![])),
        ),
        (
            "((public.f(1))::text)::character varying(20)",
            Some(("public.f", vec!["1"])),
        ),
        (
            "ids.snowflake_next_id(5)",
            Some(("ids.snowflake_next_id", vec!["5"])),
        ),
        (
            "ids.snowflake_next_id('-5'::integer, 'twitter'::ids.snowflake_layout)",
            Some(("ids.snowflake_next_id", vec!["'-5'::integer", twitter])),
        ),
        (
            "\"My (ids\".snowflake_next_id(5)",
            Some(("\"My (ids\".snowflake_next_id", vec!["5"])),
        ),
        (
            "nextval('public.\"a,b()\"'::regclass)",
            Some(("nextval", vec!["'public.\"a,b()\"'::regclass"])),
        ),
        (
            "f(g(1, 2), ARRAY[1, 2], 'it''s, (')",
            Some(("f", vec!["g(1, 2)", "ARRAY[1, 2]", "'it''s, ('"])),
        ),
        ("f(1) + g(2)", None),
        ("(f(1) + g(2))", None),
        ("(f(1)) || (g(2))", None),
        ("'f(1)'::text", None),
        ("5", None),
        ("", None),
        ("CASE WHEN f(1) THEN g(2) END", None),
        ("-f(1)", None),
    ];
    for (expression, expected) in cases {
        assert_eq!(read(expression), expected, "{expression}");
    }
}

#[test]
fn a_literal_is_a_number_or_a_quoted_text() {
    let cases = [
        ("5", Some("5")),
        ("-5", Some("-5")),
        ("'-5'::integer", Some("-5")),
        ("'it''s'::text", Some("it's")),
        ("'a:b'::ids.snowflake_layout", Some("a:b")),
        ("f(1)", None),
        ("'a' || 'b'", None),
        ("1.5", None),
        ("", None),
    ];
    for (expression, value) in cases {
        assert_eq!(literal(expression).as_deref(), value, "{expression}");
    }
}
