//! Statements of the extension: the only use of the server's programming interface, SPI. Whose rights they have is
//! decided in [`privilege`](crate::pg::catalog::privilege), and only two files decide which objects their names can mean.
//! No statement reads or locks a table of a user:
//!
//! | File | Objects |
//! |---|---|
//! | [`sql`](crate::pg::catalog::sql) | the server's own catalogs and functions, and what the caller creates, comments, alters and drops |
//! | [`tables`](crate::pg::catalog::tables) | the tables of the registry |
//!
//! Queries on another server run in [`dblink`](crate::pg::worker::dblink), as the role that connects.

use crate::pg::backend::recovery::{self, Refusal};
use crate::pg::charset;
use crate::pg::error::{OrReport, impossible, relay_errors};
use pgrx::datum::DatumWithOid;
use pgrx::spi::{SpiClient, SpiHeapTupleData, SpiTupleTable};
use pgrx::{FromDatum, IntoDatum, Spi};
use std::ffi::c_long;

/// A row of an answer.
pub struct Row<'a>(SpiHeapTupleData<'a>);

impl Row<'_> {
    /// Returns the value of a column, from 1 on; none of a NULL.
    pub fn get<T: IntoDatum + FromDatum>(&self, column: usize) -> Option<T> {
        self.0.get(column).or_report()
    }

    /// Returns the value of a column that is never NULL.
    #[track_caller]
    pub fn need<T: IntoDatum + FromDatum>(&self, column: usize) -> T {
        match self.get(column) {
            Some(value) => value,
            None => impossible(&format!("null in column {column}")),
        }
    }
}

/// Returns the result of `read` for the first row.
pub fn read_first<T>(mut rows: SpiTupleTable<'_>, read: impl FnOnce(&Row<'_>) -> T) -> Option<T> {
    rows.next().map(|row| read(&Row(row)))
}

/// Returns the results of `read` for all rows.
pub fn read<T>(rows: SpiTupleTable<'_>, mut read: impl FnMut(&Row<'_>) -> T) -> Vec<T> {
    rows.map(|row| read(&Row(row))).collect()
}

/// Runs `work` with the interface open.
pub(in crate::pg) fn open<T>(work: impl FnOnce(&mut SpiClient<'_>) -> T) -> T {
    relay_errors(|| Spi::connect_mut(work))
}

/// The snapshot of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    /// The snapshot of the calling statement. The query asks for no transaction id.
    Statement,
    /// A new one, with all commits before the query, also those made while this statement waited for a lock. During
    /// recovery, where nothing waits for locks of others, that of the calling statement.
    Commits,
}

/// Runs a query, and returns the results of `read` for its rows.
pub(in crate::pg) fn rows<T>(
    sees: Sees,
    query: &str,
    arguments: &[DatumWithOid<'_>],
    mut read: impl FnMut(&Row<'_>) -> Option<T>,
) -> Vec<T> {
    open(|client| {
        let rows = select(client, sees, query, None, arguments);
        rows.filter_map(|row| read(&Row(row))).collect()
    })
}

/// Runs a query that sees commits, and returns the only column of its first row; none if there is no row.
pub(in crate::pg) fn one<T: FromDatum + IntoDatum>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
) -> Option<T> {
    open(|client| {
        let rows = select(client, Sees::Commits, query, Some(1), arguments);
        if rows.is_empty() {
            return None;
        }
        rows.first().get_one().or_report()
    })
}

fn select<'conn>(
    client: &mut SpiClient<'conn>,
    sees: Sees,
    query: &str,
    limit: Option<c_long>,
    arguments: &[DatumWithOid<'_>],
) -> SpiTupleTable<'conn> {
    let query = charset::c_string(query);
    let answer = if sees == Sees::Statement || recovery::is_in_progress() {
        client.select(&query, limit, arguments)
    } else {
        client.update(&query, limit, arguments)
    };
    answer.or_report()
}

/// Runs a statement with the interface open, and returns its rows. It sees all that was committed before.
pub fn update<'conn>(
    client: &mut SpiClient<'conn>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> SpiTupleTable<'conn> {
    // A statement that writes would begin a transaction that writes, which is an internal error in recovery.
    recovery::refuse(&Refusal {
        message: "cannot change a database during recovery",
        detail: "This server is a standby.",
        hint: "Use the primary server, or promote this one.",
    });
    let statement = charset::c_string(statement);
    client.update(&statement, None, arguments).or_report()
}

/// Runs a statement, or several.
pub(in crate::pg) fn run(statement: &str) {
    open(|client| {
        update(client, statement, &[]);
    });
}
