//! The node of UUIDs of versions 1, 2 and 6: the setting `pg_mint.uuid_node`.

use crate::pg::backend::guc;
use crate::pg::backend::local::Local;
use crate::pg::error::report;
use crate::pg::machine::mac_address::first_address;
use mint_core::uuid::version::parse_mac;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PgSqlErrorCode, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

static SETTING: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"random"));

/// What the setting says, taken apart when it is assigned.
#[derive(Clone, Copy)]
enum Choice {
    /// Drawn at each start of the server.
    Random,
    /// The machine's, looked up at the first use.
    Machine,
    /// This one.
    Fixed([u8; 6]),
}

static CHOICE: Local<Choice> = Local::new(Choice::Random);

impl Choice {
    fn parse(text: &CStr) -> Option<Self> {
        let text = text.to_str().ok()?.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("random") {
            Some(Choice::Random)
        } else if text.eq_ignore_ascii_case("mac") {
            Some(Choice::Machine)
        } else {
            parse_mac(text).map(Choice::Fixed)
        }
    }
}

/// The node that the setting asks for; none for the one that was drawn when the server started.
#[inline]
pub fn node() -> Option<[u8; 6]> {
    match CHOICE.get() {
        Choice::Random => None,
        Choice::Fixed(node) => Some(node),
        Choice::Machine => Some(machine()),
    }
}

#[cold]
fn machine() -> [u8; 6] {
    let Some(node) = first_address(Path::new("/sys/class/net")) else {
        report(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not find a MAC address of this machine",
        )
        .detail("pg_mint.uuid_node is \"mac\".")
        .hint("Set pg_mint.uuid_node to a MAC address, or to \"random\".")
        .raise()
    };
    // Kept until the setting is assigned again.
    CHOICE.set(Choice::Fixed(node));
    node
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: the hooks are of the types that the server calls.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.uuid_node",
            c"Sets the node of UUIDs of versions 1, 2 and 6.",
            c"\"random\" draws one at each start of the server, \"mac\" is the machine's MAC address, and any MAC address is itself.",
            &SETTING,
            GucContext::Suset,
            GucFlags::default(),
            Some(check),
            Some(assign),
            None,
        );
    }
}

/// Whether a value can be assigned.
#[pg_guard]
unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    const DETAIL: &CStr = c"It is \"random\", \"mac\" or a MAC address like 00:50:56:21:93:95.";
    // SAFETY: called by the server.
    unsafe { guc::check(value, |text| Choice::parse(text).is_some(), DETAIL) }
}

/// Takes a checked value.
#[pg_guard]
unsafe extern "C-unwind" fn assign(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: called by the server.
    let choice = unsafe { guc::assigned(value) }.and_then(Choice::parse);
    CHOICE.set(choice.unwrap_or(Choice::Random));
}
