//! User sequences: a sequence for each of many users, in families.

pub mod draw;
pub mod family;
pub mod functions;
pub mod sections;
pub mod users;
