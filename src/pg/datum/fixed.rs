//! SQL types of a fixed number of bytes, passed by reference, without a varlena header.

use crate::pg::error::report;
use crate::pg::ports::{hash_bytes, hash_bytes_extended, palloc_extended};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::c_int;

/// Gives a wrapper of `[u8; N]` what pgrx needs to pass it in and out as the SQL type of that name.
/// The type itself is declared in `sql/` (`ThisExtension`), or is the server's own (`External`).
macro_rules! fixed_type {
    ($type:ident, $bytes:expr, $sql:literal, $origin:ident) => {
        // SAFETY: names an SQL type of as many bytes.
        unsafe impl pgrx::pgrx_sql_entity_graph::metadata::SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin =
                pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin::$origin;
            const ARGUMENT_SQL: Result<
                pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef,
                pgrx::pgrx_sql_entity_graph::metadata::ArgumentError,
            > = Ok(pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::literal($sql));
            const RETURN_SQL: Result<
                pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef,
                pgrx::pgrx_sql_entity_graph::metadata::ReturnsError,
            > = Ok(pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef::One(
                pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::literal($sql),
            ));
        }

        impl pgrx::IntoDatum for $type {
            #[inline]
            fn into_datum(self) -> Option<pgrx::pg_sys::Datum> {
                Some(crate::pg::datum::fixed::copy(&self.0))
            }

            fn type_oid() -> pgrx::pg_sys::Oid {
                pgrx::wrappers::regtypein($sql)
            }
        }

        impl pgrx::FromDatum for $type {
            #[inline]
            unsafe fn from_polymorphic_datum(
                datum: pgrx::pg_sys::Datum,
                is_null: bool,
                _: pgrx::pg_sys::Oid,
            ) -> Option<Self> {
                // SAFETY: the caller says that a datum that is not null is of this type, and so
                // points to its bytes; an array of bytes has no alignment.
                (!is_null).then(|| unsafe { $type(*datum.cast_mut_ptr::<[u8; $bytes]>()) })
            }
        }

        // SAFETY: takes the argument through FromDatum.
        unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for $type {
            #[inline]
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: as the caller says. A strict function's argument is not null.
                match unsafe { arg.unbox_arg_using_from_datum() } {
                    Some(value) => value,
                    None => $type([0; $bytes]),
                }
            }

            #[inline]
            unsafe fn unbox_nullable_arg(
                arg: pgrx::callconv::Arg<'_, 'fcx>,
            ) -> pgrx::nullable::Nullable<Self> {
                // SAFETY: as the caller says.
                unsafe { arg.unbox_arg_using_from_datum().into() }
            }
        }

        // SAFETY: returns the datum that IntoDatum allocates.
        unsafe impl pgrx::callconv::BoxRet for $type {
            unsafe fn box_into<'fcx>(
                self,
                fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
            ) -> pgrx::datum::Datum<'fcx> {
                match pgrx::IntoDatum::into_datum(self) {
                    // SAFETY: the datum is of the function's declared type.
                    Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
                    None => fcinfo.return_null(),
                }
            }
        }
    };
}

pub(crate) use fixed_type;

/// A copy of a value in the current memory context.
#[inline]
pub fn copy<const N: usize>(bytes: &[u8; N]) -> pg_sys::Datum {
    // SAFETY: the current context is always there. Of so few bytes, and told to return null when out
    // of memory, it raises no error; so it needs no guard, which would cost more than it does.
    let copy = unsafe { palloc_extended(N, pg_sys::MCXT_ALLOC_NO_OOM as c_int).cast::<[u8; N]>() };
    if copy.is_null() {
        report(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, "out of memory").raise();
    }
    // SAFETY: points to N bytes, just allocated; bytes have no alignment.
    unsafe { copy.write(*bytes) };
    copy.into()
}

/// The server's hash of some bytes, frozen with its on-disk format; see hashfn.h.
pub fn hash(bytes: &[u8]) -> u32 {
    // SAFETY: reads `len` bytes.
    unsafe { hash_bytes(bytes.as_ptr(), length(bytes)) }
}

/// As [`hash`], with 64 bits and a seed.
pub fn hash_extended(bytes: &[u8], seed: u64) -> u64 {
    // SAFETY: reads `len` bytes.
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
