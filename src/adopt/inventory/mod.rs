//! All id columns of the database: what makes their ids, how full they are, and who refers to them.

pub mod columns;
mod functions;
mod kinds;
mod tables;
pub mod usage;
