//! Conversion between the encoding of the database and UTF-8. All text from the server is decoded and all text for it
//! is encoded by these functions: arguments, rows, statements and messages.
//!
//! Decoding and encoding again loses nothing: an invalid byte becomes one of the last 256 code points, which Unicode
//! leaves unused, and that becomes the byte again. SQL_ASCII has no characters beyond ASCII; text that is valid UTF-8
//! is decoded as UTF-8 there, so that messages show it as the server does.

use mint_core::bytes::excerpt::{ELLIPSIS, LONGEST};
use pgrx::pg_sys;
use std::ffi::{CStr, CString, c_char, c_int};

/// The code point that stands for byte 0; those for the other 255 follow.
const ESCAPE: u32 = 0x10_ff00;

pub(super) const UTF8: u32 = pg_sys::pg_enc::PG_UTF8;

/// The longest message, detail or hint, in bytes.
pub const LONGEST_MESSAGE: usize = 600;

/// No encoding of a database has longer characters.
const LONGEST_CHARACTER: usize = 4;

/// Returns the encoding of the database; SQL_ASCII before the process has connected to one.
pub(super) fn encoding() -> u32 {
    // SAFETY: reads a plain number.
    unsafe { pg_sys::GetDatabaseEncoding() }.unsigned_abs()
}

/// Returns the code point that stands for a byte.
pub(super) fn escape(byte: u8) -> char {
    char::from_u32(ESCAPE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the byte that a code point stands for.
fn unescape(character: char) -> Option<u8> {
    u8::try_from(u32::from(character).checked_sub(ESCAPE)?).ok()
}

/// Returns whether a text has nothing but ASCII and code points that stand for bytes.
pub(super) fn is_escaped(text: &[u8]) -> bool {
    let is_one = |character: char| character.is_ascii() || unescape(character).is_some();
    str::from_utf8(text).is_ok_and(|text| text.chars().all(is_one))
}

/// Decodes bytes of the server.
pub fn decode(bytes: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(bytes)
        && (bytes.is_ascii() || encoding() == UTF8)
    {
        return text.to_owned();
    }
    let from = encoding();
    if from == UTF8 || from == pg_sys::pg_enc::PG_SQL_ASCII {
        return decode_utf8(bytes);
    }
    let mut text = String::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (good, converted) = convert(rest, from, UTF8);
        text.push_str(&String::from_utf8_lossy(&converted));
        rest = rest.get(good..).unwrap_or_default();
        if good > 0 {
            continue;
        }
        // A character without a counterpart is skipped as a whole, so that the next one is found.
        let bad = rest.len().min(length(rest, from));
        text.extend(rest[..bad].iter().copied().map(escape));
        rest = &rest[bad..];
    }
    text
}

/// Decodes a text for a message, and cuts it off: see [`mint_core::bytes::excerpt`]. Nothing behind the cut is read.
pub fn excerpt(bytes: &[u8]) -> String {
    match end_of(bytes, LONGEST) {
        Some(end) => decode(&bytes[..end]) + ELLIPSIS,
        None => decode(bytes),
    }
}

/// Returns where a text of more than that many bytes is cut, between two characters of the database's encoding; none if it
/// is not longer. That takes no lookup.
fn end_of(bytes: &[u8], longest: usize) -> Option<usize> {
    if bytes.len() <= longest {
        return None;
    }
    let encoding = match encoding() {
        pg_sys::pg_enc::PG_SQL_ASCII => UTF8,
        encoding => encoding,
    };
    let mut end = 0;
    loop {
        let next = end + length(&bytes[end..], encoding);
        if next > longest {
            return Some(end);
        }
        end = next;
    }
}

/// Decodes UTF-8, and escapes invalid bytes.
fn decode_utf8(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            // A code point that stands for a byte is escaped too, or it would become that byte.
            match unescape(character) {
                None => text.push(character),
                Some(_) => {
                    let mut room = [0; 4];
                    text.extend(character.encode_utf8(&mut room).bytes().map(escape));
                }
            }
        }
        text.extend(chunk.invalid().iter().copied().map(escape));
    }
    text
}

/// Returns how many bytes the first character has.
fn length(bytes: &[u8], encoding: u32) -> usize {
    let first = &bytes[..bytes.len().min(LONGEST_CHARACTER)];
    let Ok(text) = CString::new(first) else {
        return 1;
    };
    if bytes.is_empty() {
        return 0;
    }
    // SAFETY: reads the first bytes of a text that ends with a zero byte.
    let length = unsafe { pg_sys::pg_encoding_mblen(encoding.cast_signed(), text.as_ptr().cast()) };
    length.unsigned_abs().max(1) as usize
}

/// Encodes a text for the server. A character that the encoding does not have becomes a question mark.
pub fn encode(text: &str) -> Vec<u8> {
    let to = encoding();
    if text.is_ascii() || to == UTF8 {
        return text.into();
    }
    let mut bytes = Vec::new();
    for part in text.split_inclusive(|character| unescape(character).is_some()) {
        let last = part.chars().next_back().and_then(unescape);
        let end = part.len() - if last.is_some() { 4 } else { 0 };
        encode_part(&part[..end], to, &mut bytes);
        bytes.extend(last);
    }
    bytes
}

fn encode_part(part: &str, to: u32, bytes: &mut Vec<u8>) {
    if to == pg_sys::pg_enc::PG_SQL_ASCII {
        bytes.extend_from_slice(part.as_bytes());
        return;
    }
    let mut rest = part;
    while !rest.is_empty() {
        let (good, converted) = convert(rest.as_bytes(), UTF8, to);
        bytes.extend(converted);
        rest = rest.get(good..).unwrap_or_default();
        if good == 0 {
            let mut characters = rest.chars();
            characters.next();
            rest = characters.as_str();
            bytes.push(b'?');
        }
    }
}

/// Converts as many bytes as possible; returns how many, and the result. That is 0 when the first character cannot be
/// converted.
fn convert(bytes: &[u8], from: u32, to: u32) -> (usize, Vec<u8>) {
    // In parts, as a result can be four times as long. A character that a part cuts off is the next part's first.
    const PART: usize = 8_192;
    let bytes = &bytes[..bytes.len().min(PART)];
    let plain = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    if plain > 0 {
        return (plain, bytes[..plain].to_vec());
    }
    // No server has longer values.
    let (Ok(length), Ok(room)) = (
        c_int::try_from(bytes.len()),
        c_int::try_from(bytes.len() * 4 + 8),
    ) else {
        return (0, Vec::new());
    };
    let (from, to) = (from.cast_signed(), to.cast_signed());
    let mut target = vec![0_u8; room.unsigned_abs() as usize];
    // SAFETY: a lookup in the catalogs, only inside a transaction. The target has room for the longest result, which
    // ends with a zero byte. `true` makes the function stop at what it cannot convert, and raise no error.
    let good = unsafe {
        if !pg_sys::IsTransactionState() {
            return (0, Vec::new());
        }
        let by = pg_sys::FindDefaultConversionProc(from, to);
        if by == pg_sys::InvalidOid {
            return (0, Vec::new());
        }
        pg_sys::pg_do_encoding_conversion_buf(
            by,
            from,
            to,
            bytes.as_ptr().cast_mut(),
            length,
            target.as_mut_ptr(),
            room,
            true,
        )
    };
    let end = target.iter().position(|&byte| byte == 0).unwrap_or(0);
    target.truncate(end);
    (good.unsigned_abs() as usize, target)
}

/// Encodes a text for a C function, up to a zero byte.
pub fn c_string(text: &str) -> CString {
    let mut bytes = encode(text);
    bytes.truncate(
        bytes
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(bytes.len()),
    );
    CString::new(bytes).unwrap_or_default()
}

/// Decodes a C string of the server.
///
/// # Safety
/// It ends with a zero byte.
pub unsafe fn decode_c(text: *const c_char) -> String {
    // SAFETY: as the caller says.
    decode(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Decodes a copy of a name that a lookup in the catalogs has returned; none of null.
///
/// # Safety
/// A string, or null.
pub unsafe fn decode_copy(name: *const c_char) -> Option<String> {
    // SAFETY: as the caller says.
    (!name.is_null()).then(|| unsafe { decode_c(name) })
}

/// A message or a statement in the encoding of the database, for pgrx, which takes strings. It might not be UTF-8, so no
/// other code can read it.
pub struct Encoded(Vec<u8>);

impl Encoded {
    /// Encodes a text.
    pub fn new(text: &str) -> Self {
        Self(encode(text))
    }

    /// Encodes a text of a message. What is longer than any text of this library is cut off: whatever a caller gave, a message
    /// and the log have little of it. Callers' own texts are cut by [`excerpt`] before.
    pub fn message(text: &str) -> Self {
        let mut bytes = encode(text);
        if let Some(end) = end_of(&bytes, LONGEST_MESSAGE) {
            bytes.truncate(end);
            bytes.extend_from_slice(ELLIPSIS.as_bytes());
        }
        Self(bytes)
    }

    /// Returns the bytes as the string that pgrx takes.
    ///
    /// # Safety
    /// Nothing but pgrx gets it, which copies the bytes into a C string, and searches them for a zero byte.
    pub(super) unsafe fn for_pgrx(self) -> String {
        // SAFETY: as the caller says.
        unsafe { String::from_utf8_unchecked(self.0) }
    }
}
