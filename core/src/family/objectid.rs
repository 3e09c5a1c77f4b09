//! MongoDB's ObjectIDs.

use crate::family::reading::{Context, Input, Reading};
use crate::objectid::ObjectId;

/// Reads an ObjectID, or its 24 hexadecimal digits.
pub fn objectid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let id = match *id {
        Input::ObjectId(id) => Some(id),
        Input::Text(text) => ObjectId::parse(text),
        _ => None,
    };
    let readings = id.map(|id| {
        let [_, _, _, _, process @ .., _, _, _] = id.0;
        Reading::new("objectid", id.to_string())
            .time(id.time(), context.is_plausible(id.time()))
            .node(Some(hex::encode(process)))
            .sequence(id.counter().into())
            .part("legacy_machine", i64::from(id.legacy_machine()))
            .part("legacy_pid", i64::from(id.legacy_pid()))
    });
    readings.into_iter().collect()
}
