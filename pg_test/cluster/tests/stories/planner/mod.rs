//! The planner rewrites conditions on the time of an id, and calls of generators.

mod differences;
mod plans;
