//! pg_mint: unique ids, minted inside PostgreSQL.
//!
//! The algorithms are in `core`. `pg` is the interface to the server; `snowflake`, `uuid`, `objectid` and `counter`
//! mint ids; `codec` converts ids to other forms; `registry` grants nodes to servers, `citus` takes them from a cluster;
//! `inspect` returns the formats that an unknown id can have; `monitor` shows the state of all of these.

use std::ffi::CStr;

mod citus;
mod codec;
mod counter;
mod inspect;
mod monitor;
mod objectid;
mod pg;
mod registry;
mod snowflake;
mod statistics;
mod time_predicates;
mod uuid;

pgrx::pg_module_magic!(name = c"pg_mint", version = VERSION);
pgrx::extension_sql_file!("../sql/pg_mint--0.1.0.sql", name = "pg_mint", bootstrap);

/// The extension's version, as the server shows it.
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Returns the version of the library that this session has loaded. The version of the objects in the database is
/// `pg_extension.extversion`; after an upgrade of the library, `ALTER EXTENSION pg_mint UPDATE` brings them up to it.
#[pgrx::pg_extern(sql = false)]
const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Starts the library, when the server loads it, in the postmaster or in a session.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::error::init();
    pg::backend::discard::init();
    pg::backend::statement::init();
    pg::backend::guc::init();
    statistics::init();
    time_predicates::setting::init();
    uuid::init();
    objectid::generate::init();
    snowflake::init();
    counter::init();
    registry::init();
    citus::init();
    pg::backend::guc::reserve_prefix();
}

#[cfg(any(test, feature = "pg_test"))]
#[path = "../pg_test/inside/mod.rs"]
mod inside;

/// The module that pgrx's test framework looks for.
#[cfg(test)]
pub mod pg_test {
    /// Prepares the tests: called once before them.
    pub fn setup(_options: Vec<&str>) {}

    /// Returns lines for the test server's configuration.
    #[must_use]
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec![]
    }
}
