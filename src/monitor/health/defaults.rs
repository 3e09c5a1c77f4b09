//! The defaults of this database's columns that generate snowflakes: they show the purpose of the server. Any role may
//! generate ids of any layout, but a default takes the privilege to create a table.

use crate::monitor::health::finding::one_of_each;
use crate::pg::catalog::expression::{StoredDefault, defaults_calling};
use crate::pg::citus::distributed_tables;
use crate::snowflake::node::setting::node;
use mint_core::Layout;

/// A default.
pub struct Default {
    pub layout: Layout,
    /// The shard, if the default has one.
    pub shard: Option<i64>,
    /// True if it uses the node of the server.
    pub is_of_node: bool,
    pub stored: StoredDefault,
}

/// The defaults of a database, first those of owners with few, and of tables before those of partitions.
pub struct Defaults {
    pub all: Vec<Default>,
    /// The defaults that could not be read, for a message.
    pub left_out: String,
}

impl Default {
    /// Returns a default; none if it computes its layout.
    fn of(stored: StoredDefault) -> Option<Self> {
        let arguments = &stored.arguments;
        let (shard, layout) = match stored.function.as_str() {
            "snowflake_next" => (None, 0),
            "snowflake_next_id" => (arguments.first(), 1),
            "snowflake_next_in" => (arguments.first(), 3),
            _ => return None,
        };
        let layout = match arguments.get(layout) {
            Some(passed) => passed.as_deref()?,
            None => "instagram",
        };
        Some(Self {
            layout: layout.parse().ok()?,
            shard: shard.and_then(|shard| shard.as_deref()?.parse().ok()),
            is_of_node: shard.is_none(),
            stored,
        })
    }

    /// Returns the shard that it generates ids of: that which it passes, or that of the node, if this is a number.
    pub fn generated_shard(&self) -> Option<u64> {
        match self.is_of_node {
            true => node().shard(&self.layout),
            false => self.shard?.try_into().ok(),
        }
    }
}

impl Defaults {
    pub fn read() -> Self {
        let tables = distributed_tables().into_iter().map(Into::into);
        let found = defaults_calling("snowflake_next", tables.collect());
        let left_out = match &found {
            None => "The catalogs of the column defaults are locked.".to_owned(),
            Some((_, 0)) => String::new(),
            Some((_, left)) => format!("{left} column defaults were not read."),
        };
        let (all, _) = found.unwrap_or_default();
        let all = all.into_iter().filter_map(Default::of).collect();
        Self { all, left_out }
    }
}

/// Names defaults with something to report, the worst first.
pub fn name<'a>(
    all: impl IntoIterator<Item = &'a Default>,
    says: impl Fn(&Default) -> Option<String>,
) -> String {
    one_of_each(all.into_iter().filter_map(|default| {
        let (stored, says) = (&default.stored, says(default)?);
        let text = format!("The default of {} {says}", stored.column);
        Some((stored.owner, text, stored.columns))
    }))
}
