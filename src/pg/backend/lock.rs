//! Locks of the extension's own, which are none of the server's, and of whole tables and sequences.

use crate::pg::backend::guc;
use crate::pg::backend::wait::WaitEvent;
use crate::pg::error::relay_errors;
use pgrx::{check_for_interrupts, pg_sys};
use std::ffi::CString;
use std::ptr;
use std::time::{Duration, Instant};

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

/// Locks a table and all below it against everything, until the transaction ends. Raises an error (55P03) for a lock that it
/// does not get within `millis`; 0 is without a limit.
pub fn lock_tables(table: pg_sys::Oid, millis: i32) {
    lock_tree(table, pg_sys::AccessExclusiveLock, millis);
}

/// Locks a table and all below it against vacuum, and waits for one that runs, as [`lock_tables`] does, but for a time
/// that autovacuum gives way, which it does after `deadlock_timeout`. Sessions that read and write the table wait neither for
/// this lock nor for a session that waits for it.
pub fn lock_out_vacuum(table: pg_sys::Oid, millis: i32) {
    const FOR_ITS_END: i32 = 500;
    let millis = match millis {
        0 => 0,
        // SAFETY: an integer that the server writes only between statements, in this thread.
        given => given.max(unsafe { pg_sys::DeadlockTimeout }.saturating_add(FOR_ITS_END)),
    };
    lock_tree(table, pg_sys::ShareUpdateExclusiveLock, millis);
}

fn lock_tree(table: pg_sys::Oid, mode: u32, millis: i32) {
    within(millis, || {
        let mode = mode.cast_signed();
        // SAFETY: takes locks for the transaction, or raises an error; the list of the oids is not used.
        unsafe {
            pg_sys::LockRelationOid(table, mode);
            pg_sys::find_all_inheritors(table, mode, ptr::null_mut());
        }
    });
}

/// Locks a relation so that it keeps its name and its columns until the transaction ends.
pub fn lock_against_changes(relation: pg_sys::Oid) {
    // SAFETY: takes a lock for the transaction, or raises an error.
    relay_errors(|| unsafe {
        pg_sys::LockRelationOid(relation, pg_sys::AccessShareLock.cast_signed());
    });
}

/// Does the same as [`lock_tables`], for one sequence.
pub fn lock_sequence(sequence: pg_sys::Oid, millis: i32) {
    within(millis, || {
        // SAFETY: takes a lock for the transaction, or raises an error.
        unsafe {
            pg_sys::LockRelationOid(sequence, pg_sys::AccessExclusiveLock.cast_signed());
        }
    });
}

/// Runs `work`, whose waits for locks have a limit.
fn within(millis: i32, work: impl FnOnce()) {
    let limit = CString::new(millis.to_string()).unwrap_or_default();
    guc::with(&[(c"lock_timeout", &limit)], || relay_errors(work));
}

/// Locks a sequence as soon as nobody else has it locked, if that is within a span. It asks again and again rather than
/// wait: a transaction that has the sequence and wants a lock of this one then fails with no deadlock.
pub fn poll_sequence(sequence: pg_sys::Oid, span: Duration) -> bool {
    static EVENT: WaitEvent = WaitEvent::new(c"MintConvert");
    let began = Instant::now();
    loop {
        let mode = pg_sys::AccessExclusiveLock.cast_signed();
        // SAFETY: takes a lock for the transaction, if it can be had at once.
        if unsafe { pg_sys::ConditionalLockRelationOid(sequence, mode) } {
            return true;
        }
        if began.elapsed() > span {
            return false;
        }
        check_for_interrupts!();
        EVENT.show(|| std::thread::sleep(Duration::from_millis(2)));
    }
}
