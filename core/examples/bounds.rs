//! The bounds of a query for the ids of a day, of each kind of key: `id >= first AND id <= last`.

use mint_core::codec::ulid;
use mint_core::uuid::version;
use mint_core::{Layout, ObjectId};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (since, until) = (1_767_225_600_000_000, 1_767_312_000_000_000);
    println!("2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z, the end excluded");

    for text in [
        "instagram",
        "twitter",
        "time:42 shard:6 seq:15 epoch:2024-01-01T00:00:00Z",
    ] {
        let layout: Layout = text.parse()?;
        let first = layout.min_id(since)?.ok_or("after the layout's end")?;
        let last = layout
            .max_id_before(until)?
            .ok_or("before the layout's epoch")?;
        println!("{first} to {last}  {text}");
    }

    let (first, last) = (version::v7_min(since), version::v7_max_before(until));
    println!(
        "{} to {}  UUIDs of version 7",
        first.ok_or("late")?,
        last.ok_or("early")?
    );

    // A column that has ULIDs of other generators too.
    let (first, last) = (ulid::min(since), ulid::max_before(until));
    println!(
        "{} to {}  ULIDs in a uuid",
        first.ok_or("late")?,
        last.ok_or("early")?
    );

    let (first, last) = (ObjectId::min(since), ObjectId::max_before(until));
    println!(
        "{} to {}  ObjectIDs",
        first.ok_or("late")?,
        last.ok_or("early")?
    );
    Ok(())
}
