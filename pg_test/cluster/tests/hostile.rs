//! Nothing that others have put into a database is picked up, or run, by the extension's own SQL: neither when it is
//! installed, nor when it is called, nor when the server evaluates what it made.

#[path = "hostile/attacks.rs"]
mod attacks;
#[path = "hostile/calls.rs"]
mod calls;
#[path = "hostile/class.rs"]
mod class;
#[path = "hostile/far.rs"]
mod far;
#[path = "hostile/traps.rs"]
mod traps;
