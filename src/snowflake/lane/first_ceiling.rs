//! Where the ceiling of a new extension begins.

use crate::pg::machine::clock;
use crate::snowflake::lane::{lanes, slots};
use crate::snowflake::settings;
use mint_core::Micros;

/// Returns a time above all ids that this database can have of those that were issued since the server started, in Unix
/// microseconds; 1 if there are none.
pub fn first() -> Micros {
    // CREATE EXTENSION asks, after which the sizes of memory can still be set.
    if !slots::are_made() {
        return 1;
    }
    match slots::own().bounds.written() {
        0 => above_lanes().max(1),
        known => known.max(1),
    }
}

/// Returns a time above all ids of the server, for a database whose bounds are not known. Its rows can have these: it can be
/// a copy of any other, or have been moved to another tablespace, which makes it look like another one.
///
/// At most what ids can be ahead of the clock. Only a superuser or a wrong clock brings a lane further, which must not keep
/// the new extension of any other database from generating ids.
///
/// Not for a database with known bounds: it would wait for the next tick of its layouts with a long unit of time.
fn above_lanes() -> Micros {
    let last = lanes::issued().map(|(.., at)| at).max();
    let reach = clock::now() + settings::policy().max_ahead;
    last.map_or(1, |at| at.saturating_add(1).min(reach))
}
