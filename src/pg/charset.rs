//! Conversion between the encoding of the database and UTF-8, by the server's own functions. Arguments and results of
//! generators are ASCII, which needs none. SQL_ASCII is taken for Latin-1, so that each byte comes back as it was.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::pg_enc::{PG_SQL_ASCII, PG_UTF8};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, pg_sys};
use std::ffi::{CStr, CString, c_char, c_int};

fn encoding() -> u32 {
    // SAFETY: reads a plain number, which is that of SQL_ASCII before the process has connected to a database.
    unsafe { pg_sys::GetDatabaseEncoding() }.unsigned_abs()
}

/// Returns whether the database is in UTF-8, which takes no conversion.
pub fn is_utf8() -> bool {
    encoding() == PG_UTF8
}

/// Converts a text; none if a character has no counterpart, or outside of a transaction, which the lookup takes.
fn convert(text: &[u8], from: u32, to: u32) -> Option<Vec<u8>> {
    let length = c_int::try_from(text.len()).ok()?;
    let room = length.checked_mul(4)?.checked_add(8)?;
    let mut target = vec![0_u8; room.unsigned_abs() as usize];
    let (from, to) = (from.cast_signed(), to.cast_signed());
    // SAFETY: no character of `from` is longer than four of `to`, and the result ends with a zero byte. `true` makes
    // the function stop at a character that it cannot convert, and raise no error.
    let converted = unsafe {
        let by =
            pg_sys::IsTransactionState().then(|| pg_sys::FindDefaultConversionProc(from, to))?;
        let (source, target) = (text.as_ptr().cast_mut(), target.as_mut_ptr());
        by != pg_sys::InvalidOid
            && pg_sys::pg_do_encoding_conversion_buf(
                by, from, to, source, length, target, room, true,
            ) == length
    };
    target.truncate(target.iter().position(|&byte| byte == 0)?);
    converted.then_some(target)
}

/// Decodes a text of the database. If it cannot be converted, only its ASCII is left.
pub fn decode(text: &[u8]) -> String {
    match encoding() {
        PG_SQL_ASCII => text.iter().copied().map(char::from).collect(),
        from if from != PG_UTF8 && !text.is_ascii() => match convert(text, from, PG_UTF8) {
            Some(text) => String::from_utf8_lossy(&text).into_owned(),
            None => text
                .iter()
                .map(|&byte| {
                    if byte.is_ascii() {
                        byte.into()
                    } else {
                        '\u{fffd}'
                    }
                })
                .collect(),
        },
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// Encodes a text; none if the database's encoding does not have one of its characters.
fn try_encode(text: &str) -> Option<Vec<u8>> {
    match encoding() {
        PG_SQL_ASCII => text.chars().map(|sign| sign.try_into().ok()).collect(),
        to if to != PG_UTF8 && !text.is_ascii() => convert(text.as_bytes(), PG_UTF8, to),
        _ => Some(text.into()),
    }
}

/// Encodes a text that is shown. If the encoding lacks one of its characters, question marks stand for all but ASCII.
pub fn encode_shown(text: &str) -> Vec<u8> {
    let plain = |sign: char| u8::try_from(sign).ok().filter(u8::is_ascii).unwrap_or(b'?');
    try_encode(text).unwrap_or_else(|| text.chars().map(plain).collect())
}

/// Encodes a statement or a name. A character that the database's encoding lacks is an error: no other means the same.
pub fn encode(text: &str) -> Vec<u8> {
    const MESSAGE: &str = "text has a character that the encoding of the database does not have";
    try_encode(text).unwrap_or_else(|| {
        let code = Code::ERRCODE_UNTRANSLATABLE_CHARACTER;
        ErrorReport::new(code, MESSAGE, "pg_mint").report(PgLogLevel::ERROR);
        unreachable!("an error report does not return")
    })
}

/// Encodes a name or a statement for a C function.
pub fn c_string(name: &str) -> CString {
    CString::new(encode(name)).unwrap_or_default()
}

/// Decodes a C string of the server; none if it is null.
///
/// # Safety
/// It ends with a zero byte, or is null.
pub unsafe fn decode_c(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller says.
    (!text.is_null()).then(|| decode(unsafe { CStr::from_ptr(text) }.to_bytes()))
}
