//! Ids in other forms: as text, concealed, scattered.

pub mod conceal;
pub mod error;
pub mod key_cache;
pub mod scatter;
pub mod text;
pub mod typeid;
pub mod ulid;
