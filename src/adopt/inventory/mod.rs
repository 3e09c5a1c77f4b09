//! All id columns of the database: what generates their ids, how full they are, and which columns refer to them.

mod functions;
mod kinds;
pub mod usage;
