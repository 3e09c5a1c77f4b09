//! Comparison, hash and sort support of types of a fixed number of bytes, from 8 to 16: C functions that indexes and
//! sorts call for each pair.
//!
//! They raise no error, so they need no guard of pgrx, which costs more than a comparison. The install script
//! declares them.

use crate::pg::ports::ssup_datum_unsigned_cmp;
use pgrx::pg_sys::{Datum, FunctionCallInfo, SortSupport, SortSupportData};
use std::cmp::Ordering;
use std::ffi::c_int;

/// Defines the functions `type_eq`, `type_cmp`, `type_hash`, `type_sortsupport` and so on for an SQL type of so many
/// bytes.
macro_rules! order_functions {
    ($type:literal, $bytes:expr) => {
        use crate::pg::datum::fixed::{hash, hash_extended};
        use crate::pg::datum::fixed_order::{argument, bytes, order, set_up_sort};
        crate::pg::datum::fixed_order::c_functions! { $type:
            "_eq" = |call| order::<{ $bytes }>(call).is_eq();
            "_ne" = |call| order::<{ $bytes }>(call).is_ne();
            "_lt" = |call| order::<{ $bytes }>(call).is_lt();
            "_le" = |call| order::<{ $bytes }>(call).is_le();
            "_gt" = |call| order::<{ $bytes }>(call).is_gt();
            "_ge" = |call| order::<{ $bytes }>(call).is_ge();
            "_cmp" = |call| order::<{ $bytes }>(call) as i32;
            "_hash" = |call| hash(bytes::<{ $bytes }>(argument(call, 0)));
            "_hash_extended" = |call| hash_extended(bytes::<{ $bytes }>(argument(call, 0)), argument(call, 1).value() as u64);
            "_smaller" = |call| argument(call, usize::from(order::<{ $bytes }>(call).is_gt()));
            "_larger" = |call| argument(call, usize::from(order::<{ $bytes }>(call).is_lt()));
            "_sortsupport" = |call| set_up_sort::<{ $bytes }>(argument(call, 0));
        }
    };
}

/// Defines SQL functions by version 1 of the calling convention.
macro_rules! c_functions {
    ($type:literal: $($name:literal = |$call:ident| $body:expr;)*) => {$(
        const _: () = {
            use pgrx::pg_sys::{Datum, FunctionCallInfo, Pg_finfo_record};

            #[unsafe(export_name = concat!("pg_finfo_", $type, $name))]
            extern "C" fn info() -> &'static Pg_finfo_record {
                &Pg_finfo_record { api_version: 1 }
            }

            #[unsafe(export_name = concat!($type, $name))]
            unsafe extern "C-unwind" fn function($call: FunctionCallInfo) -> Datum {
                // SAFETY: the function is declared STRICT, with the arguments that it reads.
                unsafe { Datum::from($body) }
            }
        };
    )*};
}

pub(crate) use {c_functions, order_functions};

/// Returns the bytes of a datum.
///
/// # Safety
/// The datum points to that many, for as long as the reference lives.
#[inline]
pub unsafe fn bytes<'a, const N: usize>(datum: Datum) -> &'a [u8; N] {
    // SAFETY: as the caller says; bytes have no alignment.
    unsafe { &*datum.cast_mut_ptr::<[u8; N]>() }
}

/// Returns an argument of a strict function, which is never null.
///
/// # Safety
/// The call has that many arguments.
#[inline]
pub unsafe fn argument(call: FunctionCallInfo, place: usize) -> Datum {
    // SAFETY: as the caller says.
    unsafe { (*call).args.as_slice(place + 1)[place].value }
}

/// Compares the two values of a call.
///
/// # Safety
/// The arguments of the call are two values of N bytes.
#[inline]
pub unsafe fn order<const N: usize>(call: FunctionCallInfo) -> Ordering {
    // SAFETY: as the caller says.
    unsafe { compare::<N>(bytes(argument(call, 0)), bytes(argument(call, 1))) }
}

/// Compares bytes as two numbers, the first eight and the last eight, without the call of a function. If they overlap,
/// the second are compared only when the first are equal.
#[inline]
fn compare<const N: usize>(one: &[u8; N], other: &[u8; N]) -> Ordering {
    const { assert!(N >= 8 && N <= 16) };
    let ends = |value: &[u8; N]| {
        let end = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |&bytes| u64::from_be_bytes(bytes));
        (end(value.first_chunk()), end(value.last_chunk()))
    };
    ends(one).cmp(&ends(other))
}

/// Gives a sort its functions.
///
/// # Safety
/// The datum points to the support structure of a sort of values of N bytes.
pub unsafe fn set_up_sort<const N: usize>(datum: Datum) -> Datum {
    // SAFETY: as the caller says.
    let sort = unsafe { &mut *datum.cast_mut_ptr::<SortSupportData>() };
    sort.comparator = Some(compare_datums::<N>);
    if sort.abbreviate {
        sort.comparator = Some(ssup_datum_unsigned_cmp);
        sort.abbrev_converter = Some(abbreviate);
        sort.abbrev_abort = Some(never_abort);
        sort.abbrev_full_comparator = Some(compare_datums::<N>);
    }
    Datum::null()
}

unsafe extern "C-unwind" fn compare_datums<const N: usize>(
    a: Datum,
    b: Datum,
    _: SortSupport,
) -> c_int {
    // SAFETY: the sort is of values of N bytes.
    unsafe { compare::<N>(bytes(a), bytes(b)) as c_int }
}

/// Returns the first 8 bytes as a number, which most comparisons do not need to look beyond.
unsafe extern "C-unwind" fn abbreviate(datum: Datum, _: SortSupport) -> Datum {
    // SAFETY: the sort is of values of 8 bytes or more.
    Datum::from(u64::from_be_bytes(unsafe { *bytes(datum) }))
}

/// Keeps abbreviation: even with all abbreviated keys equal, as in ids of one second, it does not slow the sort.
extern "C-unwind" fn never_abort(_: c_int, _: SortSupport) -> bool {
    false
}
