//! The PL/pgSQL of the script: the files of sql/adopt/script, with their marks filled.

use crate::adopt::convert::online::closure::LinkedColumn;
use crate::adopt::convert::online::meanings;
use crate::adopt::convert::online::texts;
use crate::pg::catalog::sql;

const REFUSE_SUPERUSER: &str = include_str!("../../../../sql/adopt/script/refuse_superuser.sql");
const REFUSE_REPLACED: &str = include_str!("../../../../sql/adopt/script/refuse_replaced.sql");
const RETRIED: &str = include_str!("../../../../sql/adopt/script/retried.sql");
const FIX_SETTINGS: &str = include_str!("../../../../sql/adopt/script/fix_settings.sql");
const STAY_READ_ONLY: &str = include_str!("../../../../sql/adopt/script/stay_read_only.sql");
const RESTORE_SETTINGS: &str = include_str!("../../../../sql/adopt/script/restore_settings.sql");
const LOCK: &str = include_str!("../../../../sql/adopt/script/lock.sql");
const AS_OWNER: &str = include_str!("../../../../sql/adopt/script/as_owner.sql");
const COPY: &str = include_str!("../../../../sql/adopt/script/copy.sql");
const COPY_IF_IT_FITS: &str = include_str!("../../../../sql/adopt/script/copy_if_it_fits.sql");
const BACKFILL: &str = include_str!("../../../../sql/adopt/script/backfill.sql");
const REFUSE_UNREADY: &str = include_str!("../../../../sql/adopt/script/refuse_unready.sql");
const NOTE_MEANINGS: &str = include_str!("../../../../sql/adopt/script/note_meanings.sql");
const REFUSE_UNDONE: &str = include_str!("../../../../sql/adopt/script/refuse_undone.sql");
const REFUSE_KEPT: &str = include_str!("../../../../sql/adopt/script/refuse_kept.sql");
const REFUSE_MEANINGS: &str = include_str!("../../../../sql/adopt/script/refuse_meanings.sql");

/// Fills the marks of a text, like `$table$`, but for its head, which ends with an empty line. The mark `$block$` becomes a
/// quote that is nowhere else in the text. A value that looks like a mark stays.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let text = text.split_once("\n\n").map_or(text, |(_, text)| text);
    let filled = |quote: &str| -> String {
        let parts = text.trim_end().split('$').enumerate();
        let parts = parts.map(|(place, part)| match (place % 2, part) {
            (0, plain) => plain,
            (_, "block") => quote,
            (_, mark) => {
                let found = values.iter().find(|(name, _)| *name == mark);
                found.map_or("", |(_, value)| value)
            }
        });
        parts.collect()
    };
    let body = filled("");
    let mut quotes = (0..).map(|number| format!("$mint{number}$"));
    let free = quotes.find(|quote| !body.contains(quote.as_str()));
    filled(&free.unwrap_or_default())
}

/// Returns what goes before a statement that cannot be in a block and has expressions as the server prints them: another role
/// could have a function in the search path that would be called instead.
pub fn fix_settings(owner: &str) -> String {
    let stay = format!("\n{}", fill(STAY_READ_ONLY, &[]));
    fill(
        FIX_SETTINGS,
        &[
            ("settings", &texts::rows()),
            ("refuse_superuser", &refuse_superuser(owner, &stay)),
        ],
    )
}

/// Returns the statement that refuses a superuser for an owner who is not one.
fn refuse_superuser(owner: &str, first: &str) -> String {
    let values = [
        ("literal", sql::literal(owner)),
        ("first", first.to_owned()),
    ];
    fill(
        REFUSE_SUPERUSER,
        &values
            .each_ref()
            .map(|(name, value)| (*name, value.as_str())),
    )
}

/// How a role can use what the owner may. Since PostgreSQL 16, members might not.
#[cfg(feature = "pg15")]
const USED: &str = "MEMBER";
#[cfg(not(feature = "pg15"))]
const USED: &str = "USAGE, SET";

/// Returns the statement that refuses tables that have taken the place of others.
fn refuse_replaced(tables: &[&str]) -> String {
    let rows = tables.iter().map(|name| {
        let oid = sql::relation_of(name).map_or(0, |oid| oid.to_u32());
        format!(
            "({}::pg_catalog.text, {oid}::pg_catalog.oid)",
            sql::literal(name)
        )
    });
    fill(
        REFUSE_REPLACED,
        &[
            ("tables", &rows.collect::<Vec<_>>().join(", ")),
            ("used", USED),
        ],
    )
}

/// Returns what goes after it.
pub fn restore_settings() -> String {
    fill(RESTORE_SETTINGS, &[("settings", &texts::rows())])
}

/// What a block keeps of a sequence.
pub const STATE: &str = "last_value, is_called INTO STRICT last, called";

/// What a block needs the query of [`meanings`] for.
const MEANING: &str = "EXECUTE meaning INTO";

/// Returns statements between one that notes what the texts of tables and views call, and one that refuses what calls others
/// then: by a query for the names of texts before and after.
pub fn keeping_meanings(
    relations: &[String],
    pairs: &str,
    statements: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let literals = relations.iter().map(|name| sql::literal(name));
    let list = literals.collect::<Vec<_>>().join(", ");
    let relations = format!("ARRAY[{list}]::pg_catalog.text[]");
    let values = [("relations", relations.as_str()), ("pairs", pairs)];
    let mut all = vec![fill(NOTE_MEANINGS, &values)];
    all.extend(statements);
    all.push(fill(REFUSE_MEANINGS, &values));
    all
}

/// Returns statements that are attempted until they have their locks, with the privileges of the owner of the tables,
/// whose triggers and constraints run: by any role that runs the script.
pub fn retried(owner: &str, mode: &str, tables: &[&str], statements: &[String]) -> String {
    retried_between(&[], owner, mode, tables, &[], statements)
}

/// Does the same as [`retried`], with other locks before those of the tables, as clients that use a view lock it before its
/// tables, and after them, as an INSERT locks the sequence of its default.
pub fn retried_between(
    first: &[&str],
    owner: &str,
    mode: &str,
    tables: &[&str],
    last: &[String],
    statements: &[String],
) -> String {
    let has = |text: &str| statements.iter().any(|statement| statement.contains(text));
    let mut variables = String::new();
    if has(STATE) {
        variables.push_str("\n  last pg_catalog.int8;\n  called pg_catalog.bool;");
    }
    if has(MEANING) {
        let (_, query) = meanings::QUERY.split_once("\n\n").unwrap_or_default();
        let query = sql::literal(query.trim_end());
        variables.push_str(&format!("\n  meaning pg_catalog.text := {query};\n  meant pg_catalog.jsonb;\n  means pg_catalog.jsonb;\n  changed pg_catalog.text;"));
    }
    let own = tables
        .iter()
        .map(|table| format!("LOCK TABLE {table} IN {mode} MODE"));
    let locks = first.iter().map(|&lock| lock.to_owned()).chain(own);
    let locks = locks.chain(last.iter().cloned());
    let locks = locks.map(|lock| fill(LOCK, &[("lock", &lock)]));
    let statements = statements
        .iter()
        .map(|statement| format!("      {statement};"));
    fill(
        RETRIED,
        &[
            ("variables", &variables),
            ("settings", &texts::rows()),
            ("refuse_superuser", &refuse_superuser(owner, "")),
            ("refuse_replaced", &refuse_replaced(tables)),
            ("owner", owner),
            ("tables", &tables.join(", ")),
            ("locks", &locks.collect::<Vec<_>>().join("\n")),
            ("statements", &statements.collect::<Vec<_>>().join("\n")),
        ],
    )
}

/// Returns a statement that waits for no lock of clients, with the privileges of the owner of its table.
pub fn as_owner(owner: &str, table: &str, statement: &str) -> String {
    fill(
        AS_OWNER,
        &[
            ("refuse_superuser", &refuse_superuser(owner, "")),
            ("refuse_replaced", &refuse_replaced(&[table])),
            ("owner", owner),
            ("table", table),
            ("statement", statement),
        ],
    )
}

/// Returns the body of the trigger's function: `shadow` takes the values of the column, those from `least` to `most` alone
/// if it is narrower.
pub fn copy(member: &LinkedColumn, shadow: &str, range: Option<(i64, i64)>) -> String {
    let column = member.quoted_name();
    let (text, (least, most)) = match range {
        None => (COPY, (0, 0)),
        Some(range) => (COPY_IF_IT_FITS, range),
    };
    let body = fill(
        text,
        &[
            ("shadow", shadow),
            ("shown", &sql::literal(&format!("mint_old_{}", member.name))),
            ("column", &column),
            ("least", &least.to_string()),
            ("most", &most.to_string()),
        ],
    );
    format!("{}\n{body}", member.label)
}

/// Returns the condition that a shadow is as its column, in a table that can have an alias.
pub fn equality(member: &LinkedColumn, shadow: &str, alias: &str) -> String {
    let column = format!("{alias}{}", member.quoted_name());
    let equal =
        format!("{alias}{shadow} IS NOT NULL AND {alias}{shadow} OPERATOR(pg_catalog.=) {column}");
    if member.not_null {
        // In this form it spares SET NOT NULL the scan.
        equal
    } else {
        format!("CASE WHEN {column} IS NULL THEN {alias}{shadow} IS NULL ELSE {equal} END")
    }
}

/// Returns the block that fills a shadow.
pub fn backfill(member: &LinkedColumn) -> String {
    let table = member.quoted_table();
    let (shadow, owner) = (member.new_name(), member.quoted_owner());
    fill(
        BACKFILL,
        &[
            ("refuse_superuser", &refuse_superuser(&owner, "")),
            ("refuse_replaced", &refuse_replaced(&[&table])),
            ("table", &table),
            ("literal", &sql::literal(&table)),
            ("shown", &table.replace('\'', "''").replace('%', "%%")),
            ("owner", &owner),
            ("column", &member.quoted_name()),
            ("shadow", &shadow),
            ("equal", &equality(member, &shadow, "t.")),
        ],
    )
}

/// Returns the statement that refuses the swap unless nothing else is left of the plan, whose swap has the same mark.
pub fn refuse_unready(plan: &str, mark: &str) -> String {
    fill(REFUSE_UNREADY, &[("plan", plan), ("mark", mark)])
}

/// Returns the statement that refuses a step of the cleanup unless the column that it ends is there: a quoted name.
pub fn refuse_undone(member: &LinkedColumn, column: &str) -> String {
    let [table, column] = [&member.quoted_table(), column].map(sql::literal);
    fill(REFUSE_UNDONE, &[("table", &table), ("column", &column)])
}

/// Returns the statement that refuses what depends on columns, each of which is a quoted table and a name.
pub fn refuse_kept(columns: &[(String, String)]) -> String {
    let literals = columns.iter().map(|(table, name)| {
        let [table, name] = [table, name].map(|text| sql::literal(text));
        format!("a.attrelid OPERATOR(pg_catalog.=) {table}::pg_catalog.regclass AND a.attname OPERATOR(pg_catalog.=) {name}::pg_catalog.name")
    });
    let kept = literals.collect::<Vec<_>>().join(" OR ");
    fill(REFUSE_KEPT, &[("kept", &kept)])
}
