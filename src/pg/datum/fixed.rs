//! SQL types of a fixed number of bytes, passed by reference, without a varlena header.

use crate::pg::error::report;
use crate::pg::ports::{hash_bytes, hash_bytes_extended, palloc_extended};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::c_int;

/// Gives a wrapper of `[u8; N]` the traits by which pgrx passes it in and out as the SQL type of that name. The type is
/// the server's own, or made by the install script, which pgrx does not know.
macro_rules! fixed_type {
    ($type:ident, $bytes:expr, $sql:literal) => {
        const _: () = {
            use pgrx::pg_sys::{Datum, Oid};
            use pgrx::pgrx_sql_entity_graph::metadata::{
                ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
            };
            const SQL: SqlMappingRef = SqlMappingRef::literal($sql);

            // SAFETY: names an SQL type of that many bytes.
            unsafe impl SqlTranslatable for $type {
                const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
                const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
                const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SQL);
                const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Ok(ReturnsRef::One(SQL));
            }

            impl pgrx::IntoDatum for $type {
                #[inline]
                fn into_datum(self) -> Option<Datum> {
                    Some(crate::pg::datum::fixed::copy(&self.0))
                }

                fn type_oid() -> Oid {
                    pgrx::wrappers::regtypein($sql)
                }
            }

            impl pgrx::FromDatum for $type {
                #[inline]
                unsafe fn from_polymorphic_datum(
                    datum: Datum,
                    is_null: bool,
                    _: Oid,
                ) -> Option<Self> {
                    // SAFETY: the caller says that a datum that is not null is of this type, and so
                    // points to its bytes; an array of bytes has no alignment.
                    (!is_null).then(|| unsafe { $type(*datum.cast_mut_ptr::<[u8; $bytes]>()) })
                }
            }
        };

        crate::pg::datum::convert::argument!('fcx, $type, $type([0; $bytes]));
        crate::pg::datum::convert::result!($type);
    };
}

pub(crate) use fixed_type;

/// Copies a value into the current memory context.
#[inline]
pub fn copy<const N: usize>(bytes: &[u8; N]) -> pg_sys::Datum {
    // SAFETY: there is always a current context. For so few bytes, and with null when out of memory, the call
    // raises no error; so it needs no guard, which would cost more than the call.
    let copy = unsafe { palloc_extended(N, pg_sys::MCXT_ALLOC_NO_OOM as c_int).cast::<[u8; N]>() };
    if copy.is_null() {
        report(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, "out of memory").raise();
    }
    // SAFETY: points to N bytes that were allocated; bytes have no alignment.
    unsafe { copy.write(*bytes) };
    copy.into()
}

/// Returns the server's hash of some bytes, which its on-disk format has frozen; see hashfn.h.
pub fn hash(bytes: &[u8]) -> u32 {
    // SAFETY: reads as many bytes.
    unsafe { hash_bytes(bytes.as_ptr(), length(bytes)) }
}

/// Does the same as [`hash`], with 64 bits and a seed.
pub fn hash_extended(bytes: &[u8], seed: u64) -> u64 {
    // SAFETY: reads as many bytes.
    unsafe { hash_bytes_extended(bytes.as_ptr(), length(bytes), seed) }
}

fn length(bytes: &[u8]) -> c_int {
    bytes.len() as c_int
}

/// Takes exactly `N` bytes from a binary message, or raises the protocol's own error.
pub fn receive<const N: usize>(mut message: pgrx::Internal) -> [u8; N] {
    let mut bytes = [0; N];
    // SAFETY: a receive function's argument is a StringInfo, and pq_copymsgbytes checks the length.
    unsafe {
        if let Some(message) = message.get_mut::<pg_sys::StringInfoData>() {
            let length = N as c_int;
            pg_sys::pq_copymsgbytes(message, bytes.as_mut_ptr().cast(), length);
        }
    }
    bytes
}
