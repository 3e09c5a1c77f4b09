//! Expressions with another column.

use mint_core::adopt::rename::{has_places, portable, renamed, unqualified, unquoted};

#[track_caller]
fn assert_renamed(text: &str, from: &str, expected: &str, count: usize) {
    let found = renamed(text, from, "mint_new_x");
    assert_eq!(found, (expected.to_owned(), count));
}

#[test]
fn columns_are_renamed() {
    assert_renamed("(id > 5)", "id", "(mint_new_x > 5)", 1);
    assert_renamed("id", "id", "mint_new_x", 1);
    assert_renamed(
        "USING btree (id DESC, abs(id)) INCLUDE (other)",
        "id",
        "USING btree (mint_new_x DESC, abs(mint_new_x)) INCLUDE (other)",
        2,
    );
    assert_renamed(
        "((\"I d\")::text = \"i\")", "\"I d\"", "((mint_new_x)::text = \"i\")", 1,
    );
    assert_renamed("(\"a\"\"b\" = a)", "\"a\"\"b\"", "(mint_new_x = a)", 1);
    assert_renamed("(über = überall)", "über", "(mint_new_x = überall)", 1);
}

#[test]
fn what_has_the_name_otherwise_stays() {
    for text in [
        "(name = 'id')",
        "(name = 'it''s id')",
        r"(name = E'\\ id ''id''')",
        "id(name)",
        "(name)::id",
        "(name)::public.id",
        "((name).id = 1)",
        "(name COLLATE id)",
        "(name COLLATE \"id\")",
        "id.check_it(name)",
        "(ids = id_ AND id$ = _id AND 1id = 2)",
        "(\"id \" = \"Id\")",
    ] {
        assert_renamed(text, "id", text, 0);
    }
}

#[test]
fn texts_that_end_within_a_token_are_kept() {
    for text in ["'id", "\"id", "''", "", "'", "id'"] {
        assert_eq!(renamed(text, "ix", "y").0, text);
    }
}

/// Each literal means the same whatever `standard_conforming_strings` is: with backslashes it is an escape string, and what
/// only looks like a literal or like its end is left alone.
#[test]
fn literals_are_portable() {
    for (text, expected) in [
        ("", ""),
        ("SELECT 'a', 1", "SELECT 'a', 1"),
        (r"SELECT 'a\b'", r"SELECT E'a\\b'"),
        (r"x <> '\'", r"x <> E'\\'"),
        (r"'it''s \', '\'", r"E'it''s \\', E'\\'"),
        (r"E'a\\b', e'\'''", r"E'a\\b', e'\'''"),
        (r"name'\' <> 'x'", r"nameE'\\' <> 'x'"),
        (
            r#""a\b" = '\' AND "it's" = '\'"#,
            r#""a\b" = E'\\' AND "it's" = E'\\'"#,
        ),
        (r"'ü\ü'::text", r"E'ü\\ü'::text"),
    ] {
        assert_eq!(portable(text), expected, "{text}");
    }
}

/// Tables lose their schemas, but not columns, other tables of these schemas, or names that begin alike.
#[test]
fn tables_are_unqualified() {
    let tables = [
        ("app".to_owned(), "t".to_owned()),
        ("\"a.b\"".to_owned(), "\"x y\"".to_owned()),
    ];
    for (text, expected) in [
        (" SELECT t.id\n   FROM app.t;", " SELECT t.id\n   FROM t;"),
        (
            "FROM (app.t x JOIN app.t_2 y ON ((x.id = y.id)))",
            "FROM (t x JOIN app.t_2 y ON ((x.id = y.id)))",
        ),
        ("FROM \"a.b\".\"x y\", app.other", "FROM \"x y\", app.other"),
        (
            "SELECT 'app.t', \"app.t\" FROM app.t",
            "SELECT 'app.t', \"app.t\" FROM t",
        ),
        (
            "SELECT x.app.t, app.t(1), my_app.t FROM app.t",
            "SELECT x.app.t, app.t(1), my_app.t FROM t",
        ),
    ] {
        assert_eq!(unqualified(text, &tables), expected, "{text}");
    }
}

/// Lists of aliases of a table and of joins have the places of columns, those of queries and functions do not.
#[test]
fn places_are_found() {
    for (text, expected) in [
        ("FROM app.t x(a, b)", true),
        ("FROM ONLY app.t \"X (\"(a)", true),
        ("FROM (app.t x JOIN app.u USING (id)) j(a, b)", true),
        (
            "FROM ((app.t x JOIN f(1) g(a) ON true) JOIN app.u ON ((x.id = u.id))) j(a)",
            true,
        ),
        ("FROM app.t x, app.u y(a), LATERAL f(x.id) z(a)", false),
        ("FROM my_app.t x(a), app.t_2 y(a), x.app.t z(a)", false),
        ("FROM app.t WHERE ((id)::text = 'app.t x(a)')", false),
        (
            "FROM ( SELECT 1) q(a), (VALUES (1)) v(a), ROWS FROM(f(1), g(2)) r(a, b)",
            false,
        ),
        (
            "WITH c(a) AS ( SELECT (t.id) OPERATOR(app.+) f(1) FROM app.t) SELECT 1",
            false,
        ),
        (
            "FROM (app.t x JOIN app.u USING (id)) j WHERE (j.id) IN (1)",
            false,
        ),
    ] {
        assert_eq!(has_places(text, "app.t"), expected, "{text}");
    }
}

/// Quotes of one kind between those of the other are no ends.
#[test]
fn nothing_is_left_between_quotes() {
    let text = r#"(("it's" + 1), ((id)::bigint)), ('it''s "x)::bigint"')::bigint, "a""b'".c)"#;
    let expected = r#"(("" + 1), ((id)::bigint)), ('')::bigint, "".c)"#;
    assert_eq!(unquoted(text), expected);
    assert_eq!(unquoted(""), "");
    assert_eq!(unquoted("'open"), "''");
}
