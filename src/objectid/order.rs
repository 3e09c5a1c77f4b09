//! What indexes and sorts call for each pair of ObjectIDs: plain C functions.
//!
//! They raise no error, so they go without pgrx's guard, which costs more than a comparison. Declared
//! in `sql/objectid/operators.sql`.

use crate::pg::datum::fixed;
use crate::pg::ports::ssup_datum_unsigned_cmp;
use pgrx::pg_sys::{Datum, FunctionCallInfo, Pg_finfo_record, SortSupport, SortSupportData};
use std::cmp::Ordering;
use std::ffi::c_int;

type Id = [u8; mint_core::ObjectId::BYTES];

/// The ObjectID of a datum.
///
/// # Safety
/// The datum is one, for as long as the reference lives.
#[inline]
unsafe fn id<'a>(datum: Datum) -> &'a Id {
    // SAFETY: as the caller says; bytes have no alignment.
    unsafe { &*datum.cast_mut_ptr::<Id>() }
}

/// Order by bytes, compared as two numbers, which takes no call.
#[inline]
fn compare(one: &Id, other: &Id) -> Ordering {
    let halves = |[a, b, c, d, e, f, g, h, rest @ ..]: Id| {
        let start = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        (start, u32::from_be_bytes(rest))
    };
    halves(*one).cmp(&halves(*other))
}

/// An argument of a strict function, so never null.
///
/// # Safety
/// The call has as many.
#[inline]
unsafe fn argument(call: FunctionCallInfo, place: usize) -> Datum {
    // SAFETY: as the caller says.
    unsafe { (*call).args.as_slice(place + 1)[place].value }
}

/// The order of the two ObjectIDs of a call.
///
/// # Safety
/// The call has two, and nothing else.
#[inline]
unsafe fn order(call: FunctionCallInfo) -> Ordering {
    // SAFETY: as the caller says.
    unsafe { compare(id(argument(call, 0)), id(argument(call, 1))) }
}

/// Functions of SQL by version 1 of the calling convention.
macro_rules! c_functions {
    ($($name:ident, $info:ident: |$call:ident| $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $info() -> &'static Pg_finfo_record {
            const INFO: Pg_finfo_record = Pg_finfo_record { api_version: 1 };
            &INFO
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($call: FunctionCallInfo) -> Datum {
            // SAFETY: declared STRICT, and with the arguments that it reads.
            unsafe { Datum::from($body) }
        }
    )*};
}

c_functions! {
    objectid_eq, pg_finfo_objectid_eq: |call| order(call).is_eq();
    objectid_ne, pg_finfo_objectid_ne: |call| order(call).is_ne();
    objectid_lt, pg_finfo_objectid_lt: |call| order(call).is_lt();
    objectid_le, pg_finfo_objectid_le: |call| order(call).is_le();
    objectid_gt, pg_finfo_objectid_gt: |call| order(call).is_gt();
    objectid_ge, pg_finfo_objectid_ge: |call| order(call).is_ge();
    objectid_cmp, pg_finfo_objectid_cmp: |call| order(call) as i32;
    objectid_hash, pg_finfo_objectid_hash: |call| fixed::hash(id(argument(call, 0)));
    objectid_hash_extended, pg_finfo_objectid_hash_extended: |call| {
        fixed::hash_extended(id(argument(call, 0)), argument(call, 1).value() as u64)
    };
    objectid_smaller, pg_finfo_objectid_smaller: |call| {
        argument(call, usize::from(order(call).is_gt()))
    };
    objectid_larger, pg_finfo_objectid_larger: |call| {
        argument(call, usize::from(order(call).is_lt()))
    };
    objectid_sortsupport, pg_finfo_objectid_sortsupport: |call| {
        let sort = argument(call, 0).cast_mut_ptr::<SortSupportData>();
        (*sort).comparator = Some(sort_order);
        if (*sort).abbreviate {
            (*sort).comparator = Some(ssup_datum_unsigned_cmp);
            (*sort).abbrev_converter = Some(abbreviate);
            (*sort).abbrev_abort = Some(give_up);
            (*sort).abbrev_full_comparator = Some(sort_order);
        }
        0_i32
    };
}

unsafe extern "C-unwind" fn sort_order(a: Datum, b: Datum, _: SortSupport) -> c_int {
    // SAFETY: sorts ObjectIDs.
    unsafe { compare(id(a), id(b)) as c_int }
}

/// The first 8 bytes as a number, so that most comparisons look at no more than that.
unsafe extern "C-unwind" fn abbreviate(datum: Datum, _: SortSupport) -> Datum {
    // SAFETY: sorts ObjectIDs.
    let [a, b, c, d, e, f, g, h, ..] = unsafe { *id(datum) };
    Datum::from(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// Never: also where the abbreviations are all equal, as in ids of one second, sorting without them is no
/// faster.
extern "C-unwind" fn give_up(_: c_int, _: SortSupport) -> bool {
    false
}
