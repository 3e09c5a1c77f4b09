//! A relation as an argument, by PostgreSQL's own type `regclass`: a default that names a sequence depends
//! on it, and no call looks a name up.

use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};

/// The oid of a relation, which need not be there any more.
#[derive(Debug, Clone, Copy)]
pub struct Regclass(pub pg_sys::Oid);

// SAFETY: names a type of the server's own.
unsafe impl SqlTranslatable for Regclass {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Regclass);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> =
        Ok(SqlMappingRef::literal("regclass"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
        Ok(ReturnsRef::One(SqlMappingRef::literal("regclass")));
}

impl pgrx::IntoDatum for Regclass {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        Some(self.0.into())
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::REGCLASSOID
    }
}

impl pgrx::FromDatum for Regclass {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // An oid is the lower half of its datum.
        (!is_null).then(|| Regclass(pg_sys::Oid::from_u32(datum.value() as u32)))
    }
}

// SAFETY: takes the argument through FromDatum.
unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for Regclass {
    #[inline]
    unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
        // SAFETY: as the caller says. A strict function's argument is not null.
        unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or(Regclass(pg_sys::InvalidOid))
    }

    #[inline]
    unsafe fn unbox_nullable_arg(
        arg: pgrx::callconv::Arg<'_, 'fcx>,
    ) -> pgrx::nullable::Nullable<Self> {
        // SAFETY: as the caller says.
        unsafe { arg.unbox_arg_using_from_datum() }.into()
    }
}

// SAFETY: returns the oid as its datum.
unsafe impl pgrx::callconv::BoxRet for Regclass {
    unsafe fn box_into<'fcx>(
        self,
        fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
    ) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: the datum is of the function's declared type.
        unsafe { fcinfo.return_raw_datum(self.0.into()) }
    }
}
