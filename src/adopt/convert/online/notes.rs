//! What is to be known before the first step of the script.

use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::plan::{self, PlanRow};
use crate::adopt::convert::rows::Rows;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use std::collections::BTreeSet;

/// Returns what programs and their owners must know, and what can fail until the swap.
pub fn of(closure: &Closure) -> Vec<PlanRow> {
    let list: Vec<String> = closure
        .changed()
        .map(|member| format!("{}.{}", member.quoted_table(), member.quoted_name()))
        .collect();
    let notes = [
        format!("These columns become bigint: {}. Columns that hold the ids without a foreign key are yours to find.", list.join(", ")),
        "Connect as the owner of the tables, and run the commands in psql with \\gexec: all but those of the phases cleanup and default, which end the way back. A function of the owner or of a role with TRIGGER on a table can act as the role that is connected: a superuser is refused without SET mint_script.trusted = 'on', if the owner is not one. After a break, run them again: the plan is what is left.".to_owned(),
        "The column comes last in its table from the swap on: an INSERT or COPY without a list of columns fails (55000) until the cleanup, and fills other columns afterwards.".to_owned(),
        "An INSERT ... ON CONFLICT can fail with a unique violation (23505) of an index mint_* from the phase index to the swap, where another transaction inserts the same key: that index is not the one that it looks at. Programs that repeat the statement find the row.".to_owned(),
        "Triggers on UPDATE fire for each row of the backfill. After the swap, each execution of a prepared statement that returns the column fails with \"cached plan must not change result type\" (0A000), until its session prepares it again: restart pools, or end the sessions of before with pg_terminate_backend().".to_owned(),
    ];
    let rows = Rows::of(&closure.places());
    let theirs = rows.compiled.iter().filter(|one| one.again.is_none());
    let theirs: Vec<String> = theirs.map(|one| one.name.clone()).collect();
    let defaults: Vec<String> = closure
        .keys
        .iter()
        .filter(|key| [&key.delete, &key.update].contains(&&"d".to_owned()))
        .map(|key| {
            format!(
                "{} of {}",
                sql::quoted_exactly(&key.name),
                closure.table(key.relation)
            )
        })
        .collect();
    let lists = [
        (
            "warning: these check constraints are NOT VALID, and the backfill fails on a row that does not meet them: use VALIDATE CONSTRAINT before",
            &rows.unvalidated,
        ),
        (
            "warning: these functions of triggers mention NEW.*, OLD.* or SELECT *, and fail from the first step on if they need as many columns as there are: write the lists of columns before",
            &rows.starred,
        ),
        (
            "warning: a DELETE or UPDATE of what these foreign keys with SET DEFAULT refer to can fail (23503) until the swap",
            &defaults,
        ),
        (
            "These functions take or return rows of the tables, whose columns are in another order from the swap on",
            &rows.functions,
        ),
        (
            "These views, functions and conditions of triggers have whole rows of tables, which have a column mint_new_* or mint_old_* until the cleanup, null where the column or its value is",
            &rows.whole,
        ),
        (
            "These functions of triggers belong to other roles, or are in schemas that the owner may not use, so they are not compiled again in the swap, after which they can fail in sessions of before: end those, or have their owners use CREATE OR REPLACE FUNCTION then",
            &theirs,
        ),
    ];
    let lists = lists
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}.", names.join(", ")));
    plan::checked(replication(closure).into_iter().chain(notes).chain(lists))
}

/// Returns what to know of limits on time, which the backfill and the build of an index can exceed.
pub fn timeouts() -> Vec<String> {
    let limits = [
        ("statement_timeout", "takes"),
        // From PostgreSQL 17 on.
        ("transaction_timeout", "takes"),
        ("lock_timeout", "waits"),
    ];
    let exceeded = limits.into_iter().filter_map(|(name, what)| {
        let query = "SELECT pg_catalog.current_setting($1, true)";
        let limit = sql::ask_with::<DecodedText>(query, &[name.into()])?.0;
        (limit != "0").then(|| format!("warning: {name} is {limit}, and ends a backfill or the build of an index that {what} longer: use SET {name} TO 0 before."))
    });
    exceeded.collect()
}

/// Returns what subscribers of logical replication have to run before the script and after it, if a table is published:
/// the shadows are replicated as well, and a subscriber without them stops at the first row that is changed.
fn replication(closure: &Closure) -> Vec<String> {
    let published = || {
        closure
            .changed()
            .filter(|member| !member.publications.is_empty())
    };
    let names: BTreeSet<String> = published()
        .flat_map(|member| member.publications.iter().map(|name| format!("\"{name}\"")))
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let names = Vec::from_iter(names).join(", ");
    let [mut before, mut after] = [String::new(), String::new()];
    for member in published() {
        let (table, column) = (member.quoted_table(), member.quoted_name());
        let (new, old, kind) = (member.new_name(), member.old_name(), &member.data_type);
        before.push_str(&format!(" ALTER TABLE {table} ADD COLUMN {new} bigint, ADD COLUMN {old} {kind}, ALTER COLUMN {column} TYPE bigint;"));
        after.push_str(&format!(
            " ALTER TABLE {table} DROP COLUMN {new}, DROP COLUMN {old};"
        ));
    }
    vec![
        format!(
            "warning: replication of {names} stops at the first row that the script writes, and the slot keeps WAL, unless each subscriber has the columns of the script. Run on it before the script, which rewrites its tables:{before}"
        ),
        format!(
            "Run on each subscriber of {names} after the cleanup, when it has caught up:{after}"
        ),
    ]
}
