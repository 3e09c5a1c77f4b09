//! The file of a sequence's page, without the sequence.

use super::{BUFFER_LOCK_SHARE, MAGIC, Position, Sequence, SequenceRow, position_of, row_of};
use crate::pg::catalog::{extension, relation};
use pgrx::pg_sys;

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

    /// Reads the row, if the page is in memory and is one of a sequence. Waits for no lock but the page's: the sequence can be
    /// dropped at the same time.
    pub fn glance(self) -> Option<SequenceRow> {
        let place = self.place();
        // SAFETY: looks for the page in memory. Pinned, it stays there, also when its file is removed, until it is released.
        unsafe {
            let storage = pg_sys::smgropen(place, NOBODYS);
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

    /// Opens the page in a file of any database, if it is there and was changed last at `position`: so it is the page of a
    /// sequence of which the caller knows that. Without a lock: **no session may be altering or dropping it**.
    pub fn open(self, position: Position) -> Option<Sequence> {
        let place = self.place();
        // SAFETY: looks for the file, and at how long it is. An entry without a catalog behind it serves to read and to log
        // the page of a permanent relation; the server makes such for itself. It is freed when the value is dropped.
        unsafe {
            let storage = pg_sys::smgropen(place, NOBODYS);
            if !pg_sys::smgrexists(storage, MAIN) || pg_sys::smgrnblocks(storage, MAIN) == 0 {
                return None;
            }
            let sequence = Sequence {
                relation: pg_sys::CreateFakeRelcacheEntry(place),
                lock: None,
                pin: None,
            };
            let buffer = pg_sys::ReadBuffer(sequence.relation, 0);
            pg_sys::LockBuffer(buffer, BUFFER_LOCK_SHARE as _);
            let is_it = position_of(pg_sys::BufferGetPage(buffer)) == position;
            pg_sys::UnlockReleaseBuffer(buffer);
            is_it.then_some(sequence)
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
