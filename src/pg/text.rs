//! Text as it is stored, in the encoding of the database, which need not be UTF-8.

use pgrx::callconv::{Arg, ArgAbi};
use pgrx::nullable::Nullable;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};

/// An argument of type `text`. As a `&str`, it would be a panic where it is not UTF-8.
pub struct Text<'a>(pub &'a [u8]);

// SAFETY: names the server's type text.
unsafe impl SqlTranslatable for Text<'_> {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Text);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("text"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
        Ok(ReturnsRef::One(SqlMappingRef::literal("text")));
}

// SAFETY: text is stored as bytea is, which pgrx reads as bytes.
unsafe impl<'fcx> ArgAbi<'fcx> for Text<'fcx> {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: as the caller says.
        Text(unsafe { <&[u8]>::unbox_arg_unchecked(arg) })
    }

    unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
        // SAFETY: as the caller says.
        match unsafe { <&[u8]>::unbox_nullable_arg(arg) } {
            Nullable::Valid(bytes) => Nullable::Valid(Text(bytes)),
            Nullable::Null => Nullable::Null,
        }
    }
}
