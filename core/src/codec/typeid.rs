//! TypeIDs (github.com/jetify-com/typeid, specification 0.3): a UUID as text with its type in front, `user_01h455vb4pex5vsknk084sn02q`.

use crate::codec::text::{Encoding, EncodingError, check_text_length, encoding};
use std::str;
use thiserror::Error;
use uuid::Uuid;

/// The digits of TypeIDs: lower case alone.
static TYPEID: Encoding = encoding("TypeID", b"0123456789abcdefghjkmnpqrstvwxyz", false);

/// The longest prefix, in characters.
pub const MAX_PREFIX: usize = 63;

/// Reason why a text is not a TypeID, or not a prefix of one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum TypeIdError {
    #[error("the prefix has {0} characters, and at most {MAX_PREFIX} are allowed")]
    LongPrefix(usize),
    #[error("the prefix has characters other than a to z and the underscore")]
    PrefixCharacter,
    #[error("the prefix begins or ends with an underscore")]
    PrefixEnd,
    #[error("the separator has no prefix before it")]
    Separator,
    /// The fault of the suffix, or of the length of the text.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
}

/// Checks a prefix, which can be empty.
///
/// # Errors
/// The rule that it breaks.
pub fn check_prefix(prefix: &[u8]) -> Result<&str, TypeIdError> {
    check_text_length(prefix)?;
    let letters = |&byte: &u8| byte.is_ascii_lowercase() || byte == b'_';
    let text = str::from_utf8(prefix).map_err(|_| TypeIdError::PrefixCharacter)?;
    match prefix {
        _ if !prefix.iter().all(letters) => Err(TypeIdError::PrefixCharacter),
        [b'_', ..] | [.., b'_'] => Err(TypeIdError::PrefixEnd),
        _ if prefix.len() > MAX_PREFIX => Err(TypeIdError::LongPrefix(prefix.len())),
        _ => Ok(text),
    }
}

/// Writes a TypeID.
///
/// # Errors
/// When the prefix is not valid.
pub fn to_text(prefix: &[u8], id: &Uuid) -> Result<String, TypeIdError> {
    let prefix = check_prefix(prefix)?;
    let suffix = TYPEID.base32(id.as_u128());
    let mut text = String::with_capacity(prefix.len() + 1 + suffix.len());
    text.push_str(prefix);
    if !prefix.is_empty() {
        text.push('_');
    }
    text.extend(suffix.iter().map(|&digit| char::from(digit)));
    Ok(text)
}

/// Reads a TypeID: its prefix, which can be empty, and its UUID, of any version.
///
/// # Errors
/// The rule that the text breaks.
pub fn parse(text: &[u8]) -> Result<(&str, Uuid), TypeIdError> {
    check_text_length(text)?;
    let (prefix, suffix) = match text.iter().rposition(|&byte| byte == b'_') {
        Some(0) => return Err(TypeIdError::Separator),
        Some(place) => (check_prefix(&text[..place])?, &text[place + 1..]),
        None => ("", text),
    };
    let id = TYPEID.decode_wide(suffix)?;
    Ok((prefix, Uuid::from_u128(id)))
}
