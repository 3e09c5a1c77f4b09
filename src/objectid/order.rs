//! Comparison, hash and sort support of ObjectIDs: C functions that indexes and sorts call for each pair.
//!
//! They raise no error, so they need no guard of pgrx, which costs more than a comparison. They are declared in
//! `sql/objectid/operators.sql`.

use crate::pg::datum::fixed;
use crate::pg::ports::ssup_datum_unsigned_cmp;
use pgrx::pg_sys::{Datum, FunctionCallInfo, Pg_finfo_record, SortSupport, SortSupportData};
use std::cmp::Ordering;
use std::ffi::c_int;

type Id = [u8; mint_core::ObjectId::BYTES];

/// Returns the ObjectID of a datum.
///
/// # Safety
/// The datum points to one, for as long as the reference lives.
#[inline]
unsafe fn id<'a>(datum: Datum) -> &'a Id {
    // SAFETY: as the caller says; bytes have no alignment.
    unsafe { &*datum.cast_mut_ptr::<Id>() }
}

/// Compares bytes, as two numbers: that needs no call of a function.
#[inline]
fn compare(one: &Id, other: &Id) -> Ordering {
    let halves = |[a, b, c, d, e, f, g, h, rest @ ..]: Id| {
        let start = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        (start, u32::from_be_bytes(rest))
    };
    halves(*one).cmp(&halves(*other))
}

/// Returns an argument of a strict function, which is never null.
///
/// # Safety
/// The call has that many arguments.
#[inline]
unsafe fn argument(call: FunctionCallInfo, place: usize) -> Datum {
    // SAFETY: as the caller says.
    unsafe { (*call).args.as_slice(place + 1)[place].value }
}

/// Compares the two ObjectIDs of a call.
///
/// # Safety
/// The arguments of the call are two ObjectIDs.
#[inline]
unsafe fn order(call: FunctionCallInfo) -> Ordering {
    // SAFETY: as the caller says.
    unsafe { compare(id(argument(call, 0)), id(argument(call, 1))) }
}

/// Defines SQL functions by version 1 of the calling convention.
macro_rules! c_functions {
    ($($name:ident: |$call:ident| $body:expr;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($name)))]
            extern "C" fn info() -> &'static Pg_finfo_record {
                &Pg_finfo_record { api_version: 1 }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($call: FunctionCallInfo) -> Datum {
                // SAFETY: the function is declared STRICT, with the arguments that it reads.
                unsafe { Datum::from($body) }
            }
        };
    )*};
}

c_functions! {
    objectid_eq: |call| order(call).is_eq();
    objectid_ne: |call| order(call).is_ne();
    objectid_lt: |call| order(call).is_lt();
    objectid_le: |call| order(call).is_le();
    objectid_gt: |call| order(call).is_gt();
    objectid_ge: |call| order(call).is_ge();
    objectid_cmp: |call| order(call) as i32;
    objectid_hash: |call| fixed::hash(id(argument(call, 0)));
    objectid_hash_extended: |call| {
        fixed::hash_extended(id(argument(call, 0)), argument(call, 1).value() as u64)
    };
    objectid_smaller: |call| argument(call, usize::from(order(call).is_gt()));
    objectid_larger: |call| argument(call, usize::from(order(call).is_lt()));
    objectid_sortsupport: |call| {
        let sort = argument(call, 0).cast_mut_ptr::<SortSupportData>();
        (*sort).comparator = Some(compare_datums);
        if (*sort).abbreviate {
            (*sort).comparator = Some(ssup_datum_unsigned_cmp);
            (*sort).abbrev_converter = Some(abbreviate);
            (*sort).abbrev_abort = Some(never_abort);
            (*sort).abbrev_full_comparator = Some(compare_datums);
        }
        0_i32
    };
}

unsafe extern "C-unwind" fn compare_datums(a: Datum, b: Datum, _: SortSupport) -> c_int {
    // SAFETY: the sort is of ObjectIDs.
    unsafe { compare(id(a), id(b)) as c_int }
}

/// Returns the first 8 bytes as a number, which most comparisons do not need to look beyond.
unsafe extern "C-unwind" fn abbreviate(datum: Datum, _: SortSupport) -> Datum {
    // SAFETY: the sort is of ObjectIDs.
    let [a, b, c, d, e, f, g, h, ..] = unsafe { *id(datum) };
    Datum::from(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// Keeps abbreviation: even with all abbreviated keys equal, as in ids of one second, it does not slow the sort.
extern "C-unwind" fn never_abort(_: c_int, _: SortSupport) -> bool {
    false
}
