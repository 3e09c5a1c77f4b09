//! Word from the server that a relation, a role or a foreign server has changed.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use pgrx::pg_sys;
use std::ffi::c_int;

static ON_RELATION: Callbacks<fn(pg_sys::Oid)> = Callbacks::new();
static ON_ROLE: Callbacks<fn()> = Callbacks::new();

/// Counts changes of foreign servers and user mappings.
static FOREIGN_SERVERS: Local<u64> = Local::new(0);

/// Calls `hearer` with each relation that has changed, or with no oid when any may have, once this process has asked for
/// it by [`begin`].
pub fn on_relation(hearer: fn(pg_sys::Oid)) {
    ON_RELATION.add(hearer);
}

/// Calls `hearer` when privileges may have changed, once this process has asked for it by [`begin`].
pub fn on_role(hearer: fn()) {
    ON_ROLE.add(hearer);
}

/// Asks the server, once. Callbacks cannot be taken back, and live as long as the library.
pub fn begin() {
    static BEGUN: Local<bool> = Local::new(false);
    if BEGUN.replace(true) {
        return;
    }
    // SAFETY: the function is of the type that the server calls.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), 0_usize.into()) };
    // What privileges depend on: memberships of roles, superusers, the owner of the database.
    register(
        [
            pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM,
            pg_sys::SysCacheIdentifier::AUTHOID,
            pg_sys::SysCacheIdentifier::DATABASEOID,
        ],
        role_changed,
    );
}

/// How often a foreign server or a user mapping has changed, as far as this process has heard. For connections that
/// were made by them.
pub fn foreign_server_generation() -> u64 {
    static BEGUN: Local<bool> = Local::new(false);
    if !BEGUN.replace(true) {
        register(
            [
                pg_sys::SysCacheIdentifier::FOREIGNSERVEROID,
                pg_sys::SysCacheIdentifier::USERMAPPINGOID,
            ],
            foreign_server_changed,
        );
    }
    FOREIGN_SERVERS.get()
}

type Callback = unsafe extern "C-unwind" fn(pg_sys::Datum, c_int, u32);

fn register<const N: usize>(caches: [pg_sys::SysCacheIdentifier::Type; N], callback: Callback) {
    for cache in caches {
        // SAFETY: the function is of the type that the server calls.
        unsafe {
            pg_sys::CacheRegisterSyscacheCallback(
                cache.cast_signed(),
                Some(callback),
                0_usize.into(),
            );
        }
    }
}

unsafe extern "C-unwind" fn relation_changed(_: pg_sys::Datum, relation: pg_sys::Oid) {
    ON_RELATION.all().for_each(|hearer| hearer(relation));
}

unsafe extern "C-unwind" fn role_changed(_: pg_sys::Datum, _: c_int, _: u32) {
    ON_ROLE.all().for_each(|hearer| hearer());
}

unsafe extern "C-unwind" fn foreign_server_changed(_: pg_sys::Datum, _: c_int, _: u32) {
    FOREIGN_SERVERS.set(FOREIGN_SERVERS.get() + 1);
}
