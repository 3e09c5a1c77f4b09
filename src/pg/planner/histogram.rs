//! How many rows a range of ids has that are strings of bytes: UUIDs and ObjectIDs.
//!
//! The server finds the two values of a column's histogram between which a bound is, and for numbers and texts also how
//! far between them. Of other types it takes the middle, so that its estimate of a short span is half of a part of the
//! histogram: 0.5 % of the rows, whether the span has an hour of a year or a second. Here the bytes are a number.
//!
//! The server asks for the statistics of a column for one condition at a time, and the condition is known by its node.
//! For the time of that one question it gets statistics with two common values more: one that fulfills the condition and
//! one that does not, with the shares of the rows of the histogram. All else that it counts with these stays its own.

use crate::pg::backend::local::Local;
use crate::pg::planner::edge;
use crate::pg::planner::function::{ByteType, byte_type};
use crate::pg::planner::node::{as_node, binary, nodes, uncast};
use crate::pg::ports;
use pgrx::pg_sys::NodeTag;
use pgrx::{pg_guard, pg_sys};
use std::ffi::c_int;
use std::slice;

/// The longest of the types.
const MOST: usize = 16;
/// As a share of a part of the histogram: what lies beyond its ends. As the server has it.
const BEYOND: f64 = 0.01;

/// The server is asked for its own statistics.
static ASKS: Local<bool> = Local::new(false);

/// Returns the only condition of a table that has this very node as its column, if it is on a range of the type, and
/// whether the column is to be below. It reads, and calls nothing.
///
/// # Safety
/// Made by the planner.
pub(super) unsafe fn condition<'a>(
    table: &pg_sys::RelOptInfo,
    column: *mut pg_sys::Node,
    known: &ByteType,
) -> Option<(&'a pg_sys::OpExpr, bool)> {
    // SAFETY: the list is of RestrictInfos, whose clauses are nodes.
    unsafe {
        let mut found = nodes(table.baserestrictinfo)
            .filter_map(|info| binary((*info.cast::<pg_sys::RestrictInfo>()).clause.cast()))
            .filter(|(_, sides)| sides.iter().any(|&side| uncast(side) == column));
        let (comparison, [left, _]) = found.next()?;
        let place = known
            .operators
            .iter()
            .position(|&operator| operator == comparison.opno)?;
        // Conditions that share a node cannot be told apart.
        let is_only = found.next().is_none();
        is_only.then_some((&*comparison, (place < 2) == (uncast(left) == column)))
    }
}

/// Sets the statistics for a condition of a table on a range of ids, if they can be said better than the server does.
/// Returns whether.
///
/// # Safety
/// The planner has called its hook for the statistics of a column of the table.
#[pg_guard]
pub unsafe extern "C-unwind" fn set(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    statistics: *mut pg_sys::VariableStatData,
) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        if ASKS.get() {
            return false;
        }
        let Some(range) = byte_type((*statistics).vartype)
            .and_then(|known| Range::of(root, &*table, (*statistics).var, &known))
        else {
            return false;
        };
        let own = OwnStatistics::of(root, (*statistics).var);
        let Some(share) = own.share(&range, &*table) else {
            return false;
        };
        (*statistics).statsTuple = own.with(&range, share);
        (*statistics).freefunc = Some(ports::heap_freetuple);
        (*statistics).acl_ok = own.0.acl_ok;
        true
    }
}

/// A condition that a column is below or above a value.
struct Range<'a> {
    column: &'a pg_sys::Var,
    operator: pg_sys::Oid,
    /// The operator `<` of the type.
    less: pg_sys::Oid,
    /// The column is to be below.
    is_below: bool,
    value: &'a [u8],
}

impl Range<'_> {
    /// Finds the condition of a table that has this very node, if it is on a range.
    unsafe fn of(
        root: *mut pg_sys::PlannerInfo,
        table: &pg_sys::RelOptInfo,
        column: *mut pg_sys::Node,
        known: &ByteType,
    ) -> Option<Self> {
        // SAFETY: as of `condition`; the operator has two arguments.
        unsafe {
            let (comparison, is_below) = condition(table, column, known)?;
            let with = nodes(comparison.args).find(|&side| uncast(side) != column)?;
            let with = pg_sys::estimate_expression_value(root, with);
            let value = &*as_node::<pg_sys::Const>(with, NodeTag::T_Const)?;
            if value.consttype != known.id || value.constisnull {
                return None;
            }
            Some(Self {
                column: &*column.cast(),
                operator: comparison.opno,
                less: known.operators[0],
                is_below,
                value: bytes(value.constvalue, usize::try_from(value.constlen).ok()?),
            })
        }
    }
}

/// The statistics that the server has of a column.
struct OwnStatistics(pg_sys::VariableStatData);

impl Drop for OwnStatistics {
    fn drop(&mut self) {
        if let (false, Some(free)) = (self.0.statsTuple.is_null(), self.0.freefunc) {
            // SAFETY: the server said how to free what it gave.
            unsafe { free(self.0.statsTuple) };
        }
    }
}

impl OwnStatistics {
    unsafe fn of(root: *mut pg_sys::PlannerInfo, column: *mut pg_sys::Node) -> Self {
        struct Asking;
        impl Drop for Asking {
            fn drop(&mut self) {
                ASKS.set(false);
            }
        }
        let mut own = Self(pg_sys::VariableStatData::default());
        ASKS.set(true);
        let _asking = Asking;
        // SAFETY: a column of a table that is being planned.
        unsafe { pg_sys::examine_variable(root, column, 0, &raw mut own.0) };
        own
    }

    /// Returns the values of a kind, and the shares of each.
    unsafe fn slot(&self, kind: u32, flags: u32) -> Option<Slot> {
        let mut slot = Slot(pg_sys::AttStatsSlot::default());
        // SAFETY: a tuple of statistics.
        let found = unsafe {
            !self.0.statsTuple.is_null()
                && pg_sys::get_attstatsslot(
                    &raw mut slot.0,
                    self.0.statsTuple,
                    kind as c_int,
                    pg_sys::InvalidOid,
                    flags as c_int,
                )
        };
        found.then_some(slot)
    }

    /// Returns the share of the histogram's rows that are in a range, if the user may know.
    unsafe fn share(&self, range: &Range<'_>, table: &pg_sys::RelOptInfo) -> Option<f64> {
        // SAFETY: as of `slot`.
        unsafe {
            let slot = self.slot(
                pg_sys::STATISTIC_KIND_HISTOGRAM,
                pg_sys::ATTSTATSSLOT_VALUES,
            )?;
            let own = (&raw const self.0).cast_mut();
            let function = pg_sys::get_opcode(range.operator);
            if !pg_sys::statistic_proc_security_check(own, function) {
                return None;
            }
            let histogram = slot.values(range.value.len());
            let parts = histogram.len().checked_sub(1).filter(|&parts| parts > 0)?;
            let place = histogram.partition_point(|&known| known < range.value);
            // The ends are those of a sample, and of some time ago.
            let is_first = place <= 1;
            let is_last = place >= parts;
            let mut from = histogram[place.clamp(1, parts) - 1].to_vec();
            let mut to = histogram[place.clamp(1, parts)].to_vec();
            let mut is_exact = true;
            let end = |is_smallest, length| {
                edge::of(
                    table, range.column.varattno, range.less, is_smallest, length,
                )
            };
            if is_first {
                let first = end(true, from.len());
                is_exact = first.is_some();
                from = first.unwrap_or(from);
            }
            if is_last {
                let last = end(false, to.len());
                is_exact &= last.is_some();
                to = last.unwrap_or(to);
            }
            let [from, to, value] = [&from, &to, range.value].map(number);
            let part = if value <= from {
                0.0
            } else if value >= to {
                1.0
            } else {
                (value - from) as f64 / (to - from) as f64
            };
            let count = parts as f64;
            let below = ((place.clamp(1, parts) - 1) as f64 + part) / count;
            let margin = if is_exact { 0.0 } else { BEYOND / count };
            let below = below.clamp(margin, 1.0 - margin);
            Some(if range.is_below { below } else { 1.0 - below })
        }
    }

    /// Returns statistics of common values alone, of which the range has that share of what was not common.
    unsafe fn with(&self, range: &Range<'_>, share: f64) -> pg_sys::HeapTuple {
        // SAFETY: a tuple of statistics, and the descriptor of its table, which is read before it is closed.
        unsafe {
            let form =
                &*pg_sys::GETSTRUCT(self.0.statsTuple).cast::<pg_sys::FormData_pg_statistic>();
            let both = pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS;
            let common = self.slot(pg_sys::STATISTIC_KIND_MCV, both);
            let mut values: Vec<pg_sys::Datum> = Vec::new();
            let mut shares: Vec<f32> = Vec::new();
            if let Some(common) = &common {
                values.extend(common.datums());
                shares.extend(common.shares());
            }
            let rest = 1.0 - form.stanullfrac - shares.iter().sum::<f32>();
            let rest = f64::from(rest.max(0.0));
            let (low, high) = ([0_u8; MOST], [u8::MAX; MOST]);
            let (within, without) = if range.is_below {
                (&low, &high)
            } else {
                (&high, &low)
            };
            for (value, share) in [(within, share), (without, 1.0 - share)] {
                values.push(value.as_ptr().into());
                shares.push((rest * share) as f32);
            }
            let mut shares: Vec<pg_sys::Datum> = shares.into_iter().map(float).collect();
            let values = array(
                &mut values,
                pg_sys::exprType((&raw const *range.column).cast_mut().cast()),
            );
            let shares = array(&mut shares, pg_sys::FLOAT4OID);
            tuple(form, values, shares)
        }
    }
}

/// Values of one kind in a column's statistics.
struct Slot(pg_sys::AttStatsSlot);

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: filled by the server.
        unsafe { pg_sys::free_attstatsslot(&raw mut self.0) };
    }
}

impl Slot {
    fn datums(&self) -> &[pg_sys::Datum] {
        // SAFETY: there are as many as it says.
        unsafe { slice::from_raw_parts(self.0.values, self.0.nvalues.unsigned_abs() as usize) }
    }

    fn shares(&self) -> &[f32] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts(self.0.numbers, self.0.nnumbers.unsigned_abs() as usize) }
    }

    /// # Safety
    /// They are of that length.
    unsafe fn values(&self, length: usize) -> Vec<&[u8]> {
        let datums = self.datums().iter();
        // SAFETY: as the caller says; they live as long as the slot.
        datums
            .map(|&datum| unsafe { bytes(datum, length) })
            .collect()
    }
}

/// # Safety
/// The datum points to as many bytes, for as long as the reference lives.
unsafe fn bytes<'a>(datum: pg_sys::Datum, length: usize) -> &'a [u8] {
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts(datum.cast_mut_ptr(), length) }
}

/// Returns bytes as a number, in whose order they are if they are equally many.
fn number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .take(MOST)
        .fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// Returns a value of type real.
fn float(value: f32) -> pg_sys::Datum {
    value.to_bits().cast_signed().into()
}

/// # Safety
/// They are values of that type.
unsafe fn array(values: &mut [pg_sys::Datum], of: pg_sys::Oid) -> pg_sys::Datum {
    let (mut length, mut by_value, mut align) = (0, false, 0);
    // SAFETY: as the caller says; the array is a copy.
    unsafe {
        pg_sys::get_typlenbyvalalign(of, &raw mut length, &raw mut by_value, &raw mut align);
        let count = values.len() as c_int;
        pg_sys::construct_array(
            values.as_mut_ptr(),
            count,
            of,
            length.into(),
            by_value,
            align,
        )
        .into()
    }
}

/// Makes statistics of common values.
///
/// # Safety
/// They are arrays of values of the column, and of their shares.
unsafe fn tuple(
    form: &pg_sys::FormData_pg_statistic,
    values: pg_sys::Datum,
    shares: pg_sys::Datum,
) -> pg_sys::HeapTuple {
    let place = |number: u32| number as usize - 1;
    let mut fields = [pg_sys::Datum::null(); pg_sys::Natts_pg_statistic as usize];
    let mut nulls = [false; pg_sys::Natts_pg_statistic as usize];
    nulls[place(pg_sys::Anum_pg_statistic_stanumbers1)..].fill(true);
    for (number, value) in [
        (pg_sys::Anum_pg_statistic_starelid, form.starelid.into()),
        (pg_sys::Anum_pg_statistic_staattnum, form.staattnum.into()),
        (pg_sys::Anum_pg_statistic_stainherit, form.stainherit.into()),
        (
            pg_sys::Anum_pg_statistic_stanullfrac,
            float(form.stanullfrac),
        ),
        (pg_sys::Anum_pg_statistic_stawidth, form.stawidth.into()),
        (
            pg_sys::Anum_pg_statistic_stadistinct,
            float(form.stadistinct),
        ),
        (
            pg_sys::Anum_pg_statistic_stakind1,
            (pg_sys::STATISTIC_KIND_MCV as i16).into(),
        ),
        (pg_sys::Anum_pg_statistic_stanumbers1, shares),
        (pg_sys::Anum_pg_statistic_stavalues1, values),
    ] {
        fields[place(number)] = value;
        nulls[place(number)] = false;
    }
    // SAFETY: the fields are those of the catalog; the tuple is a copy.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let catalog = pg_sys::table_open(pg_sys::StatisticRelationId, lock);
        let tuple =
            pg_sys::heap_form_tuple((*catalog).rd_att, fields.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::table_close(catalog, lock);
        tuple
    }
}
