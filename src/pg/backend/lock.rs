//! Locks of the extension's own, which are none of the server's, and locks of relations that hold up no reader.

use crate::pg::backend::guc;
use crate::pg::backend::wait::WaitEvent;
use crate::pg::error::relay_errors;
use pgrx::pg_sys;
use std::ffi::CString;

/// The server's own advisory locks have 1 and 2 in the fourth field: these meet no others.
const OWN_SPACE: u16 = 0x6d74;

/// Locks a number of a relation until the transaction ends, unless another transaction has it. The relation itself is
/// not locked.
pub fn try_lock_until_commit(relation: pg_sys::Oid, number: u32) -> bool {
    acquire(relation, number, true) != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// Does the same as [`try_lock_until_commit`]; waits for a transaction that has it.
pub fn lock_until_commit(relation: pg_sys::Oid, number: u32, event: &WaitEvent) {
    event.cover(|| acquire(relation, number, false));
}

fn acquire(relation: pg_sys::Oid, number: u32, at_once: bool) -> pg_sys::LockAcquireResult::Type {
    // SAFETY: takes a lock for the transaction, or raises an error.
    unsafe {
        let tag = pg_sys::LOCKTAG {
            locktag_field1: pg_sys::MyDatabaseId.to_u32(),
            locktag_field2: relation.to_u32(),
            locktag_field3: number,
            locktag_field4: OWN_SPACE,
            locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        };
        let mode = pg_sys::ExclusiveLock.cast_signed();
        pg_sys::LockAcquire(&raw const tag, mode, false, at_once)
    }
}

/// Locks a relation so that it keeps its name and its columns until the transaction ends.
pub fn lock_against_changes(relation: pg_sys::Oid) {
    // SAFETY: takes a lock for the transaction, or raises an error.
    relay_errors(|| unsafe {
        pg_sys::LockRelationOid(relation, pg_sys::AccessShareLock.cast_signed());
    });
}

/// Opens a relation without waiting, if there is one and no other session has a conflicting lock. The lock is released by the
/// code that closes the relation.
pub(in crate::pg) fn open_at_once(
    relation: pg_sys::Oid,
    mode: pg_sys::LOCKMODE,
) -> Option<pg_sys::Relation> {
    // SAFETY: calls without preconditions. The lock of what does not exist is released here.
    unsafe {
        if !pg_sys::ConditionalLockRelationOid(relation, mode) {
            return None;
        }
        let open = pg_sys::try_relation_open(relation, pg_sys::NoLock.cast_signed());
        if open.is_null() {
            pg_sys::UnlockRelationOid(relation, mode);
        }
        (!open.is_null()).then_some(open)
    }
}

/// Locks relations until the transaction ends.
pub(in crate::pg) fn lock_each(relations: &[pg_sys::Oid], mode: u32, millis: i32) {
    within(millis, || {
        for &relation in relations {
            // SAFETY: takes a lock for the transaction, or raises an error.
            unsafe { pg_sys::LockRelationOid(relation, mode.cast_signed()) };
        }
    });
}

/// Returns a limit within which autovacuum gives way: it does so after `deadlock_timeout`.
pub(in crate::pg) fn for_vacuum(millis: i32) -> i32 {
    const FOR_ITS_END: i32 = 500;
    match millis {
        0 => 0,
        // SAFETY: an integer that the server writes only between statements, in this thread.
        given => given.max(unsafe { pg_sys::DeadlockTimeout }.saturating_add(FOR_ITS_END)),
    }
}

/// Runs `work`, whose waits for locks have a limit.
pub(in crate::pg) fn within<T>(millis: i32, work: impl FnOnce() -> T) -> T {
    let limit = CString::new(millis.to_string()).unwrap_or_default();
    guc::with(&[(c"lock_timeout", &limit)], || relay_errors(work))
}
