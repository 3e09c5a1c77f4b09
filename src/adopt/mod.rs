//! Adoption: from the keys that a table has to pg_mint, and back.

pub mod convert;
