//! Ids in SQL alone, of `sql/managed`: equal to those of the extension, unique through faults, and the way to the extension.

mod back;
mod change;
mod dumps;
mod equal;
mod lanes;
mod limits;
mod loading;
mod rights;
mod transactions;
mod turns;

use mint_cluster::Session;

/// The file that users run.
const FILE: &str = include_str!("../../../../../sql/managed/pg_mint_sql.sql");

/// Runs the file as a migration does, in one transaction, and declares the shard 7 of a layout.
fn install(session: &mut Session) {
    session.run(&format!(
        "BEGIN; {FILE} COMMIT; SELECT mint_sql.shard_create(7)"
    ));
}
