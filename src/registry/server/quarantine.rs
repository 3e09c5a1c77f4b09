//! The quarantine of a registry, for those who only watch: read without waiting, whatever state the tables are in.

use crate::pg::backend::guc;
use crate::pg::backend::subtransaction::attempt;
use crate::pg::datum::timestamp::to_micros;
use crate::pg::error::OrReport;
use crate::registry::server::place;
use mint_core::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, Spi};

/// What is known of the registry of this database.
pub enum Quarantine {
    NoRegistry,
    /// It grants nothing new until then.
    Until(Micros),
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
    let until = place.as_owner(|| {
        Spi::connect(|client| {
            let rows = client.select(select, Some(1), &[]).or_report();
            if rows.is_empty() {
                return None;
            }
            rows.first().get::<TimestampWithTimeZone>(1).or_report()
        })
    });
    Quarantine::Until(until.map_or(Micros::MIN, to_micros))
}
