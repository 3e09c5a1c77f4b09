//! Other forms of an id: text, hidden, scattered. All of this is pure computation.

pub mod auto_random;
pub mod check;
#[cfg(feature = "conceal")]
pub mod conceal;
pub mod scatter;
pub mod text;
pub mod typeid;
pub mod ulid;
pub mod wide;
