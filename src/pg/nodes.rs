//! Which nodes this server mints as, and which registry lends them: the settings `pg_mint.node`, `nodes`, `registry`,
//! `registry_database` and `registry_role`.

use super::{charset, claims, session};
use mint_core::parse_nodes;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::RangeInclusive;
use std::ptr;

/// What `pg_mint.node` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// -1: nothing.
    Unset,
    /// The one that the registry gives.
    Auto,
    /// This one.
    Fixed(u32),
}

static NODE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"-1"));
static NODES: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

static REGISTRY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static DATABASE: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"postgres"));
static ROLE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// The first setting, taken apart when it is assigned.
static mut CHOICE: Node = Node::Unset;

/// Whether a registry is set, for the way of every id.
static mut REGISTERED: bool = false;

/// What the settings come to; none from when one of them is assigned until that is asked for.
struct Summary {
    nodes: Vec<RangeInclusive<u64>>,
    /// Of the three settings by which the registry is found.
    registry: u64,
    /// Of these, and of `pg_mint.nodes`.
    all: u64,
}

static mut SUMMARY: Option<Summary> = None;

impl Node {
    fn parse(text: &CStr) -> Option<Self> {
        let text = text.to_str().ok()?.trim();
        match text.parse::<i32>() {
            _ if text.eq_ignore_ascii_case("auto") => Some(Node::Auto),
            Ok(-1) => Some(Node::Unset),
            Ok(node) => u32::try_from(node).ok().map(Node::Fixed),
            Err(_) => None,
        }
    }
}

/// As which node ids are minted without a shard.
#[inline]
pub fn node() -> Node {
    // SAFETY: a backend is one thread, and the setting is assigned only between its statements.
    unsafe { CHOICE }
}

/// The nodes that are minted by their numbers, where a registry lends them: those of `pg_mint.nodes`, and that of
/// `pg_mint.node`.
pub fn nodes() -> Vec<RangeInclusive<u64>> {
    let mut nodes = summary().nodes.clone();
    if let Node::Fixed(node) = node() {
        let node = u64::from(node);
        if !nodes.iter().any(|range| range.contains(&node)) {
            nodes.push(node..=node);
        }
    }
    nodes
}

/// Which of [`nodes`] a node is among.
pub fn range_of(node: u64) -> Option<RangeInclusive<u64>> {
    let listed = summary().nodes.iter().find(|range| range.contains(&node));
    listed.cloned().or_else(|| {
        let own = self::node() == u32::try_from(node).map_or(Node::Unset, Node::Fixed);
        own.then_some(node..=node)
    })
}

/// Whether `pg_mint.nodes` names a node.
pub fn is_listed(node: u64) -> bool {
    summary().nodes.iter().any(|range| range.contains(&node))
}

/// A hash of the settings by which the registry is found: what one registry has lent is not another's.
pub fn registry_key() -> u64 {
    summary().registry
}

/// A hash of these settings, and of `pg_mint.nodes`: whether two processes go by the same ones.
pub fn settings_key() -> u64 {
    summary().all
}

fn summary() -> &'static Summary {
    // SAFETY: a backend is one thread. What is lent is not kept beyond the calls above, and settings are assigned
    // between them.
    let summary = unsafe { &mut *ptr::addr_of_mut!(SUMMARY) };
    summary.get_or_insert_with(|| {
        let nodes = NODES.get().unwrap_or_default();
        let place = [&REGISTRY, &DATABASE, &ROLE].map(|setting| setting.get().unwrap_or_default());
        let registry = place.iter().fold(FNV_BASIS, |hash, text| fnv(hash, text));
        Summary {
            // Checked when it was set.
            nodes: parse_nodes(&nodes.to_string_lossy()).unwrap_or_default(),
            registry,
            all: fnv(registry, &nodes),
        }
    })
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, which all builds of this library have in common. With the zero at the end, so that no two lists of texts
/// run together.
fn fnv(hash: u64, text: &CStr) -> u64 {
    let bytes = text.to_bytes_with_nul().iter();
    bytes.fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A setting is assigned: what this session has learned under the old one, it asks again. So nothing has to be asked
/// on the way of an id.
fn forget() {
    // SAFETY: a backend is one thread, and nothing of it is lent while a setting is assigned.
    unsafe { *ptr::addr_of_mut!(SUMMARY) = None };
    claims::forget();
    session::forget_reservations();
}

/// Whether nodes are lent by a registry.
#[inline]
pub fn has_registry() -> bool {
    // SAFETY: as above.
    unsafe { REGISTERED }
}

/// The foreign server by which the registry is reached.
pub fn registry() -> Option<String> {
    text(&REGISTRY)
}

/// The database that has the foreign server.
pub fn registry_database() -> Option<String> {
    text(&DATABASE)
}

/// Who asks the registry; nobody means the superuser of the server.
pub fn registry_role() -> Option<String> {
    text(&ROLE)
}

fn text(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = charset::decode(setting.get()?.to_bytes());
    (!text.is_empty()).then_some(text)
}

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: the hooks are of the types that the server calls.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.node",
            c"Sets the node of ids that are minted without a shard.",
            c"-1 means not set: such calls are refused, so that nobody mints as another node by accident. \"auto\" is the node that the registry gives this server.",
            &NODE,
            GucContext::Suset,
            GucFlags::default(),
            Some(check_node),
            Some(assign_node),
            None,
        );
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.nodes",
            c"Sets the nodes that this server claims at the registry.",
            c"Nodes and ranges of nodes, like 5, 100-163. That of pg_mint.node is claimed as well.",
            &NODES,
            GucContext::Sighup,
            GucFlags::default(),
            Some(check_nodes),
            Some(assign_place),
            None,
        );
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.registry",
            c"Sets the foreign server of the registry that lends nodes.",
            c"Empty means that there is none: nodes are this server's because its settings say so.",
            &REGISTRY,
            GucContext::Sighup,
            GucFlags::default(),
            None,
            Some(assign_registry),
            None,
        );
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.registry_database",
            c"Sets the database that has the foreign server of the registry, and dblink.",
            c"A change gives back what is held, and claims anew from there.",
            &DATABASE,
            GucContext::Sighup,
            GucFlags::default(),
            None,
            Some(assign_place),
            None,
        );
        GucRegistry::define_string_guc_with_hooks(
            c"pg_mint.registry_role",
            c"Sets the role that asks the registry, by its user mapping.",
            c"Empty means the superuser that initdb made. A change gives back what is held, and claims anew.",
            &ROLE,
            GucContext::Sighup,
            GucFlags::default(),
            None,
            Some(assign_place),
            None,
        );
    }
}

/// Whether a value can be assigned to `pg_mint.node`.
#[pg_guard]
unsafe extern "C-unwind" fn check_node(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    const DETAIL: &CStr = c"It is a number from 0 to 2147483647, \"auto\", or -1.";
    // SAFETY: the server gives the place of a string, which is null for no value.
    unsafe {
        let good = (*value).is_null() || Node::parse(CStr::from_ptr(*value)).is_some();
        if !good {
            explain(DETAIL);
        }
        good
    }
}

/// Takes a checked value.
#[pg_guard]
unsafe extern "C-unwind" fn assign_node(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: the server gives a string or null; a process has one thread.
    unsafe {
        let choice = (!value.is_null()).then(|| Node::parse(CStr::from_ptr(value)));
        *ptr::addr_of_mut!(CHOICE) = choice.flatten().unwrap_or(Node::Unset);
    }
    forget();
}

/// Takes a value of `pg_mint.registry`.
#[pg_guard]
unsafe extern "C-unwind" fn assign_registry(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: the server gives a string or null; a process has one thread.
    unsafe { REGISTERED = !value.is_null() && *value != 0 };
    forget();
}

/// Takes a value of another setting of this file.
#[pg_guard]
unsafe extern "C-unwind" fn assign_place(_value: *const c_char, _extra: *mut c_void) {
    forget();
}

/// Whether a value can be assigned to `pg_mint.nodes`.
#[pg_guard]
unsafe extern "C-unwind" fn check_nodes(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: the server gives the place of a string, which is null for no value.
    unsafe {
        if (*value).is_null() {
            return true;
        }
        let wrong = parse_nodes(&charset::decode_c(*value)).err();
        if let Some(error) = &wrong {
            let detail = super::errors::sentence(&error.to_string()).unwrap_or_default();
            explain(&charset::c_string(&detail));
        }
        wrong.is_none()
    }
}

/// Says why a value cannot be assigned.
pub fn explain(detail: &CStr) {
    // SAFETY: a copy in the server's memory, which it frees with the error.
    unsafe { pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr()) };
}
