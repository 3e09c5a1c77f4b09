//! The page of a sequence, read and written as by the server's own functions, but without a transaction: a write takes
//! no transaction id, survives a rollback, and works in read-only transactions and parallel workers.
//!
//! A page is logged as a full image. A delta would be replayed on a different page, as `nextval` logs values ahead of
//! those in memory.

mod page;

use crate::pg::backend::lock::open_at_once;
use crate::pg::backend::orphan;
use crate::pg::catalog::relation::{self, byte};
use crate::pg::error::report;
pub use crate::pg::machine::wal::{Position, flush, flush_soon, is_before_checkpoint};
use mint_core::Rules;
#[cfg(feature = "pg19")]
use pgrx::pg_sys::BufferLockMode::{BUFFER_LOCK_EXCLUSIVE, BUFFER_LOCK_SHARE};
#[cfg(not(feature = "pg19"))]
use pgrx::pg_sys::{BUFFER_LOCK_EXCLUSIVE, BUFFER_LOCK_SHARE};
use pgrx::{PgSqlErrorCode as Code, pg_sys};

pub use page::{File, SequenceRow};
use page::{MAGIC, position_of, row_of};

/// A permanent sequence, open and locked. It is closed and unlocked when dropped, before the transaction ends.
pub struct Sequence {
    relation: pg_sys::Relation,
    lock: Lock,
    /// A pin that keeps the page in memory.
    pin: Option<pg_sys::Buffer>,
}

/// Lock modes of a sequence.
#[derive(Debug, Clone, Copy)]
pub enum Lock {
    /// Conflicts with only some forms of ALTER and DROP, and is possible during recovery.
    Read,
    /// The lock of `nextval`: conflicts with ALTER and DROP, not with other writers.
    Write,
    /// Conflicts with other writers too.
    Alone,
}

impl Lock {
    fn mode(self) -> pg_sys::LOCKMODE {
        match self {
            Lock::Read => pg_sys::AccessShareLock.cast_signed(),
            Lock::Write => pg_sys::RowExclusiveLock.cast_signed(),
            Lock::Alone => pg_sys::ShareRowExclusiveLock.cast_signed(),
        }
    }
}

impl Sequence {
    /// Opens a sequence; returns none if it does not exist any more.
    pub fn open(oid: pg_sys::Oid, lock: Lock) -> Option<Self> {
        // SAFETY: a call without preconditions. The relation stays open until the value is dropped, or the transaction
        // ends.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock.mode()) };
        Self::check(relation, lock)
    }

    /// Takes over a relation that was opened; null if it does not exist any more.
    fn check(relation: pg_sys::Relation, lock: Lock) -> Option<Self> {
        if relation.is_null() {
            return None;
        }
        let sequence = Self {
            relation,
            lock,
            pin: None,
        };
        // SAFETY: an open relation has its row of pg_class.
        let class = unsafe { &*(*relation).rd_rel };
        if byte(class.relkind) != pg_sys::RELKIND_SEQUENCE {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{}\" is not a sequence", sequence.name()),
            )
            .raise();
        }
        let kind = match byte(class.relpersistence) {
            pg_sys::RELPERSISTENCE_PERMANENT => return Some(sequence),
            pg_sys::RELPERSISTENCE_TEMP => "temporary",
            _ => "unlogged",
        };
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("cannot draw from {kind} sequence \"{}\"", sequence.name()),
        )
        .detail("Values that were drawn must survive a crash of the server.")
        .hint("Use a permanent sequence, or nextval().")
        .raise()
    }

    /// Does the same as [`Sequence::open`], without waiting: none also if another session has a conflicting lock.
    pub fn open_at_once(oid: pg_sys::Oid, lock: Lock) -> Option<Self> {
        Self::check(open_at_once(oid, lock.mode())?, lock)
    }

    /// Opens a sequence to read its page, without waiting. While another session alters the sequence, this works only
    /// if the page is in memory: when that session commits, the file can be gone before it is read.
    pub fn open_to_look(oid: pg_sys::Oid) -> Option<Self> {
        let free = Self::open_at_once(oid, Lock::Write);
        free.or_else(|| Self::open_at_once(oid, Lock::Read)?.pin_page())
    }

    /// Keeps the page in memory, if it is there, until the value is dropped.
    fn pin_page(mut self) -> Option<Self> {
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        // SAFETY: an open relation has the place of its file. A pinned page stays, also when its file is removed.
        unsafe {
            #[cfg(feature = "pg15")]
            let place = (*self.relation).rd_node;
            #[cfg(not(feature = "pg15"))]
            let place = (*self.relation).rd_locator;
            let buffer = pg_sys::PrefetchBuffer(self.relation, main, 0).recent_buffer;
            let is_there = buffer != 0 && pg_sys::ReadRecentBuffer(place, main, 0, buffer);
            self.pin = is_there.then_some(buffer);
        }
        self.pin.is_some().then_some(self)
    }

    /// Reads the row of a permanent sequence without waiting, if no other session has a conflicting lock. **The caller
    /// checks whether the user may read it.**
    pub fn peek(oid: pg_sys::Oid) -> Option<SequenceRow> {
        let sequence = Self {
            relation: open_at_once(oid, Lock::Read.mode())?,
            lock: Lock::Read,
            pin: None,
        };
        // SAFETY: an open relation has its row of pg_class.
        let class = unsafe { &*(*sequence.relation).rd_rel };
        let kinds = [class.relkind, class.relpersistence].map(byte);
        (kinds == [pg_sys::RELKIND_SEQUENCE, pg_sys::RELPERSISTENCE_PERMANENT])
            .then(|| sequence.row())
    }

    /// Opens a sequence for a statement that alters it, with a lock against other writers until the transaction ends.
    pub fn open_until_commit(oid: pg_sys::Oid) -> Option<Self> {
        // SAFETY: a call without preconditions. The transaction releases the lock.
        unsafe { pg_sys::LockRelationOid(oid, Lock::Alone.mode()) };
        Self::open(oid, Lock::Alone)
    }

    /// Returns the name, without its schema.
    pub fn name(&self) -> String {
        // SAFETY: an open relation has its row of pg_class, whose name ends with a zero byte.
        let name = unsafe { (*(*self.relation).rd_rel).relname.data.as_ptr() };
        // SAFETY: as above.
        unsafe { crate::pg::charset::decode_c(name) }.unwrap_or_default()
    }

    /// Returns the oid, and the number of the file that has the page now.
    pub fn identity(&self) -> (pg_sys::Oid, pg_sys::Oid) {
        // SAFETY: an open relation has its row of pg_class.
        unsafe {
            (
                (*self.relation).rd_id,
                (*(*self.relation).rd_rel).relfilenode,
            )
        }
    }

    /// Reads the row.
    pub fn row(&self) -> SequenceRow {
        self.with_page(BUFFER_LOCK_SHARE, |_, page| {
            // SAFETY: the page is locked and was checked.
            unsafe { *row_of(page) }
        })
    }

    /// Returns the result of `test` for the row and the position of its last change, which stay so meanwhile.
    pub fn is_at(&self, test: impl FnOnce(SequenceRow, Position) -> bool) -> bool {
        self.with_page(BUFFER_LOCK_SHARE, |_, page| {
            // SAFETY: the page is locked and was checked.
            let (row, position) = unsafe { (*row_of(page), position_of(page)) };
            test(row, position)
        })
    }

    /// Returns the definition, and its CACHE: how many values a session takes at once. The lock keeps both.
    pub fn definition(&self) -> (Rules, u64) {
        let row = relation::sequence(self.identity().0).unwrap_or_else(|| {
            report(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("cache lookup failed for sequence \"{}\"", self.name()),
            )
            .raise()
        });
        let rules = Rules {
            increment: row.increment,
            min: row.min,
            max: row.max,
            cycle: row.cycle,
        };
        (rules, row.cache.unsigned_abs())
    }

    /// Passes the row to `decide` under the page's lock, and writes and logs the row that it returns. Returns the row
    /// in the page, and the WAL position that makes it durable once flushed.
    pub fn update(
        &mut self,
        decide: impl FnOnce(SequenceRow) -> Option<SequenceRow>,
    ) -> (SequenceRow, Position) {
        self.update_then(|row, _| decide(row), |_| ())
    }

    /// Does the same as [`Sequence::update`]. Passes `decide` the position of the last change as well; and if it returns a row, calls
    /// `then` with the new position, still under the page's lock.
    ///
    /// Ends an orphan, as another server can be issuing by now what the orphan would write here.
    pub fn update_then(
        &mut self,
        decide: impl FnOnce(SequenceRow, Position) -> Option<SequenceRow>,
        then: impl FnOnce(Position),
    ) -> (SequenceRow, Position) {
        orphan::refuse();
        self.with_page(BUFFER_LOCK_EXCLUSIVE, |buffer, page| {
            // SAFETY: the page is locked and was checked.
            let (found, logged) = unsafe { (*row_of(page), position_of(page)) };
            match decide(found, logged) {
                None => (found, logged),
                Some(row) => {
                    // SAFETY: the buffer is pinned and locked. The image is a copy of the page that was checked;
                    // GenericXLogFinish logs it and copies it back.
                    let position = unsafe {
                        let state = pg_sys::GenericXLogStart(self.relation);
                        let full = pg_sys::GENERIC_XLOG_FULL_IMAGE.cast_signed();
                        let image = pg_sys::GenericXLogRegisterBuffer(state, buffer, full);
                        *row_of(image) = row;
                        pg_sys::GenericXLogFinish(state)
                    };
                    then(position);
                    (row, position)
                }
            }
        })
    }

    /// Does the same as [`Sequence::update`], for the value only: writes it as issued, with no values logged ahead.
    pub fn raise(&mut self, decide: impl FnOnce(i64) -> Option<i64>) -> (i64, Position) {
        let (row, position) = self.update(|row| {
            Some(SequenceRow {
                last_value: decide(row.last_value)?,
                log_count: 0,
                is_called: true,
            })
        });
        (row.last_value, position)
    }

    /// Runs `work` on the only page, under its lock.
    fn with_page<T>(&self, lock: u32, work: impl FnOnce(pg_sys::Buffer, pg_sys::Page) -> T) -> T {
        // SAFETY: a sequence has a block 0. Pin and lock are released below, or by the server when an
        // error ends the transaction.
        unsafe {
            let buffer = pg_sys::ReadBuffer(self.relation, 0);
            pg_sys::LockBuffer(buffer, lock as _);
            let page = pg_sys::BufferGetPage(buffer);
            if pg_sys::PageGetSpecialPointer(page).cast::<u32>().read() != MAGIC {
                report(
                    Code::ERRCODE_DATA_CORRUPTED,
                    format!("bad magic number in sequence \"{}\"", self.name()),
                )
                .raise();
            }
            let result = work(buffer, page);
            pg_sys::UnlockReleaseBuffer(buffer);
            result
        }
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        // After an error, the server closes the sequence with the transaction.
        if !std::thread::panicking() {
            // SAFETY: pinned here; opened with this lock.
            unsafe {
                if let Some(buffer) = self.pin {
                    pg_sys::ReleaseBuffer(buffer);
                }
                pg_sys::relation_close(self.relation, self.lock.mode());
            }
        }
    }
}
