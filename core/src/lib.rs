//! The algorithms of pg_mint, in pure Rust.
//!
//! A [`Layout`] says which bits of an id mean what. A [`Lane`] is one atomic word that issues every
//! id of one (layout, node). A [`LaneTable`] finds the lane. A [`Ceiling`] keeps what a crash must not
//! forget. A [`Segment`] lends the values of a sequence to all sessions, and a [`UserTable`] knows each
//! user's next number. Nothing here knows PostgreSQL, sleeps or reads a clock: time comes in through
//! [`Host`] or as an argument, so that tests can script it.

#![forbid(unsafe_code)]

pub mod builtin;
pub mod ceiling;
pub mod clock;
pub mod error;
pub mod lane;
pub mod layout;
pub mod mint;
pub mod segment;
pub mod snowflake;
mod sync;
pub mod table;
pub mod text;
pub mod users;
pub mod values;

pub use builtin::BUILTINS;
pub use ceiling::{Ceiling, Page};
pub use clock::{ClockAnchor, Micros};
pub use error::{IdError, LayoutError, MintError};
pub use lane::Lane;
pub use layout::Layout;
pub use mint::{Host, Policy, Run, mint};
pub use segment::{Draw, Segment};
pub use snowflake::Parts;
pub use table::{LaneTable, Lookup, TableCount};
pub use users::{Held, Section, UserTable};
pub use values::{Place, Rules, Values};
