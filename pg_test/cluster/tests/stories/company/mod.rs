//! Neighbors, odd arguments and odd surroundings.

mod encodings;
mod extremes;
mod held;
mod held_sql;
mod memory;
mod tenants;
