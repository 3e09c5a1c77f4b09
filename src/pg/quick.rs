//! Functions of SQL with a quick path that most calls take, and that raises no error.
//!
//! The quick path runs without the guard that turns a panic into an error of the server, which costs more than an id.
//! So it must not panic, nor call a function of the server that raises errors. If it has no result, the guarded
//! function is called. A second quick path is a function of its own, so that the first keeps no registers for it.

use crate::pg::ports::palloc;
use pgrx::pg_sys;

/// The result of a quick path.
pub trait Made {
    /// Returns the result as a datum.
    ///
    /// # Safety
    /// It is the function's last call: the server's error when out of memory passes through, and nothing is dropped.
    unsafe fn into_datum(self) -> pg_sys::Datum;
}

impl Made for i64 {
    #[inline(always)]
    unsafe fn into_datum(self) -> pg_sys::Datum {
        self.into()
    }
}

impl<const N: usize> Made for [u8; N] {
    #[inline(always)]
    unsafe fn into_datum(self) -> pg_sys::Datum {
        // SAFETY: as the caller says. There is always a current context; bytes have no alignment.
        unsafe {
            let copy = palloc(N).cast::<Self>();
            copy.write(self);
            copy.into()
        }
    }
}

/// Defines a function of SQL: `quick`, or else `second`, makes the result if no argument is null, or else `guarded`.
macro_rules! quick {
    ($name:ident, $info:ident, $guarded:ident, ($($argument:ident: $type:ty),*) => $quick:expr) => {
        quick!($name, $info, $guarded, ($($argument: $type),*) => $quick, None::<i64>);
    };
    ($name:ident, $info:ident, $guarded:ident, ($($argument:ident: $type:ty),*) => $quick:expr, $second:expr) => {
        /// Calls the quick paths, and then the guarded function.
        ///
        /// # Safety
        /// The server calls it, with arguments of the declared types.
        #[unsafe(no_mangle)]
        #[allow(
            unused_mut,
            unused_variables,
            unused_assignments,
            clippy::unused_unit,
            reason = "of a function without arguments or a second path"
        )]
        pub unsafe extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            #[inline(always)]
            fn arguments(call: pgrx::pg_sys::FunctionCallInfo) -> Option<($($type,)*)> {
                // SAFETY: the call has as many arguments, of these types.
                unsafe {
                    let first = (&raw const (*call).args).cast::<pgrx::pg_sys::NullableDatum>();
                    // One branch for all arguments.
                    let mut next = first;
                    let mut is_null = false;
                    $(
                        let _: Option<$type> = None;
                        is_null |= (*next).isnull;
                        next = next.add(1);
                    )*
                    if is_null {
                        return None;
                    }
                    next = first;
                    Some(($({
                        let argument = *next;
                        next = next.add(1);
                        <$type as pgrx::FromDatum>::from_datum(argument.value, false)?
                    },)*))
                }
            }
            #[cold]
            #[inline(never)]
            fn others(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                let second = || {
                    let ($($argument,)*) = arguments(call)?;
                    $second
                };
                // SAFETY: the end of the function, or the same call.
                unsafe {
                    match second() {
                        Some(made) => $crate::pg::quick::Made::into_datum(made),
                        None => $guarded(call),
                    }
                }
            }
            let quick = || {
                let ($($argument,)*) = arguments(call)?;
                $quick
            };
            // On the stack: a register that outlasts the call of the clock would be saved and restored for each id.
            let mut kept: pgrx::pg_sys::FunctionCallInfo = std::ptr::null_mut();
            // SAFETY: a variable.
            unsafe { (&raw mut kept).write_volatile(call) };
            match quick() {
                // SAFETY: the end of the function.
                Some(made) => unsafe { $crate::pg::quick::Made::into_datum(made) },
                // SAFETY: the same variable.
                None => others(unsafe { (&raw const kept).read_volatile() }),
            }
        }

        /// Returns the version of the calling convention.
        #[unsafe(no_mangle)]
        pub extern "C" fn $info() -> &'static pgrx::pg_sys::Pg_finfo_record {
            const RECORD: pgrx::pg_sys::Pg_finfo_record =
                pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &RECORD
        }
    };
}

pub(crate) use quick;
