//! Who may use a relation.

use super::{catalog, charset};
use pgrx::pg_sys;

// miscadmin.h. Not pgrx's own binding: it reads one word and raises no error, and the guard of that
// binding costs more than drawing a number does.
unsafe extern "C-unwind" {
    fn GetUserId() -> pg_sys::Oid;
}

/// The role whose privileges count now.
#[inline]
pub fn user() -> pg_sys::Oid {
    // SAFETY: reads a plain oid, set when the session connected.
    unsafe { GetUserId() }
}

/// What the server answers when asked whether the user has any of these privileges.
fn check(relation: pg_sys::Oid, any_of: u32) -> pg_sys::AclResult::Type {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is.
    unsafe { pg_sys::pg_class_aclcheck(relation, user(), any_of as pg_sys::AclMode) }
}

/// Whether the user has any of these privileges.
pub fn any(relation: pg_sys::Oid, any_of: u32) -> bool {
    check(relation, any_of) == pg_sys::AclResult::ACLCHECK_OK
}

/// Raises the server's own error unless the user has any of these privileges.
pub fn demand(relation: pg_sys::Oid, name: &str, any_of: u32, kind: pg_sys::ObjectType::Type) {
    let answer = check(relation, any_of);
    if answer != pg_sys::AclResult::ACLCHECK_OK {
        let name = charset::c_string(name);
        // SAFETY: raises an error with a copy of the name.
        charset::relay(|| unsafe { pg_sys::aclcheck_error(answer, kind, name.as_ptr()) });
    }
}

/// Runs `work` with the privileges of the extension's owner. An error inside gives them up as well.
pub fn as_owner_of_extension(work: impl FnOnce()) {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    let owner = catalog::owner().unwrap_or_else(self::user);
    // SAFETY: as the server does around functions that are SECURITY DEFINER. The end of a failed transaction sets
    // both back.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut user, &raw mut context);
        let changed = context | pg_sys::SECURITY_LOCAL_USERID_CHANGE.cast_signed();
        pg_sys::SetUserIdAndSecContext(owner, changed);
        work();
        pg_sys::SetUserIdAndSecContext(user, context);
    }
}
