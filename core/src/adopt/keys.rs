//! Ids that sort by time, as bounds of partitions.

use crate::clock::Micros;
use crate::objectid::ObjectId;
use crate::snowflake::error::IdError;
use crate::snowflake::layout::Layout;
use crate::uuid::version::{self, Uuid};
use std::fmt;

/// The ids of a column, as numbers in the order of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// 64-bit ids of a layout.
    Snowflake(Layout),
    /// UUIDs of version 7.
    UuidV7,
    /// ObjectIDs.
    ObjectId,
}

/// An id as a number, in the order of its type.
pub type Key = u128;

/// What is added to a bigint, so that the first one is 0.
const SIGN: i128 = 1 << 63;

impl Keys {
    /// Returns the first key at or after a timestamp, such that every id minted from then on is not below it; none past
    /// the last timestamp.
    ///
    /// # Errors
    /// When ids of the layout do not sort by time.
    pub fn first(&self, at: Micros) -> Result<Option<Key>, IdError> {
        Ok(match self {
            Self::Snowflake(layout) => layout.min_id(at)?.map(of_bigint),
            // Without the bits of version and variant, so that ULIDs of the same time are on the same side.
            Self::UuidV7 => version::v7_min(at).map(|id| id.as_u128() >> 80 << 80),
            Self::ObjectId => ObjectId::min(at).map(of_objectid),
        })
    }

    /// Returns the time of a key; none if no id of that time has it.
    #[must_use]
    pub fn time(&self, key: Key) -> Option<Micros> {
        match self {
            Self::Snowflake(layout) => Some(layout.decode(to_bigint(key)?).ok()?.at),
            Self::UuidV7 => Some(i64::try_from(key >> 80).ok()? * 1_000),
            Self::ObjectId => Some(i64::try_from(key >> 64).ok()? * 1_000_000),
        }
    }

    /// Returns the first key that can be told to have a time: the numbers that a layout gives its first day can be those of
    /// a counter as well.
    #[must_use]
    pub fn first_certain(&self) -> Option<Key> {
        const DAY: Micros = 86_400_000_000;
        match self {
            Self::Snowflake(layout) => self.first(layout.epoch().saturating_add(DAY)).ok()?,
            _ => self.first(DAY).ok()?,
        }
    }

    /// Reads a key from the text of its type.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<Key> {
        match self {
            Self::Snowflake(_) => text.parse().ok().map(of_bigint),
            Self::UuidV7 => Uuid::try_parse(text).ok().map(|id| id.as_u128()),
            Self::ObjectId => ObjectId::parse(text.as_bytes()).map(of_objectid),
        }
    }

    /// Returns a key as text of its type.
    #[must_use]
    pub fn text(&self, key: Key) -> String {
        match self {
            Self::Snowflake(_) => to_bigint(key).unwrap_or(i64::MAX).to_string(),
            Self::UuidV7 => Uuid::from_u128(key).to_string(),
            Self::ObjectId => {
                let [_, _, _, _, bytes @ ..] = key.to_be_bytes();
                ObjectId(bytes).to_string()
            }
        }
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snowflake(layout) => write!(out, "layout \"{layout}\""),
            Self::UuidV7 => out.write_str("UUID of version 7"),
            Self::ObjectId => out.write_str("ObjectID"),
        }
    }
}

fn of_bigint(id: i64) -> Key {
    (i128::from(id) + SIGN).unsigned_abs()
}

fn to_bigint(key: Key) -> Option<i64> {
    i64::try_from(key.cast_signed() - SIGN).ok()
}

fn of_objectid(id: ObjectId) -> Key {
    let mut bytes = [0; 16];
    bytes[4..].copy_from_slice(&id.0);
    Key::from_be_bytes(bytes)
}
