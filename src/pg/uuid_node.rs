//! The node of UUIDs of versions 1, 2 and 6: the setting `pg_mint.uuid_node`.

use super::errors::report;
use super::nodes::explain;
use mint_core::uuid::parse_mac;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PgSqlErrorCode, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
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
    let mut interfaces = interfaces_in(interfaces);
    interfaces.sort_by_key(|interface| interface.file_name().map(ToOwned::to_owned));
    interfaces
        .iter()
        .find_map(|interface| parse_mac(&address(interface)?).filter(|&node| node != [0; 6]))
}

/// The addresses of this machine's network interfaces that have one, in the order in which the system numbers them.
pub fn addresses() -> Vec<String> {
    let mut interfaces = interfaces_in(Path::new("/sys/class/net"));
    let number = |interface: &PathBuf| -> Option<u32> {
        let text = fs::read_to_string(interface.join("ifindex")).ok()?;
        text.trim().parse().ok()
    };
    interfaces.sort_by_key(number);
    let all = interfaces.iter().filter_map(|interface| address(interface));
    all.filter(|address| parse_mac(address).is_some_and(|node| node != [0; 6]))
        .collect()
}

fn interfaces_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn address(interface: &Path) -> Option<String> {
    let text = fs::read_to_string(interface.join("address")).ok()?;
    Some(text.trim().to_owned())
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
    // SAFETY: the server gives the place of a string, which is null for no value.
    unsafe {
        let good = (*value).is_null() || Choice::parse(CStr::from_ptr(*value)).is_some();
        if !good {
            explain(DETAIL);
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
