//! Locks of the extension's own beside the server's, and locks of relations that are taken without waiting.

use crate::pg::backend::wait::WaitEvent;
use pgrx::pg_sys;

/// The server's own advisory locks have 1 and 2 in the fourth field, so these never conflict with others.
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

/// Opens a relation without waiting, if there is one and no other session has a conflicting lock. The lock is released by the
/// code that closes the relation.
pub(in crate::pg) fn open_at_once(
    relation: pg_sys::Oid,
    mode: pg_sys::LOCKMODE,
) -> Option<pg_sys::Relation> {
    // SAFETY: calls without preconditions. The lock of a relation that does not exist is released here.
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
