//! UUIDs and ObjectIDs.

mod id_input;
mod randomness;
mod version;
