//! All id columns of the database: what makes their ids, how full they are, and who refers to them.

mod functions;
mod kinds;
pub mod usage;
