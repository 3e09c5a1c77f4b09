//! The planner rewrites conditions on the time of an id, and calls of generators.

mod copied;
mod differences;
mod plans;
