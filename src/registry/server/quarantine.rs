//! The quarantine of a registry, and the copies of servers that it has noticed, for monitoring: read without waiting,
//! whatever state the tables are in.

use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::catalog::spi;
use crate::pg::catalog::spi::Row;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::OrReport;
use crate::pg::machine::clock;
use crate::registry::identity::describe_nodes;
use crate::registry::server::place;
use crate::registry::server::state::foresee;
use crate::registry::server::tables::at;
use mint_core::Micros;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder};

const HOUR: Micros = 3_600_000_000;

/// What is known of the registry of this database.
pub enum Quarantine {
    NoRegistry,
    /// It grants nothing new until then, as the next request would find it. The assigned nodes that copies of their servers have requested in the last hour,
    /// each in a sentence: at most four.
    Until(Micros, Vec<String>),
    /// The tables could not be read; why.
    Unknown(String),
}

/// Reads the registry's state with the rights of its owner.
pub fn find() -> Quarantine {
    if !place::may_be_there() {
        return Quarantine::NoRegistry;
    }
    let read = || guc::with(&[(c"lock_timeout", c"1")], read);
    PgTryBuilder::new(|| attempt(read).unwrap_or_else(busy))
        .catch_others(|error| match &error {
            CaughtError::ErrorReport(raised) | CaughtError::PostgresError(raised)
                if raised.sql_error_code() != Code::ERRCODE_QUERY_CANCELED =>
            {
                Quarantine::Unknown(format!(
                    "The tables of the registry could not be read: {}.",
                    raised.message()
                ))
            }
            _ => error.rethrow(),
        })
        .execute()
}

fn busy() -> Quarantine {
    Quarantine::Unknown("The tables of the registry are locked by another transaction.".to_owned())
}

fn read() -> Quarantine {
    let Some(place) = place::find() else {
        return Quarantine::NoRegistry;
    };
    // Their functions would run as the owner, but for as long as the owner likes.
    if !place.are_plain() {
        return Quarantine::Unknown(
            "The tables of the registry have indexes, statistics or constraints with functions of their owner.".to_owned(),
        );
    }
    let copies = "SELECT node_bits, first_node, holder, coalesce(place, ''), copy_place FROM mint_registry.leases
         WHERE copy_seen > $1 ORDER BY copy_seen DESC LIMIT 4";
    place.as_owner(|client| {
        let until = foresee(client).map_or(Micros::MIN, |registry| registry.quarantine);
        let rows = client.select(copies, None, &[at(clock::now() - HOUR)]);
        Quarantine::Until(until, spi::read(rows.or_report(), describe_copy))
    })
}

fn describe_copy(row: &Row<'_>) -> String {
    let text = |column| row.need::<DecodedText>(column).0;
    let (width, node) = (row.need::<i32>(1).unsigned_abs(), row.need::<i64>(2));
    let (holder, place, copy) = (text(3), text(4), text(5));
    format!(
        "{} of \"{holder}\" is used at {place}, and a copy of that server at {copy} has requested it.",
        describe_nodes(width, &node, &node)
    )
}
