//! The node that ids are minted as without a shard: the setting `pg_mint.node`.

use crate::pg::backend::guc::{self, ParsedGuc};
use crate::pg::backend::local::Local;
use crate::snowflake::node::grantor;
use pgrx::{GucContext, GucSetting};
use std::ffi::CString;

/// The value of `pg_mint.node`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Node {
    /// -1: ids without a shard are refused.
    #[default]
    Unset,
    /// The node that the registry chooses for this server.
    Auto,
    /// A node by its number.
    Fixed(u32),
}

static NODE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"-1"));

/// The setting, parsed.
static CHOICE: Local<Node> = Local::new(Node::Unset);

impl ParsedGuc for Node {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Node::Auto);
        }
        match text.parse::<i32>() {
            Ok(-1) => Ok(Node::Unset),
            Ok(node @ 0..) => Ok(Node::Fixed(node.unsigned_abs())),
            _ => Err(
                "The value must be a number between 0 and 2147483647, \"auto\", or -1.".to_owned(),
            ),
        }
    }

    fn assign(self) {
        CHOICE.set(self);
        grantor::changed();
    }
}

/// Returns the node of ids that are minted without a shard.
#[inline]
pub fn node() -> Node {
    CHOICE.get()
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    guc::define_parsed::<Node>(
        c"pg_mint.node",
        c"Sets the node of ids that are generated without a shard.",
        c"-1 means unset: such calls fail, so that no server uses the node of another by accident. \"auto\" means a node leased from the registry.",
        &NODE,
        GucContext::Suset,
    );
}
