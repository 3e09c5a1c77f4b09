//! Functions and statements that use the sequence of a column, or take its ids as integers: what no conversion changes.

use crate::pg::catalog::sql;
use crate::pg::datum::json::{JsonText, list, read};
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;
use serde::Deserialize;

/// What the texts of functions and of statements say.
#[derive(Debug, Default, Deserialize)]
pub struct Mentions {
    /// Functions that name the sequence, or name the table and call nextval() or another function of sequences.
    #[serde(deserialize_with = "list")]
    pub functions: Vec<String>,
    /// Functions that name the table or one that refers to it, and have arguments or results of type integer.
    #[serde(deserialize_with = "list")]
    pub narrow: Vec<String>,
    /// Columns of integers that have no foreign key and a name as if they had, ten at most.
    #[serde(deserialize_with = "list")]
    pub unlinked: Vec<String>,
    /// Statements that name the sequence, or call such a function: the most frequent first. Programs send them, as
    /// pg_stat_statements says, which has no constants.
    #[serde(skip)]
    pub statements: Vec<Statement>,
    /// The regular expression of the statements.
    pattern: String,
    /// The view of pg_stat_statements; none if the user may not read it.
    view: Option<u32>,
}

/// A statement of programs.
#[derive(Debug, Deserialize)]
pub struct Statement {
    calls: i64,
    text: String,
}

impl Statement {
    pub fn text(&self) -> String {
        let calls = if self.calls == 1 { "call" } else { "calls" };
        format!("{} {calls} of {}", self.calls, self.text)
    }
}

impl Mentions {
    /// Searches for tables and for sequences, by their oids.
    pub fn find(tables: Vec<pg_sys::Oid>, sequences: Vec<pg_sys::Oid>) -> Self {
        let draws = !sequences.is_empty();
        let query = include_str!("../../sql/adopt/mentions.sql");
        let arguments = [tables.into(), sequences.into()];
        let mut found: Self = sql::read_now(query, &arguments).unwrap_or_default();
        if let Some(view) = found.view.filter(|_| draws) {
            found.statements = statements(view.into(), &found.pattern);
        }
        found
    }
}

/// Reads the statements of this database that fit a pattern. Any role can send one of 1 GB, which is not searched.
fn statements(view: pg_sys::Oid, pattern: &str) -> Vec<Statement> {
    let query = |view: &str| {
        format!(
            "SELECT jsonb_agg(jsonb_build_object('calls', q.calls, 'text', q.text) ORDER BY q.calls DESC, q.text) FROM (
             SELECT sum(s.calls)::int8 AS calls,
                 left(regexp_replace(s.query, '[[:space:]]+', ' ', 'g'), 200) AS text
             FROM {view} AS s JOIN pg_database AS d ON d.oid = s.dbid
             WHERE d.datname = current_database()
                 AND CASE WHEN octet_length(s.query) <= 100000
                     THEN s.query ~* $1::text END
             GROUP BY 2 ORDER BY 1 DESC, 2 LIMIT 10
         ) AS q"
        )
    };
    sql::ask_view::<JsonText>(view, query, &[DecodedText(pattern.to_owned()).into()])
        .map_or_else(Vec::new, |text| read(&text.0))
}
