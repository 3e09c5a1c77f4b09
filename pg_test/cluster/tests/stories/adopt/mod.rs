//! Adoption: conversions of tables that are in use, and back.

mod convert;
mod load;
mod malice;
mod online;
