//! Values of type jsonb, as their text.

use crate::pg::charset;
use crate::pg::datum::convert;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::CStr;

/// A jsonb's text, decoded to UTF-8, whatever the encoding of the database: a result, or a value of a row.
#[derive(Debug)]
pub struct JsonText(pub String);

pgrx::impl_sql_translatable!(JsonText, "jsonb");
convert::result!(JsonText);

impl pgrx::FromDatum for JsonText {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the caller says that a datum that is not null is of this type, whose output function returns a string.
        (!is_null).then(|| unsafe {
            let text = pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum);
            JsonText(charset::decode_c(text).unwrap_or_default())
        })
    }
}

impl pgrx::IntoDatum for JsonText {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let text = charset::c_string(&self.0);
        // SAFETY: the type's input function, which reads the string.
        Some(unsafe {
            pg_sys::OidInputFunctionCall(
                pg_sys::F_JSONB_IN.into(),
                text.as_ptr().cast_mut(),
                pg_sys::InvalidOid,
                -1,
            )
        })
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

/// An argument of type jsonb, as its text.
#[derive(Debug)]
pub struct JsonArgument(pub String);

pgrx::impl_sql_translatable!(JsonArgument, arg_only = "jsonb");
convert::argument!('fcx, JsonArgument, JsonArgument(String::new()));

impl pgrx::FromDatum for JsonArgument {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the caller says that a datum that is not null is of this type, a varlena. Its length is known before it is
        // decompressed.
        (!is_null).then(|| unsafe {
            check_json_length(pg_sys::toast_raw_datum_size(datum));
            let text = pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum);
            // A number of a few bytes can have a hundred thousand digits as text.
            check_json_length(CStr::from_ptr(text).count_bytes());
            JsonArgument(charset::decode_c(text).unwrap_or_default())
        })
    }
}

/// Raises the error of an argument that is too long. A request of a member has less than 4,000 bytes.
fn check_json_length(bytes: usize) {
    const MAX_JSON_BYTES: usize = 16_384;
    if bytes > MAX_JSON_BYTES {
        report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "jsonb is too long")
            .detail(format!(
                "The value has {bytes} bytes, but at most {MAX_JSON_BYTES} are allowed."
            ))
            .raise();
    }
}
