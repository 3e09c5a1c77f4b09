//! Texts that libraries make, each in a format of its own.

pub(super) mod atproto;
pub(super) mod cuid;
pub(super) mod firebase;
pub(super) mod flake;
pub(super) mod ksuid;
pub(super) mod misskey;
pub mod nanoid;
pub(super) mod xid;
