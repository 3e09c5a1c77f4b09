//! The registry of nodes: what members request, and what it grants.

pub mod admin;
pub mod answer;
pub mod assign;
pub mod commit_deadline;
pub mod free;
pub mod functions;
pub mod grant;
pub mod leases;
pub mod nodes;
pub mod place;
pub mod quarantine;
pub mod state;
pub mod tables;
