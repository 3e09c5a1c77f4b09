//! The page of a sequence and its file, without the sequence.

use crate::pg::catalog::{extension, relation};
use crate::pg::machine::wal::Position;
use pgrx::pg_sys;
#[cfg(not(feature = "pg19"))]
use pgrx::pg_sys::BUFFER_LOCK_SHARE;
#[cfg(feature = "pg19")]
use pgrx::pg_sys::BufferLockMode::BUFFER_LOCK_SHARE;

/// The only row of a sequence; see `FormData_pg_sequence_data`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SequenceRow {
    /// The last value issued, or the next one when none was.
    pub last_value: i64,
    /// The number of logged values that are left.
    pub log_count: i64,
    /// True if `last_value` was issued.
    pub is_called: bool,
}

/// `SEQ_MAGIC` of sequence.c, at the end of the page.
pub(super) const MAGIC: u32 = 0x1717;

/// The file of a sequence's page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    pub tablespace: u32,
    pub database: u32,
    pub number: u32,
}

#[cfg(feature = "pg15")]
type Place = pg_sys::RelFileNode;
#[cfg(not(feature = "pg15"))]
type Place = pg_sys::RelFileLocator;

/// `InvalidBackendId`: the file is not of a temporary relation.
const NOBODYS: i32 = -1;
const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;

impl File {
    /// Returns the file that a relation of this database has now.
    pub fn of(relation: pg_sys::Oid) -> Option<Self> {
        Some(Self {
            tablespace: relation::tablespace(relation)?.to_u32(),
            database: extension::database(),
            number: relation::file(relation)?.to_u32(),
        })
    }

    /// Reads the row, if the page is in memory and belongs to a sequence. Waits only for the page's lock: the sequence
    /// can be dropped at the same time.
    pub fn glance(self) -> Option<SequenceRow> {
        let place = self.place();
        // SAFETY: looks for the page in memory. A pinned page stays, even without its file, until it is released.
        unsafe {
            let storage = pg_sys::smgropen(place, NOBODYS);
            // Without its file, looking for a page that is not in memory would raise an error.
            if !pg_sys::smgrexists(storage, MAIN) {
                return None;
            }
            let buffer = pg_sys::PrefetchSharedBuffer(storage, MAIN, 0).recent_buffer;
            if buffer == 0 || !pg_sys::ReadRecentBuffer(place, MAIN, 0, buffer) {
                return None;
            }
            pg_sys::LockBuffer(buffer, BUFFER_LOCK_SHARE as _);
            let page = pg_sys::BufferGetPage(buffer);
            let is_sequence = pg_sys::PageGetSpecialPointer(page).cast::<u32>().read() == MAGIC;
            let row = is_sequence.then(|| *row_of(page));
            pg_sys::UnlockReleaseBuffer(buffer);
            row
        }
    }

    fn place(self) -> Place {
        #[cfg(feature = "pg15")]
        return Place {
            spcNode: self.tablespace.into(),
            dbNode: self.database.into(),
            relNode: self.number.into(),
        };
        #[cfg(not(feature = "pg15"))]
        Place {
            spcOid: self.tablespace.into(),
            dbOid: self.database.into(),
            relNumber: self.number.into(),
        }
    }
}

/// Returns the row of a sequence's page.
///
/// # Safety
/// `page` is of a sequence, and stays locked while the result is used.
pub(super) unsafe fn row_of(page: pg_sys::Page) -> *mut SequenceRow {
    // SAFETY: a sequence's page has one tuple; its header has the offset of its data.
    unsafe {
        let item = pg_sys::PageGetItemId(page, 1);
        let tuple = pg_sys::PageGetItem(page, item).cast::<u8>();
        let header = tuple.cast::<pg_sys::HeapTupleHeaderData>();
        tuple
            .add(usize::from((*header).t_hoff))
            .cast::<SequenceRow>()
    }
}

/// Returns the WAL position of the last change to a page; macro `PageGetLSN`.
///
/// # Safety
/// `page` is locked.
pub(super) unsafe fn position_of(page: pg_sys::Page) -> Position {
    // SAFETY: every page begins with the position, its upper half first.
    let [upper, lower] = unsafe { page.cast::<[u32; 2]>().read() };
    u64::from(upper) << 32 | u64::from(lower)
}
