//! The algorithms of pg_mint, in pure Rust.
//!
//! A [`Layout`] divides the bits of an id into fields. A [`Lane`] is one atomic word that issues every
//! id of one (layout, node). A [`LaneTable`] finds the lane. A [`Ceiling`] keeps ids unique over a crash,
//! a [`Lease`] between servers that share a node, as a registry grants it by the rules of a [`registry::ring`].
//! [`UuidLanes`] and [`ObjectIdLane`] mint ids that only ascend. A [`Segment`] shares the values of a
//! sequence among all sessions, and a [`UserTable`] knows each user's next number. Nothing here knows
//! PostgreSQL, sleeps or reads a clock: time comes in through [`Host`] or as an argument, so that tests
//! can script it.
//!
//! Beside them are pure functions: ids as text ([`codec::text`], [`codec::ulid`], [`codec::typeid`]), hidden (`codec::conceal`, with
//! the feature of that name), scattered ([`codec::scatter`], [`codec::auto_random`]), and the numbers of a
//! [`counter::sequence_table`]. [`mod@family`] has every kind of id in a table, and [`mod@inspect`] returns the formats
//! that an unknown id can have.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod atomic;
pub mod bytes;
pub mod ceiling;
pub mod clock;
pub mod codec;
pub mod counter;
pub mod family;
pub mod monotonic;
pub mod objectid;
pub mod registry;
pub mod snowflake;
pub mod uuid;

pub use crate::bytes::hash_partition::{HashPartition, HashPartitionError};
#[cfg(feature = "random")]
pub use crate::bytes::random::RandomBits;
pub use crate::ceiling::{Ceiling, Page};
pub use crate::clock::{ClockAnchor, Micros};
pub use crate::codec::auto_random::{AutoRandom, AutoRandomError};
#[cfg(feature = "conceal")]
pub use crate::codec::conceal::{ConcealError, Concealer};
pub use crate::codec::scatter::{ScatterError, scatter, unscatter};
pub use crate::codec::text::{Encoding, EncodingError};
pub use crate::counter::section::{DrawError, Section};
pub use crate::counter::segment::{Draw, Segment};
pub use crate::counter::sequence::{Rules, SequenceData, SequenceState, Values};
pub use crate::counter::sequence_table::{SequenceTable, SequenceTableError};
pub use crate::counter::user_table::UserTable;
pub use crate::family::inspect;
pub use crate::monotonic::{ClockTime, Nanos};
pub use crate::objectid::{ObjectId, ObjectIdLane};
pub use crate::registry::shard_set::{ShardsError, parse_shards};
pub use crate::snowflake::builtin::{BUILTINS, DEFAULT_LAYOUT};
pub use crate::snowflake::error::{IdError, LayoutError, SpanError};
pub use crate::snowflake::id::Parts;
pub use crate::snowflake::lane::Lane;
pub use crate::snowflake::lane_table::{LaneTable, Lookup, TableCount};
pub use crate::snowflake::layout::{Layout, LayoutKey};
pub use crate::snowflake::lease::Lease;
pub use crate::snowflake::mint::fitting::mint_fitting;
pub use crate::snowflake::mint::host::{Host, Policy, Wait, WaitCause};
pub use crate::snowflake::mint::open_tick::OpenTick;
pub use crate::snowflake::mint::{Run, mint, mint_at_once};
pub use crate::snowflake::mint_error::MintError;
pub use crate::snowflake::shard::java_shard_of_addresses;
pub use crate::snowflake::start_above::start_above;
pub use crate::uuid::lanes::UuidLanes;
pub use crate::uuid::version::Uuid;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
