//! Functions in the catalogs.

use crate::pg::catalog::privilege;
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use pgrx::{FromDatum, pg_sys};
use std::ffi::CStr;
use std::slice;

/// The server's own function that returns the version of a UUID; invalid before PostgreSQL 17, which does not have it.
#[cfg(any(feature = "pg15", feature = "pg16"))]
pub const UUID_EXTRACT_VERSION: pg_sys::Oid = pg_sys::InvalidOid;
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
pub const UUID_EXTRACT_VERSION: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::F_UUID_EXTRACT_VERSION);

/// The roles that may call a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executable {
    ByAll,
    ByUser,
    No,
}

/// Returns the schema of a function.
pub fn schema(function: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::get_func_namespace(function) }
}

/// Returns whether a function is one of this library's.
pub fn is_own(function: pg_sys::Oid) -> bool {
    let library = read(function, |form, row| {
        let mut is_null = false;
        // SAFETY: a column of the row, which is a text; a copy is read before the row is released.
        unsafe {
            let number = pg_sys::Anum_pg_proc_probin as pg_sys::AttrNumber;
            let cache = pg_sys::SysCacheIdentifier::PROCOID as _;
            let path = pg_sys::SysCacheGetAttr(cache, row, number, &raw mut is_null);
            let path = (form.prolang == C && !is_null).then_some(path)?;
            DecodedText::from_datum(path, false)
        }
    });
    // The library as the control file names it, or a path that ends so.
    let library = library.flatten();
    library.is_some_and(|DecodedText(path)| path.rsplit('/').next() == Some("pg_mint"))
}

/// The language C, in which only superusers can make functions.
const C: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::ClanguageId);

/// Returns the result of `read` for the row of a function; none if it is gone.
fn read<T>(
    function: pg_sys::Oid,
    read: impl FnOnce(&pg_sys::FormData_pg_proc, pg_sys::HeapTuple) -> T,
) -> Option<T> {
    // SAFETY: a lookup in the catalogs, inside a transaction; the row is read before it is released.
    unsafe {
        let row =
            pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as _, function.into());
        if row.is_null() {
            return None;
        }
        let answer = read(&*pg_sys::GETSTRUCT(row).cast(), row);
        pg_sys::ReleaseSysCache(row);
        Some(answer)
    }
}

/// Returns the name of a function; none if it is gone.
pub fn name(function: pg_sys::Oid) -> Option<String> {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe { charset::decode_c(pg_sys::get_func_name(function)) }
}

/// Returns the types of a function's arguments.
pub fn arguments(function: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    let (mut types, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: a lookup in the catalogs, inside a transaction, which writes as many types as it says.
    unsafe {
        pg_sys::get_func_signature(function, &raw mut types, &raw mut count);
        if types.is_null() {
            return Vec::new();
        }
        slice::from_raw_parts(types, count.unsigned_abs() as usize).to_vec()
    }
}

/// Returns the oid of the function of this name and these arguments.
pub fn find(schema: pg_sys::Oid, name: &CStr, arguments: &[pg_sys::Oid]) -> Option<pg_sys::Oid> {
    // SAFETY: a lookup in the catalogs, inside a transaction; the vector is a copy of the types.
    let oid = unsafe {
        let types = pg_sys::buildoidvector(arguments.as_ptr(), arguments.len() as i32);
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as _,
            pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
            name.as_ptr().into(),
            types.into(),
            schema.into(),
            pg_sys::Datum::null(),
        )
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Returns the owner of a function; none if it is gone.
pub fn owner(function: pg_sys::Oid) -> Option<pg_sys::Oid> {
    read(function, |row, _| row.proowner)
}

/// Returns the roles that may call a function; none if it is gone.
pub fn executable(function: pg_sys::Oid) -> Executable {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let exists = unsafe {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as _;
        let [oid, none] = [function.into(), pg_sys::Datum::null()];
        pg_sys::SearchSysCacheExists(cache, oid, none, none, none)
    };
    if !exists {
        Executable::No
    } else if may_execute(function, pg_sys::Oid::from_u32(pg_sys::ACL_ID_PUBLIC)) {
        Executable::ByAll
    } else if may_execute(function, privilege::current_user()) {
        Executable::ByUser
    } else {
        Executable::No
    }
}

fn may_execute(function: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    let execute = pg_sys::ACL_EXECUTE as pg_sys::AclMode;
    // SAFETY: lookups in the catalogs, inside a transaction; the function exists.
    let result = unsafe {
        #[cfg(feature = "pg15")]
        let result = pg_sys::pg_proc_aclcheck(function, role, execute);
        #[cfg(not(feature = "pg15"))]
        let result = pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, role, execute);
        result
    };
    result == pg_sys::AclResult::ACLCHECK_OK
}
