//! Columns of type integer: a script for psql's `\gexec` that makes them, and all that refer to them, bigint while they are in
//! use, and back.
//!
//! Each column gets a shadow, which a trigger keeps equal and a backfill fills; its indexes and foreign keys are built beside
//! the old ones; one short transaction swaps all. The column of before becomes the shadow, so that the way back is the same
//! way. What is done is read from the catalogs: a plan is what is left, after a break as well.

mod blocks;
mod build;
pub mod closure;
mod columns;
mod lacks;
mod meanings;
mod notes;
mod obstacles;
mod rehearsal;
pub mod script;
mod swap;
pub mod texts;
