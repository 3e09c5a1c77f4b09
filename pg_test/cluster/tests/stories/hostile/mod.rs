//! Nothing that others have put into a database is picked up, or run, by the extension's own SQL: neither when it is
//! installed, nor when it is called, nor when the server evaluates what it made.

mod attacks;
mod calls;
mod class;
mod far;
mod traps;
