//! The quarantine of a registry, and the copies of servers that it has noticed, for monitoring: read without waiting,
//! whatever state the tables are in.

use crate::pg::backend::guc;
use crate::pg::backend::transaction::attempt;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{timestamp, to_micros};
use crate::pg::error::OrReport;
use crate::pg::machine::clock;
use crate::registry::identity::describe_nodes;
use crate::registry::server::place;
use mint_core::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::spi::SpiHeapTupleData;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder};

const HOUR: Micros = 3_600_000_000;

/// What is known of the registry of this database.
pub enum Quarantine {
    NoRegistry,
    /// It grants nothing new until then. The assigned nodes that copies of their servers have requested in the last hour,
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
    let select = "SELECT quarantine FROM mint_registry.registry";
    let copies = "SELECT node_bits, first_node, holder, place, copy_place FROM mint_registry.leases
         WHERE copy_seen > $1::timestamptz ORDER BY copy_seen DESC LIMIT 4";
    place.as_owner(|client| {
        let rows = client.select(select, Some(1), &[]).or_report();
        let until = match rows.is_empty() {
            true => None,
            false => rows.first().get::<TimestampWithTimeZone>(1).or_report(),
        };
        let since = timestamp(clock::now() - HOUR).into();
        let rows = client.select(copies, None, &[since]).or_report();
        let copies = rows.filter_map(|row| describe_copy(&row)).collect();
        Quarantine::Until(until.map_or(Micros::MIN, to_micros), copies)
    })
}

fn describe_copy(row: &SpiHeapTupleData<'_>) -> Option<String> {
    let text = |column| {
        row.get::<DecodedText>(column)
            .or_report()
            .map(|text| text.0)
    };
    let width = row.get::<i32>(1).or_report()?.unsigned_abs();
    let node = row.get::<i64>(2).or_report()?;
    let (holder, place, copy) = (text(3)?, text(4).unwrap_or_default(), text(5)?);
    Some(format!(
        "{} of \"{holder}\" is used at {place}, and a copy of that server at {copy} has requested it.",
        describe_nodes(width, &node, &node)
    ))
}
