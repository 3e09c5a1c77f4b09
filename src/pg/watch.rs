//! Word from the server that a relation or a role has changed, for whoever remembers something of one.

use super::{ceilings, segment_session, users};
use pgrx::pg_sys;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts changes of foreign servers and user mappings.
static WAYS: AtomicU64 = AtomicU64::new(0);

/// How often a foreign server or a user mapping has changed, as far as this process has heard. For whoever keeps a
/// connection that was made by them.
pub fn ways() -> u64 {
    static mut BEGUN: bool = false;
    // SAFETY: a backend is one thread, and the function is of the type that the server calls.
    unsafe {
        if !BEGUN {
            BEGUN = true;
            for cache in [
                pg_sys::SysCacheIdentifier::FOREIGNSERVEROID,
                pg_sys::SysCacheIdentifier::USERMAPPINGOID,
            ] {
                pg_sys::CacheRegisterSyscacheCallback(
                    cache.cast_signed(),
                    Some(on_way),
                    0_usize.into(),
                );
            }
        }
    }
    WAYS.load(Ordering::Relaxed)
}

/// Asks for it, once. Callbacks cannot be taken back, and live as long as the library.
pub fn begin() {
    static mut BEGUN: bool = false;
    // SAFETY: a backend is one thread.
    unsafe {
        if BEGUN {
            return;
        }
        BEGUN = true;
        pg_sys::CacheRegisterRelcacheCallback(Some(on_relation), 0_usize.into());
        // What privileges depend on: who is a member of what, who is a superuser, who owns the database.
        for cache in [
            pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM,
            pg_sys::SysCacheIdentifier::AUTHOID,
            pg_sys::SysCacheIdentifier::DATABASEOID,
        ] {
            pg_sys::CacheRegisterSyscacheCallback(
                cache.cast_signed(),
                Some(on_role),
                0_usize.into(),
            );
        }
    }
}

/// Called with the relation that has changed, or with no oid when any may have.
unsafe extern "C-unwind" fn on_relation(_: pg_sys::Datum, relation: pg_sys::Oid) {
    ceilings::forget(relation);
    segment_session::forget(relation);
    users::forget(relation);
}

/// Called when anybody's privileges may have changed.
unsafe extern "C-unwind" fn on_role(_: pg_sys::Datum, _: c_int, _: u32) {
    segment_session::forget(pg_sys::InvalidOid);
    users::forget(pg_sys::InvalidOid);
}

/// Called when a foreign server or a user mapping may have changed.
unsafe extern "C-unwind" fn on_way(_: pg_sys::Datum, _: c_int, _: u32) {
    WAYS.fetch_add(1, Ordering::Relaxed);
}
