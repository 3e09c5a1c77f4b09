//! A column's default, as the server writes it: which function it calls, with what.

/// A call of a function, and nothing around it but casts of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// The name, with its schema where that is not `pg_catalog`.
    pub function: &'a str,
    /// The text between the parentheses.
    list: &'a str,
}

impl<'a> Call<'a> {
    /// Reads an expression; none if it is something else than one call.
    #[must_use]
    pub fn read(expression: &'a str) -> Option<Self> {
        let expression = without_cast(expression.trim());
        if let Some(inside) = inside(expression, 0) {
            return Self::read(inside);
        }
        let open = first_outside(expression, |sign| sign == '(')?;
        let function = expression[..open].trim();
        let is_name = |sign: char| sign.is_alphanumeric() || "_$.\"".contains(sign);
        let is_plain =
            !function.is_empty() && (function.contains('"') || function.chars().all(is_name));
        let list = inside(expression, open).filter(|_| is_plain)?;
        Some(Self { function, list })
    }

    /// Returns the arguments.
    #[must_use]
    pub fn arguments(&self) -> Vec<&'a str> {
        let mut all = Vec::new();
        let mut rest = self.list;
        while let Some(comma) = first_outside(rest, |sign| sign == ',') {
            all.push(rest[..comma].trim());
            rest = &rest[comma + 1..];
        }
        if !rest.trim().is_empty() {
            all.push(rest.trim());
        }
        all
    }
}

/// Returns the value of a literal, like `5`, `'-5'::integer` or `'twitter'::ids.snowflake_layout`; none of another expression.
#[must_use]
pub fn literal(expression: &str) -> Option<String> {
    let value = without_cast(expression);
    if let Some(text) = value.strip_prefix('\'') {
        let text = text.strip_suffix('\'')?;
        let whole = text.replace("''", "");
        return (!whole.contains('\'')).then(|| text.replace("''", "'"));
    }
    value.parse::<i64>().ok().map(|number| number.to_string())
}

/// Returns what is left of the casts at the end of an expression.
fn without_cast(expression: &str) -> &str {
    first_outside(expression, |sign| sign == ':').map_or(expression, |cast| &expression[..cast])
}

/// Returns the text between the parenthesis at `open` and its partner, if that is the last sign.
fn inside(expression: &str, open: usize) -> Option<&str> {
    let inner = expression[open..].strip_prefix('(')?.strip_suffix(')')?;
    // Its own partner would close more than is open.
    let mut depth = 0_i64;
    for (_, sign) in outside_of_quotes(inner) {
        depth += i64::from(sign == '(') - i64::from(sign == ')');
        if depth < 0 {
            return None;
        }
    }
    (depth == 0).then_some(inner)
}

/// Returns the place of the first sign of a kind outside of quotes and parentheses; of an opening parenthesis itself, too.
fn first_outside(expression: &str, is_it: impl Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0_i64;
    for (place, sign) in outside_of_quotes(expression) {
        if depth == 0 && is_it(sign) {
            return Some(place);
        }
        depth += i64::from("([".contains(sign)) - i64::from(")]".contains(sign));
    }
    None
}

/// Returns the signs outside of literals and quoted names, with their places.
fn outside_of_quotes(expression: &str) -> impl Iterator<Item = (usize, char)> {
    let mut within = None;
    expression
        .char_indices()
        .filter(move |&(_, sign)| match within {
            None => {
                within = (sign == '\'' || sign == '"').then_some(sign);
                within.is_none()
            }
            Some(quote) => {
                if sign == quote {
                    within = None;
                }
                false
            }
        })
}
