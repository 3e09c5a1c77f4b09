//! Texts that libraries make, each in a format of its own.

pub(super) mod atproto;
pub(super) mod cuid;
pub(super) mod firebase;
pub(super) mod ksuid;
pub mod nanoid;
pub(super) mod xid;
