//! pg_mint: unique ids, minted inside PostgreSQL.
//!
//! Read `core` for the algorithms. `pg` lends what the server has; `snowflake`, `uuid`, `objectid` and `counter` mint;
//! `codec` shows ids in other forms; `registry` keeps servers apart.

use std::ffi::CStr;

mod codec;
mod counter;
mod objectid;
mod pg;
mod registry;
mod snowflake;
mod uuid;

pgrx::pg_module_magic!(name = c"pg_mint", version = VERSION);
pgrx::extension_sql_file!("../sql/bootstrap.sql", name = "bootstrap", bootstrap);

/// The extension's version, as the server shows it.
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Called by the server when it loads the library, in the postmaster or in a session.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::backend::discard::init();
    pg::backend::statement::init();
    pg::backend::guc::init();
    snowflake::init();
    uuid::node::init();
    counter::init();
    registry::init();
    pg::backend::guc::reserve_prefix();
}

#[cfg(any(test, feature = "pg_test"))]
#[path = "../pg_test/inside/mod.rs"]
mod inside;

/// What pgrx's test framework asks of a crate.
#[cfg(test)]
pub mod pg_test {
    /// Called once before the tests.
    pub fn setup(_options: Vec<&str>) {}

    /// Lines for the test server's configuration.
    #[must_use]
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec![]
    }
}
