//! The algorithms of pg_mint, in pure Rust.
//!
//! A [`Layout`] says which bits of an id mean what. A [`Lane`] is one atomic word that issues every
//! id of one (layout, node). A [`LaneTable`] finds the lane. A [`Ceiling`] keeps what a crash must not
//! forget, and a [`Slice`] what servers that share a node must not both mint, as a [`Registry`] decides.
//! [`Instants`] are the lanes of UUIDs and ObjectIDs. A [`Segment`] lends the values of a
//! sequence to all sessions, and a [`UserTable`] knows each user's next number. Nothing here knows
//! PostgreSQL, sleeps or reads a clock: time comes in through [`Host`] or as an argument, so that tests
//! can script it.
//!
//! Beside them stands what only computes: ids as text ([`encoding`]), hidden ([`conceal`]), scattered
//! ([`mod@scatter`], [`auto_random`]), and the numbers of a [`sequence_table`].

#![forbid(unsafe_code)]

pub mod auto_random;
pub mod bucket;
pub mod builtin;
pub mod ceiling;
pub mod clock;
pub mod conceal;
pub mod encoding;
pub mod error;
mod hash;
pub mod instant;
pub mod lane;
pub mod layout;
pub mod mint;
pub mod mysql;
pub mod nodes;
pub mod objectid;
pub mod registry;
pub mod scatter;
pub mod segment;
pub mod sequence_table;
pub mod slice;
pub mod snowflake;
mod sync;
pub mod table;
pub mod text;
pub mod users;
pub mod uuid;
pub mod values;

pub use auto_random::{AutoRandom, AutoRandomError};
pub use builtin::BUILTINS;
pub use ceiling::{Ceiling, Page};
pub use clock::{ClockAnchor, Micros};
pub use conceal::{ConcealError, Concealer};
pub use encoding::{Encoding, EncodingError};
pub use error::{IdError, LayoutError, MintError};
pub use instant::{Instants, Nanos};
pub use lane::Lane;
pub use layout::{Layout, LayoutKey};
pub use mint::{Host, Policy, Run, mint};
pub use nodes::{NodesError, node_of_addresses, parse_nodes};
pub use objectid::ObjectId;
pub use registry::{Denial, Identity, Registry, Seen, Span};
pub use scatter::{ScatterError, scatter, unscatter};
pub use segment::{Draw, Segment};
pub use sequence_table::{SequenceTable, SequenceTableError};
pub use slice::Slice;
pub use snowflake::Parts;
pub use table::{LaneTable, Lookup, TableCount};
pub use users::{Held, Section, UserTable};
pub use uuid::Uuid;
pub use values::{Found, Place, Rules, Values};
