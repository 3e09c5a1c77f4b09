//! Parsed layouts that this session has used.

use crate::pg::backend::local::{Local, LocalOnce};
use crate::snowflake::error::bad_layout_bytes;
use mint_core::bytes::hash::fibonacci;
use mint_core::{DEFAULT_LAYOUT, Layout};
use std::ops::Deref;

/// The bytes of a layout, as words.
type Words = (u64, u64, u32);

/// The first layouts of the session, each at the first vacant place from its hash on. References to them stay valid.
static KEPT: [LocalOnce<(Words, Layout)>; 16] = [const { LocalOnce::new() }; 16];
/// The layout of the last call, which changes when a call has another one.
static RECENT: Local<(Words, &Layout)> = Local::new((NO_LAYOUT, DEFAULT_LAYOUT));

/// Bytes of no version.
const NO_LAYOUT: Words = (0, 0, 0);

/// A parsed layout.
pub enum Parsed {
    Kept(&'static Layout),
    /// A layout of a session that uses more layouts than are kept.
    Own(Layout),
}

impl Deref for Parsed {
    type Target = Layout;

    #[inline]
    fn deref(&self) -> &Layout {
        match self {
            Self::Kept(layout) => layout,
            Self::Own(layout) => layout,
        }
    }
}

/// Returns the layout of a value's bytes, which its input function has checked.
#[inline]
pub fn layout(bytes: [u8; Layout::BYTES]) -> Parsed {
    recent_layout(bytes).map_or_else(|| find(words(bytes)), Parsed::Kept)
}

/// Returns the layout of a value's bytes, if it is that of the last call.
#[inline]
pub fn recent_layout(bytes: [u8; Layout::BYTES]) -> Option<&'static Layout> {
    let (known, layout) = RECENT.get();
    let words = words(bytes);
    // A comparison of tuples would compare one by one.
    let differences = known.0 ^ words.0 | known.1 ^ words.1 | u64::from(known.2 ^ words.2);
    (differences == 0).then_some(layout)
}

/// Returns the layout of a value's bytes, if an earlier call of the session had it and it was kept.
pub fn kept_layout(bytes: [u8; Layout::BYTES]) -> Option<&'static Layout> {
    let words = words(bytes);
    let mut all = places(&words).map_while(LocalOnce::get);
    let (_, layout) = all.find(|(known, _)| *known == words)?;
    RECENT.set((words, layout));
    Some(layout)
}

/// Returns a layout that is not that of the last call.
#[cold]
fn find(words: Words) -> Parsed {
    for place in places(&words) {
        let (known, layout) = place.get_or(|| (words, parse(&words)));
        if *known == words {
            RECENT.set((words, layout));
            return Parsed::Kept(layout);
        }
    }
    Parsed::Own(parse(&words))
}

/// Returns the places of a layout, in the order in which they are tried.
fn places(words: &Words) -> impl Iterator<Item = &'static LocalOnce<(Words, Layout)>> {
    let first = hash(words);
    (first..first + KEPT.len()).map(|place| &KEPT[place % KEPT.len()])
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
