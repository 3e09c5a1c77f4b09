//! Settings: reading them, parsing those whose value is a text, and the setting that limits all waits.

use crate::pg::charset;
use mint_core::Micros;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::RangeInclusive;

static MAX_WAIT: GucSetting<i32> = GucSetting::<i32>::new(5_000);

/// Runs `work` with other values of some settings of the server. Afterwards all settings are as before, with or without
/// an error, even settings of the session that a function of others has set in `work`.
pub fn with<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> T) -> T {
    // SAFETY: as the server does around ANALYZE and other operations on tables of any owner. After an error, the abort of
    // the transaction or subtransaction restores them.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
        for (name, value) in settings {
            set(name, value, pg_sys::GucAction::GUC_ACTION_SAVE);
        }
        let answer = work();
        pg_sys::AtEOXact_GUC(false, level);
        answer
    }
}

/// Runs `work`, in which functions of others cannot set `transaction_timeout`: a short one would end the session.
pub fn keeping_timers<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let _restored = Locked::new(c"transaction_timeout");
    work()
}

/// A setting of the server that no restricted operation can change, and its flags from before.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
struct Locked(*mut pg_sys::config_generic, c_int);

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
impl Locked {
    fn new(name: &CStr) -> Self {
        // SAFETY: a setting of the server's own is found, and stays where it is.
        unsafe {
            let elevel = pgrx::PgLogLevel::ERROR as c_int;
            let setting = pg_sys::find_option(name.as_ptr(), false, false, elevel);
            let flags = (*setting).flags;
            let locks = pg_sys::GUC_NOT_WHILE_SEC_REST | pg_sys::GUC_NO_RESET_ALL;
            (*setting).flags |= locks.cast_signed();
            Self(setting, flags)
        }
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { (*self.0).flags = self.1 };
    }
}

/// Sets a setting for the rest of the transaction.
pub fn set_local(name: &CStr, value: &CStr) {
    // SAFETY: inside a transaction, as every call of a function is.
    unsafe { set(name, value, pg_sys::GucAction::GUC_ACTION_LOCAL) };
}

/// # Safety
/// Inside a transaction; with an action that saves the old value, in a level of settings that ends.
unsafe fn set(name: &CStr, value: &CStr, action: pg_sys::GucAction::Type) {
    // SAFETY: strings; the caller says the rest.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            action,
            true,
            0,
            false,
        );
    }
}

/// Returns how long a call can wait before it fails.
#[inline]
pub fn max_wait() -> Micros {
    Micros::from(value(&MAX_WAIT)) * 1_000
}

/// Returns the value of a setting. For the hot path: `GucSetting::get` checks on each call which thread it runs on.
#[inline]
pub fn value(setting: &GucSetting<i32>) -> i32 {
    // SAFETY: an integer that the server writes only between statements, in this thread.
    unsafe { *setting.as_ptr() }
}

/// Returns the value of a text setting, unless it is empty.
pub fn text(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = charset::decode(setting.get()?.to_bytes());
    (!text.is_empty()).then_some(text)
}

/// The value of a setting whose text is parsed: once to check it, and again when it is assigned.
pub trait ParsedGuc: Default {
    /// Parses a text. An error says in full sentences which texts are valid.
    fn parse(text: &str) -> Result<Self, String>;

    /// Makes this the current value. Called at each assignment, also when a transaction restores the old value.
    fn assign(self);
}

/// Defines a setting whose text is parsed; no text means the default value. Called once, when the library is loaded.
pub fn define_parsed<T: ParsedGuc>(
    name: &'static CStr,
    short_description: &'static CStr,
    long_description: &'static CStr,
    setting: &'static GucSetting<Option<CString>>,
    context: GucContext,
) {
    // SAFETY: the hooks are of the types that the server calls.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            name,
            short_description,
            long_description,
            setting,
            context,
            GucFlags::default(),
            Some(check::<T>),
            Some(assign::<T>),
            None,
        );
    }
}

/// The reaction to the assignment of an integer.
pub trait Watcher {
    /// Drops the values that were cached. Called at each assignment, also when a transaction restores the old value.
    fn on_assign();
}

/// Defines a setting whose value is an integer that is cached with others. Called once, when the library is loaded.
pub fn define_watched_int<W: Watcher>(
    name: &'static CStr,
    (short_description, long_description): (&'static CStr, &'static CStr),
    setting: &'static GucSetting<i32>,
    range: RangeInclusive<i32>,
    flags: GucFlags,
) {
    // SAFETY: the hook is of the type that the server calls.
    unsafe {
        GucRegistry::define_int_guc_with_hooks(
            name,
            short_description,
            long_description,
            setting,
            *range.start(),
            *range.end(),
            GucContext::Sighup,
            flags,
            None,
            Some(assign_int::<W>),
            None,
        );
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn assign_int<W: Watcher>(_value: c_int, _extra: *mut c_void) {
    W::on_assign();
}

/// Parses a text that the server gives to a hook; null is the default value.
///
/// # Safety
/// `text` is a string or null.
unsafe fn parse<T: ParsedGuc>(text: *const c_char) -> Result<T, String> {
    // SAFETY: as the caller says.
    let text = unsafe { charset::decode_c(text) };
    text.map_or_else(|| Ok(T::default()), |text| T::parse(&text))
}

/// Returns, as a check hook, whether the text is valid, and sets the DETAIL of the server's error if not.
#[pg_guard]
unsafe extern "C-unwind" fn check<T: ParsedGuc>(
    text: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: the server passes the address of a string or of null.
    let result = unsafe { parse::<T>(*text) };
    if let Err(detail) = &result {
        let detail = CString::new(crate::pg::error::message(detail)).unwrap_or_default();
        // SAFETY: a copy in the server's memory, which it frees with the error.
        unsafe { pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr()) };
    }
    result.is_ok()
}

/// Assigns a text that was checked.
#[pg_guard]
unsafe extern "C-unwind" fn assign<T: ParsedGuc>(text: *const c_char, _extra: *mut c_void) {
    // SAFETY: the server passes a string or null.
    unsafe { parse::<T>(text) }.unwrap_or_default().assign();
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    GucRegistry::define_int_guc(
        c"pg_mint.max_wait",
        c"Sets how long a call waits for the clock to catch up with ids already generated.",
        c"A call that would have to wait longer fails immediately. Waits for a layout's own rate are not limited.",
        &MAX_WAIT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

/// Refuses unknown settings with the prefix `pg_mint`. Called once, when all settings are defined.
pub fn reserve_prefix() {
    // SAFETY: the name is a constant string; called in the postmaster or a backend, as it must be.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pg_mint".as_ptr()) };
}
