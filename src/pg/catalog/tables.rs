//! The tables of the extension's schema. They belong to the extension, so nobody else has put a trigger, a rule or a
//! policy on them.

use crate::pg::catalog::binding::Bound;
use crate::pg::catalog::{binding, privilege, relation, spi};
use crate::pg::charset;
use crate::pg::error::report;
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Runs `work` with the OIDs of tables of these names. Names in its statements can mean only these tables.
pub fn with<const N: usize, T>(
    names: [&str; N],
    work: impl FnOnce(&mut SpiClient<'_>, [pg_sys::Oid; N]) -> T,
) -> T {
    let schema = relation::schema_and_owner("mint");
    let oids = names.map(|name| {
        let table = schema.and_then(|(schema, _)| relation::find(schema, &charset::c_string(name)));
        table.unwrap_or_else(|| missing(name))
    });
    let bound = Bound {
        relations: &oids,
        ..Bound::default()
    };
    privilege::guarded(|| binding::restrict_to(bound, || spi::open(|client| work(client, oids))))
}

#[cold]
fn missing(name: &str) -> ! {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("table \"mint.{name}\" does not exist"),
    )
    .hint("Use CREATE EXTENSION pg_mint, or ALTER EXTENSION pg_mint UPDATE.")
    .raise()
}
