//! Texts in the encoding of the database, and in Rust's. What comes from the server is decoded, what goes to it is
//! encoded: arguments, rows, statements and messages, all by these functions.
//!
//! Nothing is lost on the way to Rust and back: a byte that is no character becomes one of the last 256 code points,
//! which Unicode leaves unused, and that becomes the byte again. SQL_ASCII has no characters beyond ASCII; what is UTF-8 there
//! is taken as such, so that it looks in messages as it does to the server.

use pgrx::pg_sys;
use std::ffi::{CStr, CString, c_char, c_int};

/// Stands for byte 0; the other 255 follow.
const ESCAPE: u32 = 0x10_ff00;

pub(super) const UTF8: u32 = pg_sys::pg_enc::PG_UTF8;

/// The encoding of the database; SQL_ASCII before there is one.
pub(super) fn encoding() -> u32 {
    // SAFETY: reads a plain number.
    unsafe { pg_sys::GetDatabaseEncoding() }.unsigned_abs()
}

pub(super) fn escape(byte: u8) -> char {
    char::from_u32(ESCAPE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn escaped(sign: char) -> Option<u8> {
    u8::try_from(u32::from(sign).checked_sub(ESCAPE)?).ok()
}

/// What the server's bytes say.
pub fn decode(bytes: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(bytes)
        && (bytes.is_ascii() || encoding() == UTF8)
    {
        return text.to_owned();
    }
    let from = encoding();
    if from == UTF8 || from == pg_sys::pg_enc::PG_SQL_ASCII {
        return decode_as_it_is(bytes);
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
        // The whole of a character that has no counterpart, so that the next one is found.
        let bad = rest.len().min(length(rest, from));
        text.extend(rest[..bad].iter().copied().map(escape));
        rest = &rest[bad..];
    }
    text
}

fn decode_as_it_is(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for sign in chunk.valid().chars() {
            // The code points that stand for bytes stand for theirs.
            match escaped(sign) {
                None => text.push(sign),
                Some(_) => {
                    let mut room = [0; 4];
                    text.extend(sign.encode_utf8(&mut room).bytes().map(escape));
                }
            }
        }
        text.extend(chunk.invalid().iter().copied().map(escape));
    }
    text
}

/// How many bytes the first character has.
fn length(bytes: &[u8], encoding: u32) -> usize {
    let Ok(text) = CString::new(bytes) else {
        return 1;
    };
    if bytes.is_empty() {
        return 0;
    }
    // SAFETY: looks at the first bytes of a text that ends with a zero byte.
    let length = unsafe { pg_sys::pg_encoding_mblen(encoding.cast_signed(), text.as_ptr().cast()) };
    length.unsigned_abs().max(1) as usize
}

/// A text for the server. What its encoding has no character for becomes a question mark.
pub fn encode(text: &str) -> Vec<u8> {
    let to = encoding();
    if text.is_ascii() || to == UTF8 {
        return text.into();
    }
    let mut bytes = Vec::new();
    for part in text.split_inclusive(|sign| escaped(sign).is_some()) {
        let last = part.chars().next_back().and_then(escaped);
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
            let mut signs = rest.chars();
            signs.next();
            rest = signs.as_str();
            bytes.push(b'?');
        }
    }
}

/// Converts a part of it, as far as that goes: how many bytes that were, and what they became. None when the first
/// character cannot be.
fn convert(bytes: &[u8], from: u32, to: u32) -> (usize, Vec<u8>) {
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
    // SAFETY: a lookup in the catalogs inside a transaction; else there is nothing to convert by. The target has room
    // for the longest result, which ends with a zero byte. The function is asked to stop at what it cannot convert,
    // not to raise an error.
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

/// A text that a C function takes, without what follows a zero byte.
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

/// What a C string of the server's says.
///
/// # Safety
/// It ends with a zero byte.
pub unsafe fn decode_c(text: *const c_char) -> String {
    // SAFETY: as the caller says.
    decode(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A message or a statement in the encoding of the database, for pgrx, which takes strings and copies their bytes.
/// Nothing else may be done with it.
pub fn carried(text: String) -> String {
    if text.is_ascii() || encoding() == UTF8 {
        return text;
    }
    // SAFETY: what takes it copies the bytes into a C string, and looks for a zero byte.
    unsafe { String::from_utf8_unchecked(encode(&text)) }
}
