//! Ranges of nodes, and their holders.

use crate::pg::error::report;
use crate::registry::identity::{bits, describe_nodes};
use mint_core::LeaseEnd;
use mint_core::clock::timestamp_text;
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// A range of nodes of one width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRange {
    /// The width in bits.
    pub width: u32,
    /// The first node to the last.
    pub range: RangeInclusive<i64>,
}

impl NodeRange {
    /// Checks the arguments of a caller.
    pub fn new(width: i32, first: i64, last: i64) -> Self {
        let nodes = Self::of_width(width);
        if first < 0 || last < first || last > *nodes.range.end() {
            report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("invalid range of nodes: {first} to {last} ({})", bits(nodes.width)),
            )
            .detail(format!(
                "Nodes of this width must be between 0 and {}, and a range must not end before it begins.",
                nodes.range.end()
            ))
            .raise();
        }
        Self {
            range: first..=last,
            ..nodes
        }
    }

    /// Returns all nodes of a width, which is checked.
    pub fn of_width(width: i32) -> Self {
        match u32::try_from(width) {
            Ok(width @ 0..=MAX_SHARD_BITS) => Self {
                width,
                range: 0..=(1 << width) - 1,
            },
            _ => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("node_bits must be between 0 and {MAX_SHARD_BITS}"),
            )
            .raise(),
        }
    }

    /// Returns the verb of a message about the nodes.
    pub fn verb(&self) -> &'static str {
        if self.range.start() == self.range.end() {
            "is"
        } else {
            "are"
        }
    }

    /// Describes the nodes in a message.
    pub fn describe(&self) -> String {
        describe_nodes(self.width, self.range.start(), self.range.end())
    }
}

/// The holder of nodes that another member wants.
pub struct Holder {
    /// The name that views show.
    pub name: String,
    /// Those of its nodes that are wanted.
    pub nodes: NodeRange,
    pub end: LeaseEnd,
    /// Whether the nodes are reserved.
    pub is_reserved: bool,
    /// Whether the node is assigned to the holder.
    pub is_assigned: bool,
}

/// Describes the holders of nodes that another member wants.
pub fn describe_holders(holders: &[Holder]) -> String {
    const MOST: usize = 3;
    let each = |holder: &Holder| {
        let (name, nodes, verb) = (&holder.name, holder.nodes.describe(), holder.nodes.verb());
        if holder.is_assigned {
            return format!("{nodes} {verb} assigned to \"{name}\"");
        }
        if holder.is_reserved {
            return format!("{nodes} {verb} reserved for \"{name}\"");
        }
        let until = timestamp_text(holder.end.free_from);
        format!("{nodes} {verb} leased by \"{name}\" until {until}")
    };
    let mut all: Vec<String> = holders.iter().take(MOST).map(each).collect();
    if holders.len() > MOST {
        all.push(format!("and {} more", holders.len() - MOST));
    }
    all.join("; ")
}

/// Writes ranges of nodes as a multirange of SQL.
pub fn multirange(ranges: &[(i64, i64)]) -> String {
    // No node has more bits; and SQL has no range that ends at the last integer.
    let most = (1_i64 << MAX_SHARD_BITS) - 1;
    let within = ranges
        .iter()
        .filter(|(first, last)| 0 <= *first && first <= last && *first <= most);
    let each = within.map(|(first, last)| format!("[{first},{}]", last.min(&most)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(","))
}
