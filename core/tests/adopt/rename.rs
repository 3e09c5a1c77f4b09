//! Expressions with another column.

use mint_core::adopt::rename::renamed;

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
