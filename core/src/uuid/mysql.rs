//! UUIDs as MySQL 8 writes and stores them (manual, "Miscellaneous Functions").

use crate::uuid::version::Uuid;

/// Returns a UUID in one of MySQL's three forms, with either case: 32 digits, with four dashes, or with dashes and
/// braces. PostgreSQL's own input accepts more.
#[must_use]
pub fn parse(text: &[u8]) -> Option<Uuid> {
    // These lengths are those of MySQL's three forms: the parser's others have 34, 41 and 45.
    matches!(text.len(), 32 | 36 | 38)
        .then(|| Uuid::try_parse_ascii(text).ok())
        .flatten()
}

/// Returns the 16 bytes of `UUID_TO_BIN`. `swap` puts the upper part of version 1's time in front, so that
/// ids minted one after another are stored one after another. With other versions it only shuffles.
#[must_use]
pub fn to_bin(id: &Uuid, swap: bool) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *id.as_bytes();
    let start = if swap {
        [g, h, e, f, a, b, c, d]
    } else {
        [a, b, c, d, e, f, g, h]
    };
    (u128::from(u64::from_be_bytes(start)) << 64 | u128::from(u64::from_be_bytes(rest)))
        .to_be_bytes()
}

/// Returns the UUID that [`to_bin`] stored with the same `swap`: the inverse shuffle, not the same one.
#[must_use]
pub fn from_bin(bytes: [u8; 16], swap: bool) -> Uuid {
    let [a, b, c, d, e, f, g, h, ..] = bytes;
    let mut id = bytes;
    if swap {
        id[..8].copy_from_slice(&[e, f, g, h, c, d, a, b]);
    }
    Uuid::from_bytes(id)
}
