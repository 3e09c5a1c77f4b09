//! The queries of views, with tables that are not there in place of those that they read.

use crate::adopt::convert::recreated::{Recreated, Relation};
use crate::adopt::convert::rows::Rows;
use mint_core::adopt::rename::unqualified;

/// A text as a query that names no table.
pub struct Query {
    /// The name of its object.
    pub name: String,
    /// What the query has without the text.
    pub rest: String,
    pub text: String,
}

/// Passes on the queries of views, each with the tables and the views that it is made of as they will be: views for which
/// `use_it` returns false stay as they are in those of others.
pub fn queries(
    tables: impl Iterator<Item = Relation>,
    views: &[Recreated],
    rows: &Rows,
    mut use_it: impl FnMut(&Query) -> bool,
) {
    let mut names = Vec::new();
    let mut parts = Vec::new();
    for (relation, schema, name) in tables {
        if names.iter().all(|(_, known)| *known != name)
            && let Some(row) = rows.query(relation)
        {
            parts.push(format!("{name} AS NOT MATERIALIZED ({row})"));
            names.push((schema, name));
        }
    }
    // The last one to drop is the first one to create.
    for one in views.iter().rev() {
        let (Some(text), Some((schema, name))) = (&one.text, &one.view) else {
            continue;
        };
        let text = unqualified(text, &names);
        let with = if parts.is_empty() {
            String::new()
        } else {
            format!("WITH {} ", parts.join(", "))
        };
        let query = Query {
            name: one.name.clone(),
            text: format!("{with}SELECT view.* FROM ({text}) AS view"),
            rest: format!("{with}SELECT"),
        };
        if use_it(&query) && names.iter().all(|(_, known)| known != name) {
            parts.push(format!("{name} AS NOT MATERIALIZED ({text})"));
            names.push((schema.clone(), name.clone()));
        }
    }
}
