//! Partitions by time on an id: statements that create the missing ones and drop the old ones, and what runs them.

mod bounds;
mod error;
mod functions;
mod maintain;
mod moving;
mod names;
mod parent;
mod procedures;
pub mod register;
mod rules;
mod run;
mod statements;
mod zone;
