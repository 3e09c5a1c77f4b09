//! pg_mint: unique ids, minted inside PostgreSQL.
//!
//! Read `core` for the algorithms, `pg` for what the server lends them, `api` for what SQL sees.

mod api;
mod pg;

pgrx::pg_module_magic!(name = c"pg_mint", version = pg::VERSION);

/// Called by the server when it loads the library, in the postmaster or in a session.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::settings::init();
    pg::session::init();
    pg::statement::init(pg::segment_session::begin_statement);
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
