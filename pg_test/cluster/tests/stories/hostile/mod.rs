//! Attacks by objects in a database: the extension's SQL must not pick up or run any, at installation, at calls, or when
//! the server evaluates its objects.

mod attacker;
mod attacks;
mod backtraces;
pub mod functions;
mod names_and_types;
mod owned_registry;
mod planted_objects;
mod relations;
mod remote_side;
mod statements;
mod trapped_relations;
