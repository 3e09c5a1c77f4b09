//! Text and bytea as bytes, and short new texts, without a guarded call of the server for most values: those neither
//! compressed nor stored out of line.

use crate::pg::charset;
use crate::pg::datum::convert;
use crate::pg::error::report;
use crate::pg::ports::palloc_extended;
use pgrx::{PgSqlErrorCode as Code, pg_sys, varlena};

/// Returns the bytes of a value. The server detoasts it only where that is needed.
///
/// # Safety
/// `datum` points to a varlena that outlives `'a`.
#[inline]
unsafe fn bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    let mut value = datum.cast_mut_ptr::<pg_sys::varlena>();
    // SAFETY: the header says what follows it; the server detoasts into the current memory context.
    unsafe {
        let plain = varlena::varatt_is_4b_u(value)
            || varlena::varatt_is_1b(value) && !varlena::varatt_is_1b_e(value);
        if !plain {
            value = pg_sys::pg_detoast_datum_packed(value);
        }
        std::slice::from_raw_parts(
            varlena::vardata_any(value).cast(),
            varlena::varsize_any_exhdr(value),
        )
    }
}

/// Lets a wrapper of bytes be an argument of an SQL type.
macro_rules! bytes_argument {
    ($type:ident, $sql:literal) => {
        pgrx::impl_sql_translatable!($type<'_>, arg_only = $sql);

        impl pgrx::FromDatum for $type<'_> {
            #[inline]
            unsafe fn from_polymorphic_datum(
                datum: pg_sys::Datum,
                is_null: bool,
                _: pg_sys::Oid,
            ) -> Option<Self> {
                // SAFETY: the caller says that a datum that is not null is of this type.
                (!is_null).then(|| unsafe { $type(bytes(datum)) })
            }
        }

        convert::argument!('fcx, $type<'fcx>, $type(&[]));
    };
}

/// An argument of type text, in the encoding of the database.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a>(pub &'a [u8]);

bytes_argument!(Text, "text");

/// An argument of type bytea.
#[derive(Debug, Clone, Copy)]
pub struct Bytea<'a>(pub &'a [u8]);

bytes_argument!(Bytea, "bytea");

/// A text decoded to UTF-8, whatever the encoding of the database: an argument, a result, or a value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedText(pub String);

pgrx::impl_sql_translatable!(DecodedText, "text");
convert::result!(DecodedText);

/// Raises the error of a text that is too long, before it is decoded: such arguments are names or settings.
fn decode_checked(text: Text<'_>) -> DecodedText {
    const MAX_TEXT_BYTES: usize = 65_536;
    if text.0.len() > MAX_TEXT_BYTES {
        report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "text is too long")
            .detail(format!(
                "The text has {} bytes, but at most {MAX_TEXT_BYTES} are allowed.",
                text.0.len()
            ))
            .raise();
    }
    DecodedText(charset::decode(text.0))
}

// SAFETY: takes the argument as the bytes of a text, which it is.
unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for DecodedText {
    unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
        // SAFETY: as the caller says.
        decode_checked(unsafe { arg.unbox_arg_using_from_datum::<Text<'_>>() }.unwrap_or(Text(&[])))
    }

    unsafe fn unbox_nullable_arg(
        arg: pgrx::callconv::Arg<'_, 'fcx>,
    ) -> pgrx::nullable::Nullable<Self> {
        // SAFETY: as the caller says.
        let text = unsafe { arg.unbox_arg_using_from_datum::<Text<'_>>() };
        text.map(decode_checked).into()
    }
}

impl pgrx::FromDatum for DecodedText {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the caller says that a datum that is not null is of this type.
        (!is_null).then(|| DecodedText(charset::decode(unsafe { bytes(datum) })))
    }
}

impl pgrx::IntoDatum for DecodedText {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        // Text and bytea are laid out alike.
        charset::encode_shown(&self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TEXTOID
    }

    fn is_compatible_with(other: pg_sys::Oid) -> bool {
        other == pg_sys::TEXTOID || other == pg_sys::VARCHAROID
    }
}

// SAFETY: the value is copied.
unsafe impl pgrx::datum::UnboxDatum for DecodedText {
    type As<'src> = DecodedText;

    unsafe fn unbox<'src>(datum: pgrx::datum::Datum<'src>) -> Self::As<'src>
    where
        Self: 'src,
    {
        // SAFETY: the caller says that the datum is of this type.
        DecodedText(charset::decode(unsafe { bytes(datum.sans_lifetime()) }))
    }
}

/// A result of type text.
#[derive(Debug)]
pub struct NewText(pg_sys::Datum);

pgrx::impl_sql_translatable!(NewText, "text");

impl NewText {
    /// Copies ASCII into the current memory context.
    #[inline]
    pub fn new(ascii: &[u8]) -> Self {
        const HEADER: usize = size_of::<u32>();
        let size = HEADER + ascii.len();
        // SAFETY: `palloc` raises the error when out of memory. There is room for the header and the bytes behind it.
        unsafe {
            let mut value = palloc_extended(size, pg_sys::MCXT_ALLOC_NO_OOM.cast_signed());
            if value.is_null() {
                value = pg_sys::palloc(size);
            }
            let value = value.cast::<pg_sys::varlena>();
            varlena::set_varsize_4b(value, size as i32);
            value
                .cast::<u8>()
                .add(HEADER)
                .copy_from_nonoverlapping(ascii.as_ptr(), ascii.len());
            NewText(value.into())
        }
    }
}

// SAFETY: returns the datum of the declared type.
unsafe impl pgrx::callconv::BoxRet for NewText {
    #[inline]
    unsafe fn box_into<'fcx>(
        self,
        fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
    ) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: a text, as declared.
        unsafe { fcinfo.return_raw_datum(self.0) }
    }
}
