//! The node of ids that are minted without a shard: the setting `pg_mint.node`.

use crate::pg::backend::guc::{self, ParsedGuc};
use crate::pg::backend::local::Local;
use crate::snowflake::node::grantor;
use mint_core::Layout;
use pgrx::{GucContext, GucSetting};
use std::ffi::CString;

/// The value of `pg_mint.node`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Node {
    /// -1: ids without a shard are refused.
    #[default]
    Unset,
    /// Any node that the registry chooses for this server.
    Auto,
    /// The group of this server in its Citus cluster.
    Citus,
    /// A node by its number.
    Fixed(u32),
    /// A split node by its parts, from the upper one down.
    Parts([u32; 2]),
}

impl Node {
    /// Returns the shard that it is in a layout, if it is a number.
    pub fn shard(self, layout: &Layout) -> Option<u64> {
        match self {
            Node::Fixed(node) => Some(node.into()),
            Node::Parts(parts) => layout.shard_from_parts(&parts.map(i64::from)).ok(),
            _ => None,
        }
    }
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
        if text.eq_ignore_ascii_case("citus") {
            return Ok(Node::Citus);
        }
        let number = |text: &str| text.trim().parse::<i32>().ok();
        let part = |text: &str| number(text).and_then(|part| u32::try_from(part).ok());
        let choice = match text.split_once('/') {
            Some((upper, lower)) => part(upper)
                .zip(part(lower))
                .map(|(upper, lower)| Node::Parts([upper, lower])),
            None => match number(text) {
                Some(-1) => Some(Node::Unset),
                _ => part(text).map(Node::Fixed),
            },
        };
        choice.ok_or_else(|| {
            "The value must be a number between 0 and 2147483647, two such numbers like 4/8, \"auto\", \"citus\", or -1."
                .to_owned()
        })
    }

    fn assign(self) {
        CHOICE.set(self);
        grantor::drop_cached();
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
        c"-1 means unset: such calls fail, so that no server uses the node of another by accident; on a node of a Citus cluster they use its group, as with \"citus\". \"auto\" means a node that is leased from the registry. 4/8 means the parts of a split node.",
        &NODE,
        GucContext::Suset,
    );
}
