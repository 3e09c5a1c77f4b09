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

/// Returns statements in which each literal means the same whatever `standard_conforming_strings` is, if it was on when
/// they were written.
#[must_use]
pub fn portable(text: &str) -> String {
    let mut left = text;
    let mut result = String::with_capacity(text.len());
    while !left.is_empty() {
        let (token, rest) = left.split_at(token_length(left));
        let is_escaped = left.starts_with(['E', 'e']) && token.len() == 1 && rest.starts_with('\'');
        if is_escaped {
            let (literal, rest) = rest.split_at(token_length(rest));
            result.push_str(token);
            result.push_str(literal);
            left = rest;
            continue;
        }
        if token.starts_with('\'') && token.contains('\\') {
            result.push('E');
            result.push_str(&token.replace('\\', "\\\\"));
        } else {
            result.push_str(token);
        }
        left = rest;
    }
    result
}

/// Returns a query that the server has printed with tables, quoted as a schema and a name, without their schemas.
#[must_use]
pub fn unqualified(text: &str, tables: &[(String, String)]) -> String {
    let mut left = text;
    let mut result = String::with_capacity(text.len());
    while !left.is_empty() {
        let (token, rest) = left.split_at(token_length(left));
        let is_table = |(schema, name): &&(String, String)| {
            let after = rest
                .strip_prefix('.')
                .and_then(|rest| rest.strip_prefix(name.as_str()));
            token == schema
                && after.is_some_and(|after| {
                    after.is_empty() || after.starts_with([' ', '\n', ')', ',', ';'])
                })
        };
        match tables
            .iter()
            .find(is_table)
            .filter(|_| !result.ends_with('.'))
        {
            Some(_) => left = rest.strip_prefix('.').unwrap_or(rest),
            None => {
                result.push_str(token);
                left = rest;
            }
        }
    }
    result
}

/// Returns a text that the server has printed with nothing between its quotes: those of names and those of literals.
#[must_use]
pub fn unquoted(text: &str) -> String {
    let mut left = text;
    let mut result = String::with_capacity(text.len());
    while !left.is_empty() {
        let (token, rest) = left.split_at(token_length(left));
        result.push_str(match token.as_bytes().first() {
            Some(b'"') => "\"\"",
            Some(b'\'') => "''",
            _ => token,
        });
        left = rest;
    }
    result
}

/// Returns whether a query that the server has printed names the columns of a table by their places, as in `FROM s.t x(a, b)`,
/// or those of a join, as in `(a JOIN b USING (c)) j(c, d)`. The table is quoted, with its schema.
#[must_use]
pub fn has_places(text: &str, table: &str) -> bool {
    let mut left = text;
    let mut before = "";
    // Whether each open parenthesis can be that of a join.
    let mut open = Vec::new();
    while !left.is_empty() {
        if let Some(after) = left.strip_prefix(table)
            && !before.ends_with('.')
            && has_list(after)
        {
            return true;
        }
        let (token, rest) = left.split_at(token_length(left));
        if token == "(" {
            let is_call = before.ends_with(|c: char| c.is_alphanumeric() || "_$\"".contains(c));
            let words = ["SELECT", "VALUES", "WITH"];
            let is_query = words.iter().any(|word| rest.trim_start().starts_with(word));
            open.push(!is_call && !is_query);
        } else if token == ")" && open.pop() == Some(true) && has_list(rest) {
            return true;
        }
        before = token;
        left = rest;
    }
    false
}

/// Returns whether a text begins with a space, a name and an open parenthesis. Key words are in capitals, and names in quotes
/// if they have any.
fn has_list(text: &str) -> bool {
    let Some(name) = text.strip_prefix(' ') else {
        return false;
    };
    let rest = &name[token_length(name)..];
    !name.starts_with(|c: char| c.is_ascii_uppercase() || c == '(') && rest.starts_with('(')
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
