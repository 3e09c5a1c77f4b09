//! Adoption: from the keys that tables have to ids of this extension, and back.

pub mod catalog;
pub mod convert;
pub mod mentions;
