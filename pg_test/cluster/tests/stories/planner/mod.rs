//! What the planner makes of conditions on the time of an id.

mod differences;
mod plans;
