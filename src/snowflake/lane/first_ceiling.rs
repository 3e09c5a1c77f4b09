//! The first ceiling of a new extension.

use crate::pg::error;
use crate::pg::machine::clock;
use crate::snowflake::lane::{lanes, slots};
use crate::snowflake::settings;
use mint_core::Micros;
use mint_core::clock::duration_text;

/// Returns a time above all ids that rows of this database can have from this run of the server, in Unix microseconds;
/// 1 if there are none.
pub fn first() -> Micros {
    // CREATE EXTENSION calls this, and the sizes of memory can still be set after it.
    if !slots::are_made() {
        return 1;
    }
    match slots::own().bounds.written() {
        0 => above_lanes().max(1),
        known => known.max(1),
    }
}

/// Returns a time above all ids of the server, for a database whose bounds are not known. Its rows can have these ids:
/// it can be a copy of any other database, or have been moved to another tablespace, which makes it look like another
/// one.
///
/// The time is not above lanes further ahead than `pg_mint.max_ahead` can be set to. Only a superuser or a wrong clock
/// brings a lane there, which must not keep the new extension of any other database from generating ids.
///
/// A database with known bounds does without: it would wait for the next tick of its layouts with long ticks.
fn above_lanes() -> Micros {
    let now = clock::now();
    let reach = now + settings::most_ahead();
    let (near, far): (Vec<Micros>, Vec<Micros>) = lanes::issued_lanes()
        .map(|(.., at)| at.saturating_add(1))
        .partition(|&at| at <= reach);
    let near = near.into_iter().max().unwrap_or(1);
    let Some(far) = far.into_iter().max() else {
        return near;
    };
    error::warn(
        "ceiling of the new extension does not cover all ids of this server",
        format!(
            "The last of them is {} ahead of the clock. If this database is a copy of another, or was moved to another tablespace, it can have such ids, and they could repeat after a restart.",
            duration_text(far - now)
        ),
        Some(
            "If it has ids of such times, use snowflake_start_above() with the last one of each shard.",
        ),
    );
    near.max(now + settings::policy().max_ahead)
}
