//! The registry's tables, opened for one transaction, and statements on them.
//!
//! They are ordinary tables, which a restore or a DELETE by hand can change behind the registry's back. So each row
//! says which transaction of the registry wrote it, and the state has a digest of the numbers of all leases.

use crate::pg::backend::{guc, transaction};
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{extension, spi};
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp_saturating, to_micros};
use crate::pg::error::{impossible, report};
use crate::registry::server::nodes::NodeRange;
use crate::registry::server::place;
use crate::registry::server::place::{Caller, RegistryTables};
use mint_core::Micros;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder};
use std::panic::AssertUnwindSafe;

/// The registry's tables, open in a transaction.
pub struct OpenTables<'a, 'conn> {
    client: &'a mut SpiClient<'conn>,
}

/// Fills the oid of this database into a statement.
pub(super) fn in_database(text: &str) -> String {
    text.replace("$database", &format!("{}::oid", extension::database()))
}

/// Runs `work` with the tables of this database's registry open, if the user may.
pub fn with_tables<T>(caller: Caller, work: impl FnOnce(&mut OpenTables<'_, '_>) -> T) -> T {
    with_tables_in(&place::expect(), caller, work)
}

/// Does the same as [`with_tables`], with the tables of this registry.
pub fn with_tables_in<T>(
    place: &RegistryTables,
    caller: Caller,
    work: impl FnOnce(&mut OpenTables<'_, '_>) -> T,
) -> T {
    place.demand(caller);
    if !transaction::sees_commits() {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            "registry of nodes requires isolation level READ COMMITTED",
        )
        .detail("An older snapshot would not show leases that were granted in the meantime.")
        .hint("Use SET TRANSACTION ISOLATION LEVEL READ COMMITTED.")
        .raise();
    }
    // A lease must not be forgotten by a crash. Settings that also wait for standbys stay as they are.
    if transaction::commits_without_flush() {
        guc::set_local(c"synchronous_commit", c"on");
    }
    if let Caller::Member = caller {
        // Members ask again, so a request does not queue behind a lock for long.
        guc::set_local(c"lock_timeout", c"1s");
    }
    let in_tables = |client: &mut SpiClient<'_>| work(&mut OpenTables { client });
    refusing_busy(|| place.as_owner(in_tables))
}

/// Runs `work`, which locks tables that members can lock as well, and does not queue behind a lock for long.
pub fn without_queue<T>(work: impl FnOnce() -> T) -> T {
    refusing_busy(|| guc::with(&[(c"lock_timeout", c"1s")], work))
}

fn refusing_busy<T>(work: impl FnOnce() -> T) -> T {
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_when(Code::ERRCODE_LOCK_NOT_AVAILABLE, |_| refuse_busy())
        .execute()
}

#[cold]
fn refuse_busy() -> ! {
    report(
        Code::ERRCODE_LOCK_NOT_AVAILABLE,
        "registry of nodes is busy",
    )
    .detail("Another transaction has locked its tables, or rows of them.")
    .hint("End the transactions of other sessions that use the schema \"mint_registry\".")
    .raise()
}

/// Returns the arguments of a statement about nodes: `$1` is their width, `$2` the first and `$3` the last of them.
pub fn arguments<'a, const N: usize>(
    nodes: &NodeRange,
    further: [DatumWithOid<'a>; N],
) -> Vec<DatumWithOid<'a>> {
    let (first, last) = (*nodes.range.start(), *nodes.range.end());
    let nodes = [nodes.width.cast_signed().into(), first.into(), last.into()];
    nodes.into_iter().chain(further).collect()
}

/// Returns a time as the argument of a statement.
pub fn at(time: Micros) -> DatumWithOid<'static> {
    timestamp_saturating(time).into()
}

/// Returns a text as the argument of a statement.
pub fn text(text: &str) -> DatumWithOid<'static> {
    DecodedText(text.to_owned()).into()
}

/// Returns the time in a column, in microseconds since 1970.
pub fn time(row: &Row<'_>, column: usize) -> Micros {
    to_micros(row.need::<TimestampWithTimeZone>(column))
}

impl OpenTables<'_, '_> {
    /// Fills oids into a statement; for `$transaction` what rows written now have in xmin; and for `$overlaps` the condition
    /// that a lease has any of the nodes of [`arguments`], in the form that the index serves.
    pub fn sql(&self, text: &str) -> String {
        let range = |width, first, last| {
            // As in sql/registry/tables.sql: else the index does not serve.
            let place = |node| {
                format!(
                    "{width}::numeric * 18446744073709551616::numeric
                        + {node}::numeric"
                )
            };
            let (first, last) = (place(first), place(last));
            format!("numrange({first}, {last}, '[]')")
        };
        let overlaps = format!(
            "{} && {}",
            range("node_bits", "first_node", "last_node"),
            range("$1", "$2", "$3")
        );
        let text = in_database(text).replace("$overlaps", &overlaps);
        if !text.contains("$transaction") {
            return text;
        }
        let transaction = format!("'{}'::xid", transaction::id());
        text.replace("$transaction", &transaction)
    }

    /// Runs a statement, which sees all that was committed before it. Returns whether it has returned any row.
    pub fn update(&mut self, text: &str, arguments: &[DatumWithOid<'_>]) -> bool {
        !self.rows(text, arguments, |_| ()).is_empty()
    }

    /// Runs a statement as [`OpenTables::update`]; returns what `read` makes of the rows.
    pub fn rows<T>(
        &mut self,
        text: &str,
        arguments: &[DatumWithOid<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> Vec<T> {
        let rows = spi::update(self.client, &self.sql(text), arguments);
        spi::read(rows, read)
    }

    /// Runs [`OpenTables::rows`] with a query that always returns one row.
    pub fn one<T>(
        &mut self,
        text: &str,
        arguments: &[DatumWithOid<'_>],
        read: impl FnMut(&Row<'_>) -> T,
    ) -> T {
        let row = self.rows(text, arguments, read).pop();
        row.unwrap_or_else(|| impossible("query without a row"))
    }
}
