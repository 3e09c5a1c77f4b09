//! The page of a sequence, read and written as the server's own functions do, but outside of any
//! transaction: it takes no transaction id, survives a rollback, and works in read-only transactions
//! and parallel workers.
//!
//! The new page is logged as a full image. A delta would be replayed on another page than it was made
//! for: `nextval` logs values ahead of those in memory.

use crate::pg::error::report;
use mint_core::Rules;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// The place in the log at which a page was written last; 0 when its file is not logged yet, as in the
/// transaction that makes it under wal_level minimal, whose commit then writes the file itself.
pub type Position = pg_sys::XLogRecPtr;

/// What a sequence's only row holds; see `FormData_pg_sequence_data`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Row {
    /// The last value given out, or the next one when nothing was.
    pub last_value: i64,
    /// How many values of those logged are left.
    pub log_count: i64,
    /// Whether `last_value` was given out.
    pub is_called: bool,
}

/// The row of pg_sequence; see `FormData_pg_sequence`, which pgrx does not bind.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Definition {
    sequence: pg_sys::Oid,
    value_type: pg_sys::Oid,
    start: i64,
    increment: i64,
    max: i64,
    min: i64,
    cache: i64,
    cycle: bool,
}

/// `SEQ_MAGIC` of sequence.c, at the end of the page.
const MAGIC: u32 = 0x1717;

/// A permanent sequence, open and locked. The lock goes with it, before the transaction ends.
pub struct Sequence {
    relation: pg_sys::Relation,
    lock: Lock,
}

/// What other sessions may do with the sequence meanwhile.
#[derive(Debug, Clone, Copy)]
pub enum Lock {
    /// Other writers, as with `nextval`, but not ALTER and DROP.
    Write,
    /// Readers only.
    Alone,
}

impl Lock {
    fn mode(self) -> pg_sys::LOCKMODE {
        match self {
            Lock::Write => pg_sys::RowExclusiveLock.cast_signed(),
            Lock::Alone => pg_sys::ShareRowExclusiveLock.cast_signed(),
        }
    }
}

impl Sequence {
    /// Opens a sequence, unless it is gone.
    pub fn open(oid: pg_sys::Oid, lock: Lock) -> Option<Self> {
        // SAFETY: a call without preconditions; the relation stays open until dropped, or the
        // transaction ends.
        let relation = unsafe { pg_sys::try_relation_open(oid, lock.mode()) };
        Self::check(relation, lock)
    }

    /// Takes over what was opened, unless it is gone.
    fn check(relation: pg_sys::Relation, lock: Lock) -> Option<Self> {
        if relation.is_null() {
            return None;
        }
        let sequence = Self { relation, lock };
        // SAFETY: an open relation has its row of pg_class.
        let class = unsafe { &*(*relation).rd_rel };
        if class.relkind.cast_unsigned() != pg_sys::RELKIND_SEQUENCE {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{}\" is not a sequence", sequence.name()),
            )
            .raise();
        }
        let kind = match class.relpersistence.cast_unsigned() {
            pg_sys::RELPERSISTENCE_PERMANENT => return Some(sequence),
            pg_sys::RELPERSISTENCE_TEMP => "temporary",
            _ => "unlogged",
        };
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("cannot draw from {kind} sequence \"{}\"", sequence.name()),
        )
        .detail("What was drawn must outlive a crash of the server.")
        .hint("Use a permanent sequence, or nextval().")
        .raise()
    }

    /// As [`Sequence::open`] for writing, but without waiting: None also when another holds its lock.
    pub fn open_at_once(oid: pg_sys::Oid) -> Option<Self> {
        let mode = Lock::Write.mode();
        // SAFETY: calls without preconditions. The lock is given back when the sequence is dropped, or here if it is gone.
        unsafe {
            if !pg_sys::ConditionalLockRelationOid(oid, mode) {
                return None;
            }
            let relation = pg_sys::try_relation_open(oid, pg_sys::NoLock.cast_signed());
            if relation.is_null() {
                pg_sys::UnlockRelationOid(oid, mode);
            }
            Self::check(relation, Lock::Write)
        }
    }

    /// Opens a sequence for a statement that alters it, and keeps others from writing it until the
    /// transaction ends.
    pub fn open_until_commit(oid: pg_sys::Oid) -> Option<Self> {
        // SAFETY: a call without preconditions. The lock is the transaction's.
        unsafe { pg_sys::LockRelationOid(oid, Lock::Alone.mode()) };
        Self::open(oid, Lock::Alone)
    }

    /// The name, without its schema.
    pub fn name(&self) -> String {
        // SAFETY: an open relation has its row of pg_class, whose name ends with a zero byte.
        unsafe { crate::pg::charset::decode_c((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// The sequence's oid and the number of the file in which its page is now.
    pub fn identity(&self) -> (pg_sys::Oid, pg_sys::Oid) {
        // SAFETY: an open relation has its row of pg_class.
        unsafe {
            (
                (*self.relation).rd_id,
                (*(*self.relation).rd_rel).relfilenode,
            )
        }
    }

    /// The row as it is now.
    pub fn row(&self) -> Row {
        self.with_page(pg_sys::BUFFER_LOCK_SHARE, |_, page| {
            // SAFETY: the page is locked and was checked.
            unsafe { *row_of(page) }
        })
    }

    /// What `look` says of the row as it is now, and of where it was logged last. Both stay so until it returns.
    pub fn is_at(&self, look: impl FnOnce(Row, Position) -> bool) -> bool {
        self.with_page(pg_sys::BUFFER_LOCK_SHARE, |_, page| {
            // SAFETY: the page is locked and was checked.
            let (row, position) = unsafe { (*row_of(page), position_of(page)) };
            look(row, position)
        })
    }

    /// What its definition says, and how many values a session shall take at once, its CACHE. The lock
    /// on it keeps that so.
    pub fn definition(&self) -> (Rules, u64) {
        let cache = pg_sys::SysCacheIdentifier::SEQRELID.cast_signed();
        // SAFETY: a lookup in the catalogs by oid; the row is copied before it is released.
        let row = unsafe {
            let tuple = pg_sys::SearchSysCache1(cache, self.identity().0.into());
            if tuple.is_null() {
                None
            } else {
                let row = *pg_sys::GETSTRUCT(tuple).cast::<Definition>();
                pg_sys::ReleaseSysCache(tuple);
                Some(row)
            }
        };
        let Some(row) = row else {
            report(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("cache lookup failed for sequence \"{}\"", self.name()),
            )
            .raise()
        };
        let rules = Rules {
            increment: row.increment,
            min: row.min,
            max: row.max,
            cycle: row.cycle,
        };
        (rules, row.cache.unsigned_abs())
    }

    /// Under the page's lock: shows the row to `decide`, logs and writes what it answers. Returns the
    /// row that is there now, and the log position that makes it durable once flushed.
    pub fn update(&mut self, decide: impl FnOnce(Row) -> Option<Row>) -> (Row, Position) {
        self.update_then(|row, _| decide(row), |_| ())
    }

    /// As [`Sequence::update`]; shows `decide` where the row was logged last as well, and runs `then` with the position once the page is written, still under its
    /// lock. Not when nothing was.
    pub fn update_then(
        &mut self,
        decide: impl FnOnce(Row, Position) -> Option<Row>,
        then: impl FnOnce(Position),
    ) -> (Row, Position) {
        self.with_page(pg_sys::BUFFER_LOCK_EXCLUSIVE, |buffer, page| {
            // SAFETY: the page is locked and was checked.
            let (found, logged) = unsafe { (*row_of(page), position_of(page)) };
            match decide(found, logged) {
                None => (found, logged),
                Some(row) => {
                    // SAFETY: the buffer is pinned and locked; the image is a copy of the page that
                    // was checked, which replaces it under the log's rules when finished.
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

    /// As [`Sequence::update`], for raising the value only: writes it as given out, with nothing
    /// logged ahead of it.
    pub fn raise(&mut self, decide: impl FnOnce(i64) -> Option<i64>) -> (i64, Position) {
        let (row, position) = self.update(|row| {
            Some(Row {
                last_value: decide(row.last_value)?,
                log_count: 0,
                is_called: true,
            })
        });
        (row.last_value, position)
    }

    /// Runs `work` on the only page while it is locked.
    fn with_page<T>(&self, lock: u32, work: impl FnOnce(pg_sys::Buffer, pg_sys::Page) -> T) -> T {
        // SAFETY: a sequence has a block 0. Pin and lock are released below, or by the server when an
        // error ends the transaction.
        unsafe {
            let buffer = pg_sys::ReadBuffer(self.relation, 0);
            pg_sys::LockBuffer(buffer, lock.cast_signed());
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
        // After an error the server closes what is open.
        if !std::thread::panicking() {
            // SAFETY: opened with this lock.
            unsafe { pg_sys::relation_close(self.relation, self.lock.mode()) };
        }
    }
}

/// Returns when the log is on disk up to `position`.
pub fn flush(position: Position) {
    if position != 0 {
        // SAFETY: a position that this server has written.
        unsafe { pg_sys::XLogFlush(position) };
    }
}

/// Has the log writer flush up to `position` soon.
pub fn hasten(position: Position) {
    if position != 0 {
        // SAFETY: a position that this server has written.
        unsafe { pg_sys::XLogSetAsyncXactLSN(position) };
    }
}

/// The row of a sequence's page.
///
/// # Safety
/// `page` is of a sequence, and stays locked while the result is used.
unsafe fn row_of(page: pg_sys::Page) -> *mut Row {
    // SAFETY: a sequence's page has one tuple, whose data begins where its header says.
    unsafe {
        let item = pg_sys::PageGetItemId(page, 1);
        let tuple = pg_sys::PageGetItem(page, item).cast::<u8>();
        let header = tuple.cast::<pg_sys::HeapTupleHeaderData>();
        tuple.add(usize::from((*header).t_hoff)).cast::<Row>()
    }
}

/// Where in the log a page was written last; macro `PageGetLSN`.
///
/// # Safety
/// `page` is locked.
unsafe fn position_of(page: pg_sys::Page) -> Position {
    // SAFETY: every page begins with this header.
    let at = unsafe { (*page.cast::<pg_sys::PageHeaderData>()).pd_lsn };
    u64::from(at.xlogid) << 32 | u64::from(at.xrecoff)
}

/// Whether a page that was logged at `position` may be logged anew, as a checkpoint has begun since.
pub fn is_before_checkpoint(position: Position) -> bool {
    // SAFETY: a call without preconditions.
    position <= unsafe { pg_sys::GetRedoRecPtr() }
}
