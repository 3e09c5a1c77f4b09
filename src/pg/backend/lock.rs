//! Locks of the extension's own, which are none of the server's.

use pgrx::pg_sys;

/// The server's own advisory locks have 1 and 2 in the fourth field: these meet no others.
const OWN_SPACE: u16 = 0x6d74;

/// Locks a number of a relation until the transaction ends, and waits for a transaction that has it. The relation
/// itself is not locked.
pub fn lock_until_commit(relation: pg_sys::Oid, number: u32) {
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
        pg_sys::LockAcquire(&raw const tag, mode, false, false);
    }
}
