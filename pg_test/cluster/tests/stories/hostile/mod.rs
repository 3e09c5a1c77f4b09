//! Attacks by objects in a database: the extension's SQL must not pick up or run any, at installation, at calls, or when
//! the server evaluates its objects.

mod attacks;
mod calls;
mod class;
mod far;
pub mod traps;
