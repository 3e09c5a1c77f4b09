//! Columns by other names in expressions that the server has printed.

/// Returns an expression of one table with another name for a column, and how often it has the column. Both names are
/// quoted as the server quotes them. Functions, types, collations and fields of the name stay.
pub fn renamed(text: &str, from: &str, to: &str) -> (String, usize) {
    let mut left = text;
    let mut result = String::with_capacity(text.len());
    let mut count = 0;
    while !left.is_empty() {
        let (token, rest) = left.split_at(token_length(left));
        let before = result.trim_end();
        let is_other = before.ends_with('.')
            || before.ends_with("::")
            || before.ends_with(" COLLATE")
            || rest.starts_with(['(', '.']);
        if token == from && !is_other {
            count += 1;
            result.push_str(to);
        } else {
            result.push_str(token);
        }
        left = rest;
    }
    (result, count)
}

/// Returns whether an expression names an object of a schema, in a text of the server whose search path was `pg_catalog`:
/// a function, an operator or a type that is not the server's, and that can be another one where the text is parsed again.
#[must_use]
pub fn has_qualified_name(text: &str) -> bool {
    let mut left = text;
    let mut before = "";
    while !left.is_empty() {
        let (token, rest) = left.split_at(token_length(left));
        let is_name =
            |token: &str| token.starts_with(|c: char| c == '"' || c == '_' || c.is_alphabetic());
        if token == "." && is_name(before) {
            return true;
        }
        before = token;
        left = rest;
    }
    false
}

/// Returns the bytes of the first token of a text that is not empty: a name, a number, a literal, or one character.
fn token_length(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    let mut characters = text.char_indices();
    match characters.next() {
        Some((_, quote @ ('"' | '\''))) => {
            // A quote in it is doubled.
            let mut is_open = true;
            for (place, c) in characters {
                if c == quote {
                    is_open = !is_open;
                } else if !is_open {
                    return place;
                }
            }
            text.len()
        }
        Some((_, first)) if is_word(first) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some((_, first)) => first.len_utf8(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::has_qualified_name;

    #[test]
    fn names_of_schemas_are_seen_outside_of_literals() {
        for text in [
            "public.ok(id)", "id OPERATOR(public.>) 1", "(id)::\"a b\".t > 0",
            "lower(public.f(id)) = 'x'",
        ] {
            assert!(has_qualified_name(text), "{text}");
        }
        for text in [
            "(id > 1.5)", "(name ~~ '%.com'::text)", "abs(id) > 0", "(id <> ALL (ARRAY[1, 2]))",
            "\"a.b\" > 1", "'it''s a.b'",
        ] {
            assert!(!has_qualified_name(text), "{text}");
        }
    }
}
