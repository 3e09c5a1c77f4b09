//! Attacks by objects in a database: the extension's SQL must not pick up or run any, at installation, at calls, or when
//! the server evaluates its objects.

mod attacks;
mod backtraces;
mod calls;
mod class;
mod far;
mod long_arguments;
mod prey;
mod relations;
mod settings;
pub mod traps;
