//! Arguments and results of SQL functions, for types with pgrx's conversions from and to datums.

/// Lets a type be an argument by its `FromDatum`. The value for NULL is never seen: a function that takes the type, and
/// not an `Option` of it, is strict.
macro_rules! argument {
    ($lifetime:lifetime, $type:ty, $null:expr) => {
        // SAFETY: takes the argument through FromDatum.
        unsafe impl<$lifetime> pgrx::callconv::ArgAbi<$lifetime> for $type {
            #[inline]
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, $lifetime>) -> Self {
                // SAFETY: as the caller says.
                unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or($null)
            }

            #[inline]
            unsafe fn unbox_nullable_arg(
                arg: pgrx::callconv::Arg<'_, $lifetime>,
            ) -> pgrx::nullable::Nullable<Self> {
                // SAFETY: as the caller says.
                unsafe { arg.unbox_arg_using_from_datum() }.into()
            }
        }
    };
}

/// Lets a type be a result by its `IntoDatum`.
macro_rules! result {
    ($type:ty) => {
        // SAFETY: returns the datum that IntoDatum makes.
        unsafe impl pgrx::callconv::BoxRet for $type {
            #[inline]
            unsafe fn box_into<'fcx>(
                self,
                fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
            ) -> pgrx::datum::Datum<'fcx> {
                match pgrx::IntoDatum::into_datum(self) {
                    // SAFETY: the datum is of the function's declared type.
                    Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
                    None => fcinfo.return_null(),
                }
            }
        }
    };
}

pub(crate) use {argument, result};
