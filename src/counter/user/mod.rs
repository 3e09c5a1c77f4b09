//! User sequences: a number for each user, in families.

pub mod draw;
pub mod family;
pub mod functions;
pub mod sections;
pub mod users;
