//! What SQL sees, one file per family.

mod bounds;
mod generate;
mod inspect;
mod layout;
mod layouts;
mod leaf;
mod nodes;
mod objectid;
mod operations;
mod public;
mod regclass;
mod scatter;
mod segments;
mod sequence_table;
mod tickets;
mod user_sequences;
mod uuid;
mod uuid_inspect;
mod uuid_mysql;

pub use layout::SnowflakeLayout;
pub use regclass::Regclass;

use crate::pg::errors::report;
use pgrx::PgSqlErrorCode;

pgrx::extension_sql_file!("../../sql/bootstrap.sql", name = "bootstrap", bootstrap);
pgrx::extension_sql_file!("../../sql/finalize.sql", name = "finalize", finalize);

/// An argument that may not be null, in a function that is not strict.
#[inline]
fn required<T>(value: Option<T>, name: &str) -> T {
    value.unwrap_or_else(|| {
        report(
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("{name} must not be null"),
            None,
            None,
        )
    })
}
