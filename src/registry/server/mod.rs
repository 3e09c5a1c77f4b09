//! The registry of nodes: what members request, and what it grants.

pub mod functions;
pub mod memory;
pub mod state;
