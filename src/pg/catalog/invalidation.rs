//! Callbacks on changes of relations, roles and foreign servers.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::backend::local::Local;
use pgrx::pg_sys;
use std::ffi::c_int;

static ON_RELATION: Callbacks<fn(pg_sys::Oid)> = Callbacks::new();
static ON_ROLE: Callbacks<fn()> = Callbacks::new();

/// The number of changes of foreign servers and user mappings.
static FOREIGN_SERVERS: Local<u64> = Local::new(0);

/// Calls `callback` with each relation that has changed, or with no oid if any can have changed, from [`begin`] on.
pub fn on_relation(callback: fn(pg_sys::Oid)) {
    ON_RELATION.add(callback);
}

/// Calls `callback` when privileges can have changed, from [`begin`] on.
pub fn on_role(callback: fn()) {
    ON_ROLE.add(callback);
}

/// Registers with the server, on the first call. The server cannot unregister a callback.
pub fn begin() {
    static BEGUN: Local<bool> = Local::new(false);
    if BEGUN.replace(true) {
        return;
    }
    // SAFETY: the function is of the type that the server calls.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), 0_usize.into()) };
    // Privileges depend on memberships of roles, superusers, and the owner of the database.
    register(
        [
            pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM,
            pg_sys::SysCacheIdentifier::AUTHOID,
            pg_sys::SysCacheIdentifier::DATABASEOID,
        ],
        role_changed,
    );
    // Logical replication sets sequences without an invalidation of them, and then records progress in this catalog.
    register(
        [pg_sys::SysCacheIdentifier::SUBSCRIPTIONRELMAP],
        subscription_changed,
    );
}

/// Reads which changes other transactions have made since the last lock.
pub fn accept() {
    // SAFETY: a call inside a transaction, as every call of a function is.
    unsafe { pg_sys::AcceptInvalidationMessages() };
}

/// Returns how often foreign servers and user mappings have changed, so that connections made by older ones are closed.
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
            pg_sys::CacheRegisterSyscacheCallback(cache as _, Some(callback), 0_usize.into());
        }
    }
}

unsafe extern "C-unwind" fn relation_changed(_: pg_sys::Datum, relation: pg_sys::Oid) {
    ON_RELATION.all().for_each(|callback| callback(relation));
}

unsafe extern "C-unwind" fn subscription_changed(_: pg_sys::Datum, _: c_int, _: u32) {
    ON_RELATION
        .all()
        .for_each(|callback| callback(pg_sys::InvalidOid));
}

unsafe extern "C-unwind" fn role_changed(_: pg_sys::Datum, _: c_int, _: u32) {
    ON_ROLE.all().for_each(|callback| callback());
}

unsafe extern "C-unwind" fn foreign_server_changed(_: pg_sys::Datum, _: c_int, _: u32) {
    FOREIGN_SERVERS.set(FOREIGN_SERVERS.get() + 1);
}
