//! The server's type `uuid`.

use crate::pg::datum::fixed;
use mint_core::Uuid;

/// A value of the type `uuid`.
#[derive(Debug, Clone, Copy)]
pub struct UuidValue(pub [u8; 16]);

fixed::fixed_type!(UuidValue, 16, "uuid");

impl From<Uuid> for UuidValue {
    #[inline]
    fn from(id: Uuid) -> Self {
        UuidValue(id.into_bytes())
    }
}

impl From<UuidValue> for Uuid {
    #[inline]
    fn from(id: UuidValue) -> Self {
        Uuid::from_bytes(id.0)
    }
}
