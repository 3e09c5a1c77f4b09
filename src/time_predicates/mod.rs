//! Conditions on the time of an id become bounds of the id, for which the planner can use an index and partitions.
//!
//! `id >= snowflake_min(at)` follows from `snowflake_time(id) >= at`. The planner does not know that, and a support
//! function cannot tell it: the planner asks about the function, not about the comparison. So the first call of a
//! support function, early in the planning of the first statement, installs a hook that is called for each table before
//! the conditions are distributed to the tables. It replaces a condition by its bounds if they are equivalent, and adds
//! them if they only follow from it. Rows are the same with and without it. Only conditions that must all be true are
//! considered: a part of an `OR` stays as it is.
//!
//! - `functions` lists the functions of a time. `function` knows them by the oid that their support functions were called
//!   for, and those of their bounds.
//! - `predicate` recognizes a comparison of such a function, reading nothing but the query.
//! - `bounding` decides whether bounds are right and useful and makes them, and `derive` adds them.
//! - `proof` says whether a table has only UUIDs of version 7.
//! - `estimate` has the planner expect as many rows as without bounds, where it does not know better.
//! - `inline` has the columns of `snowflake_decode` in FROM computed by a function each, which the others then see.

mod bounding;
mod derive;
mod estimate;
mod function;
mod functions;
mod hook;
mod inline;
mod predicate;
mod proof;
pub mod setting;
