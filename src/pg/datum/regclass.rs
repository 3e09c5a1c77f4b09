//! A relation as an argument, by PostgreSQL's own type `regclass`: a default that names a sequence depends
//! on it, and no call looks a name up.

use crate::pg::datum::convert::{argument, result};
use pgrx::pg_sys;

/// The oid of a relation, which does not need to exist any more.
#[derive(Debug, Clone, Copy)]
pub struct Regclass(pub pg_sys::Oid);

pgrx::impl_sql_translatable!(Regclass, "regclass");
argument!('fcx, Regclass, Regclass(pg_sys::InvalidOid));
result!(Regclass);

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
