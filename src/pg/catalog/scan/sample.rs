//! Values of a column from a few blocks of its table, read as a scan reads them, but without a query: so no function of
//! the table's owner runs, as in a policy or an index expression, no session waits for this one or the other way round,
//! and no lock is left.

use crate::pg::backend::lock::open_at_once;
use crate::pg::datum::text::DecodedText;
use pgrx::{FromDatum, pg_sys};
use std::ptr;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// Of an integer type.
    Number(i64),
    /// Of a uuid.
    Uuid([u8; 16]),
    /// Of another type of 12 bytes.
    Bytes([u8; 12]),
    /// Of a text type.
    Text(String),
}

impl Value {
    /// Returns the number of an integer type.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// What was read of a column.
#[derive(Debug, Default)]
pub struct Sample {
    /// The values that are not null.
    pub values: Vec<Value>,
    /// All blocks were read, and all of their rows.
    pub is_whole: bool,
}

/// How much to read.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The most values.
    pub values: usize,
    /// The most blocks: evenly spread, with the first and the last one.
    pub blocks: u32,
}

/// An open table, which is closed and unlocked when dropped.
pub struct Open(pub(super) pg_sys::Relation);

impl Open {
    /// Opens a relation, unless a session has a lock on it that conflicts with reading.
    pub fn at_once(table: pg_sys::Oid) -> Option<Self> {
        open_at_once(table, LOCK).map(Self)
    }

    /// Returns whether it is an ordinary table whose rows this session can read by ranges of blocks.
    pub fn can_be_read(&self) -> bool {
        // SAFETY: an open relation has its row of pg_class; a table has its access method.
        unsafe {
            let class = &*(*self.0).rd_rel;
            class.relkind.cast_unsigned() == pg_sys::RELKIND_RELATION
                && !pg_sys::isOtherTempNamespace(class.relnamespace)
                && (*self.0)
                    .rd_tableam
                    .as_ref()
                    .is_some_and(|method| method.scan_set_tidrange.is_some())
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // After an error the server closes it with the transaction.
        if !std::thread::panicking() {
            // SAFETY: opened with this lock.
            unsafe { pg_sys::relation_close(self.0, LOCK) };
        }
    }
}

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock.cast_signed();

/// Reads values of a column of an open table, which is of this type; none if it is of another kind. **Whether the user may
/// read it is for [`access`](crate::pg::catalog::access) to check.**
pub fn sample(table: &Open, place: i16, base_type: pg_sys::Oid, limit: Limit) -> Option<Sample> {
    if !table.can_be_read() {
        return None;
    }
    // SAFETY: the table is open.
    let blocks = unsafe {
        pg_sys::RelationGetNumberOfBlocksInFork(table.0, pg_sys::ForkNumber::MAIN_FORKNUM)
    };
    let count = blocks.min(limit.blocks);
    let mut sample = Sample {
        values: Vec::new(),
        is_whole: count == blocks,
    };
    if count > 0 {
        // SAFETY: the table is open, and has the column.
        unsafe { read_blocks(table, place, base_type, (blocks, count), limit, &mut sample) };
    }
    Some(sample)
}

/// Reads rows of `count` blocks of all, about as many of each.
///
/// # Safety
/// The table is open, and its column at this place is of the type.
unsafe fn read_blocks(
    table: &Open,
    place: i16,
    base_type: pg_sys::Oid,
    (blocks, count): (u32, u32),
    limit: Limit,
    sample: &mut Sample,
) {
    let mut left = count;
    // SAFETY: as the caller says. The slot and the scan are of the table, and released below, or with the transaction.
    unsafe {
        let slot = pg_sys::table_slot_create(table.0, ptr::null_mut());
        let mut scan: pg_sys::TableScanDesc = ptr::null_mut();
        for number in 0..count {
            pgrx::check_for_interrupts!();
            let block = if count == 1 {
                0
            } else {
                u64::from(number) * u64::from(blocks - 1) / u64::from(count - 1)
            } as u32;
            let (mut first, mut last) = (tid(block, 1), tid(block, pg_sys::MaxOffsetNumber));
            if scan.is_null() {
                scan = begin(table.0, &mut first, &mut last);
            } else {
                pg_sys::table_rescan_tidrange(scan, &raw mut first, &raw mut last);
            }
            // What a sparse block leaves is for the others.
            let room = limit.values.saturating_sub(sample.values.len());
            let quota = room.div_ceil(left as usize);
            left -= 1;
            let forward = pg_sys::ScanDirection::ForwardScanDirection;
            let mut taken = 0;
            while pg_sys::table_scan_getnextslot_tidrange(scan, forward, slot) {
                if taken == quota {
                    sample.is_whole = false;
                    break;
                }
                pg_sys::slot_getsomeattrs_int(slot, i32::from(place));
                let at = usize::from(place.unsigned_abs()) - 1;
                if !*(*slot).tts_isnull.add(at)
                    && let Some(value) = value(*(*slot).tts_values.add(at), base_type)
                {
                    sample.values.push(value);
                    taken += 1;
                }
            }
        }
        pg_sys::table_endscan(scan);
        pg_sys::ExecDropSingleTupleTableSlot(slot);
    }
}

/// # Safety
/// The relation is open and has rows in blocks.
unsafe fn begin(
    relation: pg_sys::Relation,
    first: &mut pg_sys::ItemPointerData,
    last: &mut pg_sys::ItemPointerData,
) -> pg_sys::TableScanDesc {
    // SAFETY: as the caller says; a function that runs in a query has an active snapshot.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg19"))]
        let scan = pg_sys::table_beginscan_tidrange(relation, snapshot, first, last);
        #[cfg(feature = "pg19")]
        let scan = pg_sys::table_beginscan_tidrange(relation, snapshot, first, last, 0);
        scan
    }
}

fn tid(block: u32, offset: u16) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (block >> 16) as u16,
            bi_lo: block as u16,
        },
        ip_posid: offset,
    }
}

/// Returns a value; none of another type, and of a text that is too long for an id.
///
/// # Safety
/// The datum is of the type, and not null.
pub unsafe fn value(datum: pg_sys::Datum, base_type: pg_sys::Oid) -> Option<Value> {
    const LONGEST: usize = 100;
    // SAFETY: as the caller says: a number, or a pointer to a value of the type.
    unsafe {
        Some(match base_type {
            pg_sys::INT2OID => Value::Number(i64::from(datum.value() as i16)),
            pg_sys::INT4OID => Value::Number(i64::from(datum.value() as i32)),
            pg_sys::INT8OID => Value::Number(datum.value() as i64),
            pg_sys::UUIDOID => Value::Uuid(*datum.cast_mut_ptr::<[u8; 16]>()),
            pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => {
                let header = datum.cast_mut_ptr::<pg_sys::varlena>();
                let is_short = pgrx::varlena::varatt_is_1b(header)
                    && !pgrx::varlena::varatt_is_1b_e(header)
                    || pgrx::varlena::varatt_is_4b_u(header);
                if !is_short || pgrx::varlena::varsize_any_exhdr(header) > LONGEST {
                    return None;
                }
                Value::Text(DecodedText::from_datum(datum, false)?.0)
            }
            _ if pg_sys::get_typlen(base_type) == 12 => {
                Value::Bytes(*datum.cast_mut_ptr::<[u8; 12]>())
            }
            _ => return None,
        })
    }
}
