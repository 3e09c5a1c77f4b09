//! The type `snowflake_layout`: text and binary form, order and hash.

use crate::pg::charset::decode;
use crate::pg::datum::fixed;
use crate::snowflake::error::{bad_layout_bytes, bad_layout_text};
use crate::snowflake::layout::cache;
use mint_core::Layout;
use pgrx::prelude::*;
use std::cmp::Ordering;
use std::ffi::{CStr, CString};

/// The fields of a layout, 20 bytes; see `mint_core::Layout::to_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnowflakeLayout([u8; Layout::BYTES]);

fixed::fixed_type!(
    SnowflakeLayout,
    Layout::BYTES,
    "snowflake_layout",
    ThisExtension
);

impl SnowflakeLayout {
    /// What the bytes mean.
    #[inline]
    pub fn layout(&self) -> &'static Layout {
        cache::layout(self.0)
    }
}

impl From<&Layout> for SnowflakeLayout {
    fn from(layout: &Layout) -> Self {
        SnowflakeLayout(layout.to_bytes())
    }
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["bootstrap"])]
fn snowflake_layout_in(text: &CStr) -> SnowflakeLayout {
    let text = decode(text.to_bytes());
    match text.parse::<Layout>() {
        Ok(layout) => SnowflakeLayout::from(&layout),
        Err(error) => bad_layout_text(&text, &error).raise(),
    }
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["bootstrap"])]
fn snowflake_layout_out(layout: SnowflakeLayout) -> CString {
    // A layout's text has no zero byte.
    CString::new(layout.layout().to_string()).unwrap_or_default()
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["bootstrap"])]
fn snowflake_layout_recv(message: pgrx::Internal) -> SnowflakeLayout {
    match Layout::from_bytes(&fixed::receive(message)) {
        // Not the bytes as they came: equal layouts have equal ones.
        Ok(layout) => SnowflakeLayout::from(&layout),
        Err(error) => bad_layout_bytes(&error).raise(),
    }
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["bootstrap"])]
fn snowflake_layout_send(layout: SnowflakeLayout) -> Vec<u8> {
    layout.0.to_vec()
}

extension_sql_file!(
    "../../../sql/snowflake/layout_type.sql",
    name = "layout_type",
    creates = [Type(SnowflakeLayout)],
    requires = [
        "bootstrap",
        snowflake_layout_in,
        snowflake_layout_out,
        snowflake_layout_recv,
        snowflake_layout_send
    ]
);

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_eq(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a == b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_ne(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a != b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_lt(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a < b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_le(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a <= b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_gt(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a > b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_ge(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
    a >= b
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_cmp(a: SnowflakeLayout, b: SnowflakeLayout) -> i32 {
    match a.cmp(&b) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_hash(layout: SnowflakeLayout) -> i32 {
    fixed::hash(&layout.0).cast_signed()
}

#[pg_extern(immutable, strict, parallel_safe, requires = ["layout_type"])]
fn snowflake_layout_hash_extended(layout: SnowflakeLayout, seed: i64) -> i64 {
    fixed::hash_extended(&layout.0, seed.cast_unsigned()).cast_signed()
}

extension_sql_file!(
    "../../../sql/snowflake/layout_operators.sql",
    name = "layout_operators",
    requires = [
        "layout_type",
        snowflake_layout_eq,
        snowflake_layout_ne,
        snowflake_layout_lt,
        snowflake_layout_le,
        snowflake_layout_gt,
        snowflake_layout_ge,
        snowflake_layout_cmp,
        snowflake_layout_hash,
        snowflake_layout_hash_extended,
        snowflake_layout_in,
        snowflake_layout_out,
        snowflake_layout_recv,
        snowflake_layout_send
    ]
);
