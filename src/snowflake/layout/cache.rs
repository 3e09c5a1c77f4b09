//! Parsed layouts that this session has used.

use crate::pg::backend::direct_mapped::DirectMapped;
use crate::snowflake::error::bad_layout_bytes;
use mint_core::bytes::hash::fibonacci;
use mint_core::{BUILTINS, Layout};
use std::cell::UnsafeCell;

/// The bytes of a layout, as words.
type Words = (u64, u64, u32);

/// Parsed layouts by their bytes. The first byte of a layout is never zero.
static LAYOUTS: DirectMapped<Words, Layout, 16> =
    DirectMapped::new([const { UnsafeCell::new(((0, 0, 0), BUILTINS[0].layout)) }; 16]);

/// Returns the layout of a value's bytes, which its input function has checked. The reference is valid until the next
/// call.
#[inline]
pub fn layout(bytes: [u8; Layout::BYTES]) -> &'static Layout {
    LAYOUTS.get(words(bytes), hash, parse)
}

fn hash(words: &Words) -> usize {
    // A collision only costs time.
    let mixed = words.0 ^ words.1.rotate_left(32) ^ u64::from(words.2);
    (fibonacci(mixed) >> 60) as usize
}

// Words instead of a reference to the bytes keep the key in registers.
#[inline]
fn words(bytes: [u8; Layout::BYTES]) -> Words {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, rest @ ..] = bytes;
    (
        u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        u64::from_ne_bytes([i, j, k, l, m, n, o, p]),
        u32::from_ne_bytes(rest),
    )
}

fn parse(words: &Words) -> Layout {
    let mut bytes = [0; Layout::BYTES];
    bytes[..8].copy_from_slice(&words.0.to_ne_bytes());
    bytes[8..16].copy_from_slice(&words.1.to_ne_bytes());
    bytes[16..].copy_from_slice(&words.2.to_ne_bytes());
    Layout::from_bytes(&bytes).unwrap_or_else(|error| bad_layout_bytes(&error).raise())
}
