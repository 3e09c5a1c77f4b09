//! Text and bytea as bytes, and short new texts, without a guarded call of the server for the usual
//! value: one that is neither compressed nor stored elsewhere.

use crate::pg::charset;
use crate::pg::ports::palloc_extended;
use pgrx::{IntoDatum, pg_sys, varlena};

/// The bytes of a value, which is unpacked by the server only where it must be.
///
/// # Safety
/// `datum` points to a varlena that outlives `'a`.
#[inline]
unsafe fn bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    let mut value = datum.cast_mut_ptr::<pg_sys::varlena>();
    // SAFETY: the header says what follows it, and a value that is not plain is made so by the server
    // in memory of the current context.
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

/// Lets a wrapper of bytes be an argument of that SQL type.
macro_rules! argument {
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

        // SAFETY: takes the argument through FromDatum.
        unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for $type<'fcx> {
            #[inline]
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: as the caller says. A strict function's argument is not null.
                unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or($type(&[]))
            }

            #[inline]
            unsafe fn unbox_nullable_arg(
                arg: pgrx::callconv::Arg<'_, 'fcx>,
            ) -> pgrx::nullable::Nullable<Self> {
                // SAFETY: as the caller says.
                unsafe { arg.unbox_arg_using_from_datum().into() }
            }
        }
    };
}

/// An argument of type text, in the encoding of the database.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a>(pub &'a [u8]);

argument!(Text, "text");

/// An argument of type bytea.
#[derive(Debug, Clone, Copy)]
pub struct Bytea<'a>(pub &'a [u8]);

argument!(Bytea, "bytea");

/// Some text as Rust has it: an argument, a result or a value of a row, in any encoding of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(pub String);

pgrx::impl_sql_translatable!(Words, "text");

impl pgrx::FromDatum for Words {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the caller says that a datum that is not null is of this type.
        (!is_null).then(|| Words(charset::decode(unsafe { bytes(datum) })))
    }
}

impl pgrx::IntoDatum for Words {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        // Text and bytea are laid out alike.
        charset::encode(&self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TEXTOID
    }

    fn is_compatible_with(other: pg_sys::Oid) -> bool {
        other == pg_sys::TEXTOID || other == pg_sys::VARCHAROID
    }
}

// SAFETY: a text of the server's outlives the copy that is made of it.
unsafe impl pgrx::datum::UnboxDatum for Words {
    type As<'src> = Words;

    unsafe fn unbox<'src>(datum: pgrx::datum::Datum<'src>) -> Self::As<'src>
    where
        Self: 'src,
    {
        // SAFETY: the caller says that the datum is of this type.
        Words(charset::decode(unsafe { bytes(datum.sans_lifetime()) }))
    }
}

// SAFETY: returns a datum of the declared type.
unsafe impl pgrx::callconv::BoxRet for Words {
    unsafe fn box_into<'fcx>(
        self,
        fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
    ) -> pgrx::datum::Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: a text, as declared.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
    }
}

// SAFETY: takes the argument through FromDatum.
unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for Words {
    unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
        // SAFETY: as the caller says. A strict function's argument is not null.
        unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or(Words(String::new()))
    }

    unsafe fn unbox_nullable_arg(
        arg: pgrx::callconv::Arg<'_, 'fcx>,
    ) -> pgrx::nullable::Nullable<Self> {
        // SAFETY: as the caller says.
        unsafe { arg.unbox_arg_using_from_datum().into() }
    }
}

/// A result of type text.
#[derive(Debug)]
pub struct NewText(pg_sys::Datum);

pgrx::impl_sql_translatable!(NewText, "text");

impl NewText {
    /// A copy of some ASCII, in memory of the current context.
    #[inline]
    pub fn new(ascii: &[u8]) -> Self {
        const HEADER: usize = size_of::<u32>();
        let size = HEADER + ascii.len();
        // SAFETY: asks for memory without an error, and with one where there is none; writes the
        // header and then the bytes behind it, for which there is room.
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
