//! Public ids, which reveal nothing without a key.

use crate::codec::key_cache::concealer;
use crate::pg::datum::text::Bytea;
use crate::pg::error::OrReport;
use pgrx::prelude::*;

/// Returns the public id of an id: another positive number below 2^bits, which reveals nothing without the key, by FF1
/// of NIST SP 800-38G. With another tweak, such as the name of the table, it is another number.
#[pg_extern(sql = false)]
fn id_conceal(id: i64, key: Bytea<'_>, bits: i32, tweak: Bytea<'_>) -> i64 {
    concealer(key.0).conceal(id, bits, tweak.0).or_report()
}

/// Returns the id of a public id. With another key, width or tweak it is another id, not an error.
#[pg_extern(sql = false)]
fn id_reveal(id: i64, key: Bytea<'_>, bits: i32, tweak: Bytea<'_>) -> i64 {
    concealer(key.0).reveal(id, bits, tweak.0).or_report()
}
