//! The node that ids are minted as without a shard: the setting `pg_mint.node`.

use crate::pg::backend::guc;
use crate::pg::backend::local::Local;
use crate::snowflake::node::lender;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};

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

/// The setting, taken apart when it is assigned.
static CHOICE: Local<Node> = Local::new(Node::Unset);

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
    CHOICE.get()
}

/// Defines the setting. Called once, when the library is loaded.
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
    // SAFETY: called by the server.
    unsafe { guc::check(value, |text| Node::parse(text).is_some(), DETAIL) }
}

/// Takes a checked value.
#[pg_guard]
unsafe extern "C-unwind" fn assign_node(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: called by the server.
    let choice = unsafe { guc::assigned(value) }.and_then(Node::parse);
    CHOICE.set(choice.unwrap_or(Node::Unset));
    lender::changed();
}
