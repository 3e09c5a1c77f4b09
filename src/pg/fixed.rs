//! SQL types of a fixed number of bytes, passed by reference, without a varlena header.

/// Gives a wrapper of `[u8; N]` what pgrx needs to pass it in and out as the SQL type of that name.
/// The type itself is declared in `sql/`.
macro_rules! fixed_type {
    ($type:ident, $bytes:expr, $sql:literal) => {
        // SAFETY: names the SQL type that this extension declares.
        unsafe impl pgrx::pgrx_sql_entity_graph::metadata::SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin =
                pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin::ThisExtension;
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
                // SAFETY: allocates from the current context, which is always there, or raises an
                // error; the bytes fit what was allocated.
                let copy = unsafe {
                    let copy = pgrx::pg_sys::palloc($bytes).cast::<[u8; $bytes]>();
                    copy.write(self.0);
                    copy
                };
                Some(copy.into())
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

fn length(bytes: &[u8]) -> std::ffi::c_int {
    bytes.len() as std::ffi::c_int
}

// common/hashfn.h, which pgrx does not bind.
unsafe extern "C-unwind" {
    fn hash_bytes(bytes: *const u8, length: std::ffi::c_int) -> u32;
    fn hash_bytes_extended(bytes: *const u8, length: std::ffi::c_int, seed: u64) -> u64;
}

/// Takes exactly `N` bytes from a binary message, or raises the protocol's own error.
pub fn receive<const N: usize>(mut message: pgrx::Internal) -> [u8; N] {
    let mut bytes = [0; N];
    // SAFETY: a receive function's argument is a StringInfo, and pq_copymsgbytes checks the length.
    unsafe {
        if let Some(message) = message.get_mut::<pgrx::pg_sys::StringInfoData>() {
            let length = N as std::ffi::c_int;
            pgrx::pg_sys::pq_copymsgbytes(message, bytes.as_mut_ptr().cast(), length);
        }
    }
    bytes
}
