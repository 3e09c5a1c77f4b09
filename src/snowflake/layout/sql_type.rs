//! The type `snowflake_layout`: text and binary form, order and hash.

use crate::pg::backend::local::Cached;
use crate::pg::charset::decode;
use crate::pg::datum::fixed;
use crate::pg::datum::text::Text;
use crate::snowflake::error::{bad_layout_bytes, bad_layout_text};
use crate::snowflake::layout::cache::{self, Parsed};
use mint_core::Layout;
use mint_core::snowflake::layout_text::check_layout_length;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// The fields of a layout, 20 bytes; see `mint_core::Layout::to_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnowflakeLayout([u8; Layout::BYTES]);

fixed::fixed_type!(SnowflakeLayout, Layout::BYTES, "snowflake_layout");

impl SnowflakeLayout {
    /// Returns the layout, parsed.
    #[inline]
    pub fn layout(&self) -> Parsed {
        cache::layout(self.0)
    }

    /// Returns the parsed layout, if the last call had it as well.
    #[inline]
    pub fn recent_layout(self) -> Option<&'static Layout> {
        cache::recent_layout(self.0)
    }

    /// Returns the parsed layout, if an earlier call of the session had it.
    pub fn kept_layout(self) -> Option<&'static Layout> {
        cache::kept_layout(self.0)
    }
}

impl From<&Layout> for SnowflakeLayout {
    fn from(layout: &Layout) -> Self {
        SnowflakeLayout(layout.to_bytes())
    }
}

#[pg_extern(sql = false)]
fn snowflake_layout_in(text: &CStr) -> SnowflakeLayout {
    parse(text.to_bytes())
}

fn parse(text: &[u8]) -> SnowflakeLayout {
    match check_layout_length(text.len()).and_then(|()| decode(text).parse::<Layout>()) {
        Ok(layout) => SnowflakeLayout::from(&layout),
        Err(error) => bad_layout_text(text, &error).raise(),
    }
}

#[pg_extern(sql = false)]
fn snowflake_layout_out(layout: SnowflakeLayout) -> CString {
    // A layout's text has no zero byte.
    CString::new(layout.layout().to_string()).unwrap_or_default()
}

#[pg_extern(sql = false)]
fn snowflake_layout_recv(message: pgrx::Internal) -> SnowflakeLayout {
    match Layout::from_bytes(&fixed::receive(message)) {
        // Normalized, so that equal layouts have equal bytes.
        Ok(layout) => SnowflakeLayout::from(&layout),
        Err(error) => bad_layout_bytes(&error).raise(),
    }
}

#[pg_extern(sql = false)]
fn snowflake_layout_send(layout: SnowflakeLayout) -> Vec<u8> {
    layout.0.to_vec()
}

/// Returns the layout of a text, for the casts from text and varchar. A variable or a parameter is the same text in
/// call after call, so the last one is not parsed again.
#[pg_extern(sql = false)]
fn snowflake_layout_from_text(text: Text<'_>) -> SnowflakeLayout {
    static LAST: Cached<(Vec<u8>, SnowflakeLayout)> = Cached::new();
    let parse = || {
        let layout = parse(text.0);
        (text.0.to_vec(), layout)
    };
    LAST.get_matching(|(known, _)| known == text.0, parse).1
}

macro_rules! comparisons {
    ($($name:ident $operator:tt)*) => {$(
        #[pg_extern(sql = false)]
        fn $name(a: SnowflakeLayout, b: SnowflakeLayout) -> bool {
            a $operator b
        }
    )*};
}

comparisons! {
    snowflake_layout_eq ==
    snowflake_layout_ne !=
    snowflake_layout_lt <
    snowflake_layout_le <=
    snowflake_layout_gt >
    snowflake_layout_ge >=
}

#[pg_extern(sql = false)]
fn snowflake_layout_cmp(a: SnowflakeLayout, b: SnowflakeLayout) -> i32 {
    a.cmp(&b) as i32
}

#[pg_extern(sql = false)]
fn snowflake_layout_hash(layout: SnowflakeLayout) -> i32 {
    fixed::hash(&layout.0).cast_signed()
}

#[pg_extern(sql = false)]
fn snowflake_layout_hash_extended(layout: SnowflakeLayout, seed: i64) -> i64 {
    fixed::hash_extended(&layout.0, seed.cast_unsigned()).cast_signed()
}
