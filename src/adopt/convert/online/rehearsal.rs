//! The texts that later steps create again, parsed with the columns as bigint: what could only fail in the last step is refused
//! in the first one.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::transaction;
use crate::pg::catalog::sql;
use mint_core::adopt::rename::unqualified;
use pgrx::PgSqlErrorCode as Code;

/// Returns the texts that cannot be parsed, with the rights of the owner of the table. None of them is run.
pub fn blockers(closure: &Closure, table: &TargetTable) -> Vec<Blocker> {
    let rows = Rows::of(&closure.places());
    let texts = of_tables(closure, &rows)
        .into_iter()
        .chain(of_views(closure, &rows));
    let access = table.access();
    let failed = texts.filter_map(|(what, text)| {
        let error = transaction::caught(|| access.parse(&text)).err()?;
        // The types do not fit. What stands in for the tables lacks their keys, which allow more in GROUP BY.
        let types = [
            Code::ERRCODE_UNDEFINED_FUNCTION,
            Code::ERRCODE_AMBIGUOUS_FUNCTION,
            Code::ERRCODE_DATATYPE_MISMATCH,
            Code::ERRCODE_CANNOT_COERCE,
        ];
        types.contains(&transaction::code(&error)?).then(|| {
            let blocker = Blocker::state(
                format!("{what} cannot be created with a bigint"),
                format!("The error is: {}.", transaction::message(&error)),
                "Drop it, and create it again after the swap.",
            );
            blocker.unsupported()
        })
    });
    failed.collect()
}

/// Returns the checks and the expressions of indexes as queries.
fn of_tables(closure: &Closure, rows: &Rows) -> Vec<(String, String)> {
    let query = |relation: u32, text: &str| {
        let member = closure
            .columns
            .iter()
            .find(|member| member.relation == relation)?;
        let (row, name) = (rows.query(relation)?, sql::quoted_exactly(&member.table));
        Some(format!("SELECT {text} FROM ({row}) AS {name}"))
    };
    let checks = closure.checks.iter().filter_map(|check| {
        let what = format!("constraint \"{}\"", check.name);
        Some((what, query(check.relation, &check.text)?))
    });
    let indexes = closure.indexes.iter().filter_map(|index| {
        let texts = [&index.expressions, &index.predicate].into_iter().flatten();
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        if texts.is_empty() {
            return None;
        }
        let what = format!("index \"{}\"", index.name);
        Some((what, query(index.relation, &texts.join(", "))?))
    });
    checks.chain(indexes).collect()
}

/// Returns the queries of views, with tables that are not there in place of those of the script.
fn of_views(closure: &Closure, rows: &Rows) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    let mut parts = Vec::new();
    for member in closure.changed() {
        let [schema, name] = [&member.schema, &member.table].map(|name| sql::quoted_exactly(name));
        if tables.iter().all(|(_, known)| *known != name)
            && let Some(row) = rows.query(member.relation)
        {
            parts.push(format!("{name} AS ({row})"));
            tables.push((schema, name));
        }
    }
    let parts = parts.join(", ");
    let views = closure.recreated.iter().filter_map(|one| {
        let query = unqualified(one.query.as_deref()?, &tables);
        Some((
            one.name.clone(),
            format!("WITH {parts} SELECT FROM ({query}) AS view"),
        ))
    });
    views.collect()
}
