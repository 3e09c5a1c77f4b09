//! The algorithms of pg_mint, in pure Rust.
//!
//! A [`Layout`] says which bits of an id mean what. A [`Lane`] is one atomic word that issues every
//! id of one (layout, node). A [`LaneTable`] finds the lane. [`Instants`] are the
//! lanes of UUIDs and ObjectIDs. Nothing here knows PostgreSQL, sleeps or reads a clock: time comes in
//! through [`Host`] or as an argument, so that tests can script it.

#![forbid(unsafe_code)]

pub mod builtin;
pub mod clock;
pub mod error;
pub mod instant;
pub mod lane;
pub mod layout;
pub mod mint;
pub mod mysql;
pub mod objectid;
pub mod snowflake;
mod sync;
pub mod table;
pub mod text;
pub mod uuid;

pub use builtin::BUILTINS;
pub use clock::{ClockAnchor, Micros};
pub use error::{IdError, LayoutError, MintError};
pub use instant::{Instants, Nanos};
pub use lane::{Ceiling, Lane};
pub use layout::Layout;
pub use mint::{Host, Policy, Run, mint};
pub use objectid::ObjectId;
pub use snowflake::Parts;
pub use table::{LaneTable, Lookup, TableCount};
pub use uuid::Uuid;
