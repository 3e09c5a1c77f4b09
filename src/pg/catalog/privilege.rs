//! Privileges on relations, and the user and search path that SQL of this extension runs with.

use crate::pg::backend::guc;
use crate::pg::charset;
use crate::pg::error::relay_errors;
use crate::pg::ports::GetUserId;
use pgrx::pg_sys;
use std::ffi::CStr;

/// The search path of SQL of this extension: the server's own names come first. `pg_temp` would come before them if it
/// were not listed.
pub const SEARCH_PATH: &CStr = c"pg_catalog, pg_temp";

/// The settings of SQL of this extension. Literals have their standard form. JIT is off, as compiling a query of the
/// catalogs takes longer than running it: a second for a database of thousands of tables.
const SETTINGS: [(&CStr, &CStr); 3] = [
    (c"search_path", SEARCH_PATH),
    (c"standard_conforming_strings", c"on"),
    (c"jit", c"off"),
];

/// Returns the current user.
#[inline]
pub fn current_user() -> pg_sys::Oid {
    // SAFETY: reads a plain oid.
    unsafe { GetUserId() }
}

/// Returns the session user.
pub fn session_user() -> pg_sys::Oid {
    // SAFETY: reads a plain oid, set when the session connected.
    unsafe { pg_sys::GetSessionUserId() }
}

/// Checks whether the user has any of these privileges.
fn check(relation: pg_sys::Oid, any_of: u32) -> pg_sys::AclResult::Type {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is.
    unsafe { pg_sys::pg_class_aclcheck(relation, current_user(), any_of as pg_sys::AclMode) }
}

/// Returns whether the user has any of these privileges.
pub fn has_any(relation: pg_sys::Oid, any_of: u32) -> bool {
    check(relation, any_of) == pg_sys::AclResult::ACLCHECK_OK
}

/// Returns whether the user has the privileges of a role.
pub fn is_member(role: pg_sys::Oid) -> bool {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is.
    unsafe { pg_sys::has_privs_of_role(current_user(), role) }
}

/// Returns whether the user is a superuser.
pub fn is_superuser() -> bool {
    is_superuser_role(current_user())
}

/// Returns whether a role is a superuser.
pub fn is_superuser_role(role: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction, as every call of a function is.
    unsafe { pg_sys::superuser_arg(role) }
}

/// Returns the name of a role.
pub fn name_of(role: pg_sys::Oid) -> String {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    let name = unsafe { charset::decode_c(pg_sys::GetUserNameFromId(role, true)) };
    name.unwrap_or_else(|| role.to_u32().to_string())
}

/// Raises the server's own error unless the user has any of these privileges.
pub fn require_any(relation: pg_sys::Oid, name: &str, any_of: u32, kind: pg_sys::ObjectType::Type) {
    let answer = check(relation, any_of);
    if answer != pg_sys::AclResult::ACLCHECK_OK {
        let name = charset::c_string(name);
        // SAFETY: raises an error with a copy of the name.
        relay_errors(|| unsafe { pg_sys::aclcheck_error(answer, kind, name.as_ptr()) });
    }
}

/// Raises the server's own error unless the user has the privileges of an object's owner.
pub fn require_ownership(kind: pg_sys::ObjectType::Type, name: &CStr, owner: pg_sys::Oid) {
    if !is_member(owner) {
        let answer = pg_sys::AclResult::ACLCHECK_NOT_OWNER;
        // SAFETY: raises an error with a copy of the name.
        relay_errors(|| unsafe { pg_sys::aclcheck_error(answer, kind, name.as_ptr()) });
    }
}

/// Runs `work`, and SQL of this extension in it, with the privileges of the current user: of the caller, or in a
/// function with SECURITY DEFINER, as that of the registry, of its owner. All such SQL runs in this function or the one
/// below: the user can be a superuser, and the owner of the database can have set traps for one.
///
/// - Names mean the server's own, whatever search path the user or the database has.
/// - It is a security-restricted operation, as ANALYZE is: a function that it calls cannot become another user, and
///   leaves nothing behind in the session, settings among it.
pub(in crate::pg) fn guarded<T>(work: impl FnOnce() -> T) -> T {
    guarded_as(current_user(), 0, work)
}

/// Does the same as [`guarded`], with the privileges of a role.
pub(in crate::pg) fn as_role<T>(role: pg_sys::Oid, work: impl FnOnce() -> T) -> T {
    guarded_as(role, pg_sys::SECURITY_LOCAL_USERID_CHANGE, work)
}

fn guarded_as<T>(role: pg_sys::Oid, flags: u32, work: impl FnOnce() -> T) -> T {
    // The restriction does not keep functions from changing settings, such as the search path of the session.
    guc::with(&SETTINGS, || {
        guc::keeping_timers(|| switch_to(role, flags, work))
    })
}

fn switch_to<T>(role: pg_sys::Oid, flags: u32, work: impl FnOnce() -> T) -> T {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    let flags = (flags | pg_sys::SECURITY_RESTRICTED_OPERATION).cast_signed();
    // SAFETY: as the server does around SECURITY DEFINER functions. After an error, the abort of the transaction
    // restores both.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut user, &raw mut context);
        pg_sys::SetUserIdAndSecContext(role, context | flags);
        let answer = work();
        pg_sys::SetUserIdAndSecContext(user, context);
        answer
    }
}
