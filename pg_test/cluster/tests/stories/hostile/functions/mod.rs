//! Every function of the catalog, so that a new one is included: with ordinary arguments, with the ends of each type, with
//! gigantic ones, and beside a parallel plan. The other stories of `hostile` call them amid traps, and `ids::standby` on a
//! standby. The values of each type, and what is refused, have one table.

mod arguments;
mod binary;
mod long;
mod parallel;
pub mod table;
