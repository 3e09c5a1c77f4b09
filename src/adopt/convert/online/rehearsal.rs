//! The texts that later steps create again, parsed with the columns as bigint: what could only fail in the last step is refused
//! in the first one, and what would call other functions or operators.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::meanings;
use crate::adopt::convert::online::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::transaction;
use crate::pg::catalog::access::Owned;
use crate::pg::catalog::sql;
use mint_core::adopt::rename::unqualified;
use pgrx::PgSqlErrorCode as Code;

/// What the names of texts that were parsed begin with.
const PARSED: &str = "parsed ";

/// A text as a query, with tables that are not there in place of those of the script.
struct Query {
    /// The name that it has in [`meanings`].
    name: String,
    /// What the query has without the text.
    rest: String,
    text: String,
}

/// Returns the texts that cannot be parsed or mean something else, with the rights of the owner of the table. None of them is
/// run.
pub fn blockers(closure: &Closure, table: &TargetTable) -> Vec<Blocker> {
    let rows = Rows::of(&closure.places());
    let access = table.access();
    let mut found = Vec::new();
    let mut trees = Vec::new();
    for query in of_tables(closure, &rows) {
        parse(&query, access, &mut found, &mut trees);
    }
    of_views(closure, &rows, |query| {
        parse(query, access, &mut found, &mut trees)
    });
    let all = meanings::read(closure, &trees);
    let changed = all.iter().filter_map(|(name, parsed)| {
        let name = name.strip_prefix(PARSED)?;
        (all.get(name) != Some(parsed)).then(|| {
            let blocker = Blocker::state(
                format!("{name} would call other functions or operators when it is created again"),
                "Texts have no operators of other schemas where the server prints none, as in JOIN USING and in CASE, and calls find functions by types that others can fit better.",
                "Drop it, and create it again after the swap.",
            );
            blocker.unsupported()
        })
    });
    found.extend(changed);
    found
}

/// Parses a query. Returns whether its text means something.
fn parse(
    query: &Query,
    access: Owned,
    found: &mut Vec<Blocker>,
    trees: &mut Vec<(String, String)>,
) -> bool {
    let Query { name, rest, text } = query;
    let parsed = transaction::caught(|| (access.parse(rest), access.parse(text)));
    match parsed {
        Ok((rest, tree)) => {
            trees.push((name.clone(), rest));
            trees.push((format!("{PARSED}{name}"), tree));
            true
        }
        Err(error) => {
            // The types do not fit. What stands in for the tables lacks their keys, which allow more in GROUP BY.
            let types = [
                Code::ERRCODE_UNDEFINED_FUNCTION,
                Code::ERRCODE_AMBIGUOUS_FUNCTION,
                Code::ERRCODE_DATATYPE_MISMATCH,
                Code::ERRCODE_CANNOT_COERCE,
            ];
            if transaction::code(&error).is_some_and(|code| types.contains(&code)) {
                let blocker = Blocker::state(
                    format!("{name} cannot be created with a bigint"),
                    format!("The error is: {}.", transaction::message(&error)),
                    "Drop it, and create it again after the swap.",
                );
                found.push(blocker.unsupported());
            }
            false
        }
    }
}

/// Returns checks, and the expressions of indexes, triggers and statistics.
fn of_tables(closure: &Closure, rows: &Rows) -> Vec<Query> {
    let query = |relation: u32, name: String, text: &str, names: &[String]| {
        let row = rows.query(relation)?;
        let from = names.iter().map(|name| format!("({row}) AS {name}"));
        let rest = format!(" FROM {}", from.collect::<Vec<_>>().join(", "));
        Some(Query {
            name,
            text: format!("SELECT {text}{rest}"),
            rest: format!("SELECT{rest}"),
        })
    };
    let own = |relation: u32| {
        let mut all = closure.columns.iter();
        let member = all.find(|member| member.relation == relation);
        member.map(|member| sql::quoted_exactly(&member.table))
    };
    let checks = closure.checks.iter().filter_map(|check| {
        let name = meanings::constraint(closure.table(check.relation), &check.name);
        query(check.relation, name, &check.text, &[own(check.relation)?])
    });
    let indexes = closure.indexes.iter().filter_map(|index| {
        let texts = [&index.expressions, &index.predicate].into_iter().flatten();
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        if texts.is_empty() {
            return None;
        }
        let name = meanings::index(closure.table(index.relation), &index.name);
        query(
            index.relation,
            name,
            &texts.join(", "),
            &[own(index.relation)?],
        )
    });
    let others = closure.recreated.iter().filter_map(|one| {
        let relation = one.relation?;
        let names = if one.name.starts_with("trigger ") {
            vec!["old".to_owned(), "new".to_owned()]
        } else {
            vec![own(relation)?]
        };
        query(relation, one.name.clone(), one.text.as_deref()?, &names)
    });
    checks.chain(indexes).chain(others).collect()
}

/// Parses the queries of views, each with those that it is made of as they will be.
fn of_views(closure: &Closure, rows: &Rows, mut parse: impl FnMut(&Query) -> bool) {
    let mut names = Vec::new();
    let mut parts = Vec::new();
    for member in closure.changed() {
        let [schema, name] = [&member.schema, &member.table].map(|name| sql::quoted_exactly(name));
        if names.iter().all(|(_, known)| *known != name)
            && let Some(row) = rows.query(member.relation)
        {
            parts.push(format!("{name} AS ({row})"));
            names.push((schema, name));
        }
    }
    // The last one to drop is the first one to create.
    for one in closure.recreated.iter().rev() {
        let (Some(text), Some((schema, name))) = (&one.text, &one.view) else {
            continue;
        };
        let text = unqualified(text, &names);
        let with = format!("WITH {}", parts.join(", "));
        let query = Query {
            name: one.name.clone(),
            text: format!("{with} SELECT FROM ({text}) AS view"),
            rest: format!("{with} SELECT"),
        };
        if parse(&query) && names.iter().all(|(_, known)| known != name) {
            parts.push(format!("{name} AS ({text})"));
            names.push((schema.clone(), name.clone()));
        }
    }
}
