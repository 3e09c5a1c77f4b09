//! The node of UUIDs of versions 1, 2 and 6: the setting `pg_mint.uuid_node`.

use super::errors::report;
use mint_core::uuid::parse_mac;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PgSqlErrorCode, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::{fs, ptr};

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

static mut CHOICE: Choice = Choice::Random;

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
    // SAFETY: a backend is one thread.
    match unsafe { CHOICE } {
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
            "could not find a MAC address of this machine".to_owned(),
            Some("pg_mint.uuid_node is \"mac\".".to_owned()),
            Some("Set pg_mint.uuid_node to a MAC address, or to \"random\".".to_owned()),
        )
    };
    // SAFETY: a backend is one thread. Kept until the setting is assigned again.
    unsafe { CHOICE = Choice::Fixed(node) };
    node
}

/// The address of the first network interface, by name, that has one. The loopback's is zero.
fn first_address(interfaces: &Path) -> Option<[u8; 6]> {
    let mut names: Vec<_> = fs::read_dir(interfaces).ok()?.flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    names.iter().find_map(|name| {
        let address = fs::read_to_string(name.path().join("address")).ok()?;
        parse_mac(address.trim()).filter(|&node| node != [0; 6])
    })
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
    // SAFETY: the server gives the place of a string, which is null for no value. It only reads the
    // detail, which is constant.
    unsafe {
        let good = (*value).is_null() || Choice::parse(CStr::from_ptr(*value)).is_some();
        if !good {
            pg_sys::GUC_check_errdetail_string = DETAIL.as_ptr().cast_mut();
        }
        good
    }
}

/// Takes a checked value.
#[pg_guard]
unsafe extern "C-unwind" fn assign(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: the server gives a string or null; a process has one thread.
    unsafe {
        let choice = (!value.is_null()).then(|| Choice::parse(CStr::from_ptr(value)));
        *ptr::addr_of_mut!(CHOICE) = choice.flatten().unwrap_or(Choice::Random);
    }
}
