//! xid (github.com/rs/xid): the 12 bytes of a legacy ObjectID as 20 digits of base32hex (RFC 4648), in lower case.

use crate::family::reading::{Context, Input, Reading};
use crate::objectid::ObjectId;

/// Reads an xid.
pub fn xid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| Some((text, parse(text)?)));
    let readings = read.map(|(text, id)| {
        let [_, _, _, _, a, b, c, ..] = id.0;
        Reading::new("xid", String::from_utf8_lossy(text))
            .time(id.time(), context.is_plausible(id.time()))
            .node(Some(hex::encode([a, b, c])))
            .sequence(id.counter().into())
            .part("pid", i64::from(id.legacy_pid()))
            .part("objectid", id.to_string())
    });
    readings.into_iter().collect()
}

/// Reads 20 digits of 5 bits, of which the last 4 bits are zero.
fn parse(text: &[u8]) -> Option<ObjectId> {
    let digits = (text.len() == 20).then_some(text)?;
    let mut bits = 0_u128;
    for &digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'v' => digit - b'a' + 10,
            _ => return None,
        };
        bits = bits << 5 | u128::from(value);
    }
    let [_, _, _, _, bytes @ ..] = (bits >> 4).to_be_bytes();
    (bits & 0xf == 0).then_some(ObjectId(bytes))
}
