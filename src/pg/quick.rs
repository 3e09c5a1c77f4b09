//! Functions of SQL with a path that most calls take, and that raises no error.
//!
//! It runs without the guard that turns a panic into an error of the server, which costs more than an id. It must not panic
//! then, nor call a function of the server that raises errors. Where it has no result, the guarded function is called.

/// Defines a function of SQL: `quick` makes of arguments none of which is null the datum of the result, or none; the
/// function with the wrapper `guarded` makes all other results.
macro_rules! quick {
    ($name:ident, $info:ident, $guarded:ident, ($($argument:ident: $type:ty),*) => $quick:expr) => {
        /// Calls the quick path, and else the guarded function.
        ///
        /// # Safety
        /// The server calls it, with arguments of the declared types.
        #[unsafe(no_mangle)]
        #[allow(
            unused_mut,
            unused_variables,
            unused_assignments,
            clippy::unused_unit,
            reason = "of a function without arguments"
        )]
        pub unsafe extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            let quick = || {
                // SAFETY: the call has as many arguments, of these types.
                let ($($argument,)*) = unsafe {
                    let mut next = (&raw const (*call).args).cast::<pgrx::pg_sys::NullableDatum>();
                    ($({
                        let argument = *next;
                        next = next.add(1);
                        <$type as pgrx::FromDatum>::from_datum(argument.value, argument.isnull)?
                    },)*)
                };
                $quick
            };
            #[cold]
            #[inline(never)]
            fn guarded(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                // SAFETY: the same call.
                unsafe { $guarded(call) }
            }
            quick().unwrap_or_else(|| guarded(call))
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
