//! Settings: their values, why one is refused, and the one that all waits have in common.

use crate::pg::charset;
use mint_core::Micros;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use std::ffi::{CStr, CString, c_char};

static MAX_WAIT: GucSetting<i32> = GucSetting::<i32>::new(5_000);

/// How long a call waits before it fails.
#[inline]
pub fn max_wait() -> Micros {
    Micros::from(value(&MAX_WAIT)) * 1_000
}

/// The value of a setting, for the way of every id: `GucSetting::get` asks each time which thread
/// it runs on.
#[inline]
pub fn value(setting: &GucSetting<i32>) -> i32 {
    // SAFETY: an integer that the server writes only between statements of this one thread.
    unsafe { *setting.as_ptr() }
}

/// The value of a setting that is a text, unless it is empty.
pub fn text(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = charset::decode(setting.get()?.to_bytes());
    (!text.is_empty()).then_some(text)
}

/// Whether a text can be assigned, for a setting's check hook; `detail` says what can be.
///
/// # Safety
/// `value` is the place of a string, or of null for no value, as the server gives it.
pub unsafe fn check(
    value: *mut *mut c_char,
    is_good: impl FnOnce(&CStr) -> bool,
    detail: &CStr,
) -> bool {
    // SAFETY: as the caller says.
    let is_good = unsafe { (*value).is_null() || is_good(CStr::from_ptr(*value)) };
    if !is_good {
        explain(detail);
    }
    is_good
}

/// The text that is assigned, for a setting's assign hook; none for no value.
///
/// # Safety
/// `value` is a string or null, as the server gives it.
pub unsafe fn assigned<'a>(value: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller says.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}

/// Says why a value cannot be assigned.
pub fn explain(detail: &CStr) {
    // SAFETY: a copy in the server's memory, which it frees with the error.
    unsafe { pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr()) };
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    GucRegistry::define_int_guc(
        c"pg_mint.max_wait",
        c"Sets how long a call waits for the clock to catch up with ids already minted.",
        c"A call that would have to wait longer fails at once. Waits for a layout's own rate are not limited.",
        &MAX_WAIT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

/// Refuses names with the prefix that are not settings of ours. Called when all of them are defined.
pub fn reserve_prefix() {
    // SAFETY: the name is a constant string; called in the postmaster or a backend, as it must be.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pg_mint".as_ptr()) };
}
