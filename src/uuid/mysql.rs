//! MySQL 8's functions for UUIDs, by the same names. As in MySQL, the second argument can be a number.

use crate::pg::datum::text::Text;
use crate::pg::datum::uuid::UuidValue;
use crate::pg::error;
use mint_core::uuid::mysql;
use pgrx::prelude::*;

/// Returns the 16 bytes of a UUID, to store as bytea. With `swap`, those of version 1 sort by time.
#[pg_extern(sql = false)]
fn uuid_to_bin(id: UuidValue, swap: bool) -> Vec<u8> {
    mysql::to_bin(&id.into(), swap).to_vec()
}

/// Does the same as `uuid_to_bin(uuid, boolean)`, any number but 0 swaps.
#[pg_extern(sql = false)]
fn uuid_to_bin_by_number(id: UuidValue, swap: i32) -> Vec<u8> {
    uuid_to_bin(id, swap != 0)
}

/// Returns the UUID of bytes that `uuid_to_bin` returned with the same `swap`.
#[pg_extern(sql = false)]
fn bin_to_uuid(bytes: &[u8], swap: bool) -> UuidValue {
    mysql::from_bin(error::exact_bytes(bytes, "uuid"), swap).into()
}

/// Does the same as `bin_to_uuid(bytea, boolean)`, any number but 0 swaps.
#[pg_extern(sql = false)]
fn bin_to_uuid_by_number(bytes: &[u8], swap: i32) -> UuidValue {
    bin_to_uuid(bytes, swap != 0)
}

/// Returns whether a text is a UUID in one of MySQL's forms.
#[pg_extern(sql = false)]
fn is_uuid(id: Text<'_>) -> bool {
    mysql::parse(id.0).is_some()
}
