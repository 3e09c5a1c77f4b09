//! What the planner makes of conditions on the time of an id, and of generators.

mod copied;
mod differences;
mod plans;
