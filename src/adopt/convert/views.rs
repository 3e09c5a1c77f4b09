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
    /// How many parts it is made of, each as often as it is read.
    pub parts: usize,
    /// True when a name in it can be that of another table, too.
    pub is_ambiguous: bool,
}

/// A table that is not there, or a view that was passed on, as a part of queries.
struct Part {
    schema: String,
    name: String,
    text: String,
    /// The parts that it reads, which are before it.
    reads: Vec<usize>,
    weight: usize,
}

/// Passes on the queries of views, each with the tables and the views that it is made of as they will be: views for which
/// `use_it` returns false stay as they are in those of others.
pub fn queries(
    tables: impl Iterator<Item = Relation>,
    views: &[Recreated],
    rows: &Rows,
    mut use_it: impl FnMut(&Query) -> bool,
) {
    let tables: Vec<Relation> = tables.collect();
    let shared = shared_names(&tables, views);
    let mut parts: Vec<Part> = Vec::new();
    for (relation, schema, name) in tables {
        if parts.iter().all(|part| part.name != name)
            && let Some(text) = rows.query(relation)
        {
            parts.push(Part {
                schema,
                name,
                text,
                reads: Vec::new(),
                weight: 1,
            });
        }
    }
    // The last one to drop is the first one to create.
    for one in views.iter().rev() {
        let (Some(text), Some((schema, name))) = (&one.text, &one.view) else {
            continue;
        };
        let part = Part::view(&parts, schema, name, text);
        let with = part.with(&parts);
        let query = Query {
            name: one.name.clone(),
            text: format!("{with}SELECT view.* FROM ({}) AS view", part.text),
            rest: format!("{with}SELECT"),
            parts: part.weight,
            is_ambiguous: shared.iter().any(|name| often(text, name) > 0)
                || parts.iter().any(|part| is_with_item(text, &part.name)),
        };
        if use_it(&query) && parts.iter().all(|part| part.name != *name) {
            parts.push(part);
        }
    }
}

/// Returns the names that tables or views of several schemas have.
fn shared_names(tables: &[Relation], views: &[Recreated]) -> Vec<String> {
    let tables = tables.iter().map(|(_, schema, name)| (schema, name));
    let views = views.iter().filter_map(|one| one.view.as_ref());
    let all: Vec<_> = tables
        .chain(views.map(|(schema, name)| (schema, name)))
        .collect();
    let is_shared = |&&(schema, name): &&(&String, &String)| {
        let mut others = all.iter();
        others.any(|&(other, same)| same == name && other != schema)
    };
    let shared = all.iter().filter(is_shared);
    shared.map(|&(_, name)| name.clone()).collect()
}

/// Returns whether a part of the query's own WITH can have that name.
fn is_with_item(text: &str, name: &str) -> bool {
    const ENDS: [&str; 4] = [" AS (", " AS MATERIALIZED (", " AS NOT MATERIALIZED (", "("];
    let mut found = text.match_indices(name);
    let is_item = |at: usize| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_of_name) && ENDS.iter().any(|end| after.starts_with(end))
    };
    text.contains("WITH ") && found.any(|(at, _)| is_item(at))
}

fn is_of_name(of: char) -> bool {
    of.is_alphanumeric() || "_$\"".contains(of)
}

/// Returns how often a text has a name, which begins and ends there, and is not that before a column.
pub fn often(text: &str, name: &str) -> usize {
    let ends = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        !before.ends_with(is_of_name) && !after.starts_with(is_of_name) && !after.starts_with('.')
    };
    let found = text.match_indices(name).map(|(at, _)| at);
    found.filter(ends).count()
}

impl Part {
    fn view(parts: &[Self], schema: &str, name: &str, text: &str) -> Self {
        let names = parts.iter();
        let names: Vec<_> = names
            .map(|part| (part.schema.clone(), part.name.clone()))
            .collect();
        let text = unqualified(text, &names);
        // What has the name of a part, and is something else, takes that along for nothing.
        let often = parts.iter().map(|part| often(&text, &part.name));
        let weight = parts
            .iter()
            .zip(often.clone())
            .fold(1, |sum, (part, often)| {
                often.saturating_mul(part.weight).saturating_add(sum)
            });
        let reads = often.enumerate().filter(|&(_, often)| often > 0);
        Self {
            schema: schema.to_owned(),
            name: name.to_owned(),
            reads: reads.map(|(place, _)| place).collect(),
            weight,
            text,
        }
    }

    /// Returns the WITH of the parts that it reads, and that these read.
    fn with(&self, parts: &[Self]) -> String {
        let mut needed = vec![false; parts.len()];
        self.reads.iter().for_each(|&place| needed[place] = true);
        for (place, part) in parts.iter().enumerate().rev() {
            if needed[place] {
                part.reads.iter().for_each(|&of| needed[of] = true);
            }
        }
        let needed = parts.iter().zip(needed).filter(|&(_, needed)| needed);
        let list: Vec<String> = needed
            .map(|(part, _)| format!("{} AS NOT MATERIALIZED ({})", part.name, part.text))
            .collect();
        if list.is_empty() {
            String::new()
        } else {
            format!("WITH {} ", list.join(", "))
        }
    }
}
