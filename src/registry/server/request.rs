//! Requests of members, and the registry's answers.

use crate::pg::error::report;
use crate::pg::machine::server;
use crate::registry::identity::{bits, describe_nodes};
use crate::registry::protocol::{LeaseAnswer, NumberedTerm};
use mint_core::clock::timestamp_text;
use mint_core::snowflake::definition::MAX_NODE_BITS;
use mint_core::{Denial, Identity, Incarnation, LeaseEnd, LeaseTerm, LogPoint, Micros, Registry};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// A range of nodes of one width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// The width in bits.
    pub width: u32,
    /// The first node to the last.
    pub range: RangeInclusive<i64>,
}

impl Nodes {
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
            Ok(width @ 0..=MAX_NODE_BITS) => Self {
                width,
                range: 0..=(1 << width) - 1,
            },
            _ => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("node_bits must be between 0 and {MAX_NODE_BITS}"),
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

/// Who has nodes that another wants.
pub struct Holder {
    /// The name that views show.
    pub name: String,
    /// The nodes, less those that nobody else wants.
    pub nodes: Nodes,
    pub end: LeaseEnd,
    /// Whether the nodes are reserved.
    pub is_reserved: bool,
    /// Whether the node is assigned to the holder.
    pub is_assigned: bool,
}

/// Describes who has which of the nodes that another wants.
pub fn describe_holders(holders: &[Holder]) -> String {
    const MOST: usize = 3;
    let each = |Holder {
                    name,
                    nodes,
                    end,
                    is_reserved,
                    is_assigned,
                }: &Holder| {
        let (nodes, verb) = (nodes.describe(), nodes.verb());
        if *is_assigned {
            return format!("{nodes} {verb} assigned to \"{name}\"");
        }
        if *is_reserved {
            return format!("{nodes} {verb} reserved for \"{name}\"");
        }
        let until = timestamp_text(end.free_from);
        format!("{nodes} {verb} leased by \"{name}\" until {until}")
    };
    let mut all: Vec<String> = holders.iter().take(MOST).map(each).collect();
    if holders.len() > MOST {
        all.push(format!("and {} more", holders.len() - MOST));
    }
    all.join("; ")
}

/// The member that makes a request.
pub struct Member {
    /// The name that views show.
    pub name: String,
    /// The role that it has connected as; none of a reservation.
    pub login: Option<String>,
    /// The identifier of its database system.
    pub system: i64,
    /// The time by its clock.
    pub clock: Micros,
    /// The nodes that its settings list, as ranges of SQL.
    pub listed: String,
    /// How much of the registry's history it has seen, if any.
    pub seen: Option<LogPoint>,
}

/// Returns a name as views, messages and logs can show it: on one line, in its own order, and not long.
pub fn printable(name: &str) -> String {
    const MOST: usize = 100;
    let is_plain = |sign: char| {
        let reorders = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        !sign.is_control() && !reorders && !matches!(sign, '\u{2028}' | '\u{2029}')
    };
    let mut shown = String::new();
    for sign in name.chars() {
        match is_plain(sign) {
            true => shown.push(sign),
            false => shown.extend(sign.escape_default()),
        }
    }
    shown.chars().take(MOST).collect()
}

/// Writes ranges of nodes as a multirange of SQL.
pub fn multirange(ranges: &[(i64, i64)]) -> String {
    // No node has more bits; and SQL has no range that ends at the last integer.
    let most = (1_i64 << MAX_NODE_BITS) - 1;
    let within = ranges
        .iter()
        .filter(|(first, last)| 0 <= *first && first <= last && *first <= most);
    let each = within.map(|(first, last)| format!("[{first},{}]", last.min(&most)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(","))
}

/// How much one login can hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub leases: i64,
    pub nodes: i64,
}

/// Returns the answer to a member; `agrees` says whether its clock does.
pub fn answer(
    registry: &Registry,
    agrees: bool,
    lease: Option<&GrantedLease>,
    denial: Option<String>,
) -> LeaseAnswer {
    LeaseAnswer {
        lease: lease.map(|lease| NumberedTerm {
            id: lease.id,
            term: lease.span,
        }),
        nodes: lease.map(|lease| lease.nodes.range.clone().into_inner()),
        length: registry.bounded_length(),
        seen: agrees.then(|| LogPoint {
            identity: registry.identity,
            position: read_log_state().position,
        }),
        denial,
        is_unassigned: false,
        is_stranger: false,
    }
}

/// A lease that the registry has granted.
pub struct GrantedLease {
    /// The number of the lease, which renewals keep.
    pub id: i64,
    pub nodes: Nodes,
    pub span: LeaseTerm,
    /// When others can be granted the nodes.
    pub free_from: Micros,
}

/// Returns the identity of this server, and where its log ends. Outside of recovery only.
pub fn read_log_state() -> LogPoint {
    LogPoint {
        identity: Identity {
            system: server::system_identifier(),
            timeline: server::timeline(),
            start: server::start(),
            incarnation: Incarnation::default(),
        },
        position: server::log_end(),
    }
}

/// Describes why a registry denies a request.
pub fn describe_denial(registry: &Registry, denial: Denial) -> String {
    let seconds = |span: Micros| format!("{:.1} s", span as f64 / 1e6);
    match denial {
        Denial::Skew { ahead } => format!(
            "clock of the member is {} {} the clock of the registry (maximum {})",
            seconds(ahead.saturating_abs()),
            if ahead < 0 { "behind" } else { "ahead of" },
            seconds(registry.max_skew)
        ),
        Denial::Quarantine { left } => format!(
            "registry is in quarantine and grants no new leases for another {}",
            seconds(left)
        ),
        Denial::Lost => "lease is not known to the registry".to_owned(),
        Denial::Leased { until } => format!(
            "clock of the registry is behind the end of a granted lease, {}",
            timestamp_text(until)
        ),
    }
}
