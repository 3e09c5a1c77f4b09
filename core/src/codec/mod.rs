//! Other forms of an id: text, hidden, scattered. All of it computes only.

pub mod auto_random;
pub mod check;
#[cfg(feature = "conceal")]
pub mod conceal;
pub mod scatter;
pub mod text;
pub mod typeid;
pub mod ulid;
pub mod wide;
