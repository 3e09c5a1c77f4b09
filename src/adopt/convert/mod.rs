//! Conversion of a table's id column from a sequence to a generator of pg_mint, and back.
//!
//! `table` reads what the column is, `generator` what it is to be, and `checks` says what prevents it. `steps` has the
//! statements, the same for the plan and the conversion; `run` executes them under a lock. The sequence of before stays, at
//! its end, so that it returns nothing more; its comment is the `record` from which `revert` puts back what was.

mod checks;
mod functions;
mod generator;
mod online;
mod plan;
mod record;
mod recreated;
mod revert;
mod rows;
mod run;
mod steps;
mod table;
mod views;
