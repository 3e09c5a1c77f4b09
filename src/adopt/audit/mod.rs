//! What is wrong, or about to go wrong, with the ids of a column.

mod counters;
mod finding;
mod functions;
mod generated;
mod references;
mod subject;
mod times;
