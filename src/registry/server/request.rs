//! Requests of members, and the registry's answers.

use crate::pg::error::report;
use crate::pg::machine::server;
use crate::registry::identity::{bits, describe_nodes};
use mint_core::clock::timestamp_text;
use mint_core::snowflake::definition::MAX_NODE_BITS;
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, Registry};
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

    /// Describes the nodes in a message about another holder.
    pub fn held_by(&self, holder: &Holder) -> String {
        let (nodes, verb, name) = (self.describe(), self.verb(), &holder.name);
        match holder.until {
            Some(until) => {
                let until = timestamp_text(until);
                format!("{nodes} {verb} leased by \"{name}\" until {until}")
            }
            None => format!("{nodes} {verb} reserved for \"{name}\""),
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
    /// The end of the lease; none of a reservation.
    pub until: Option<Micros>,
}

/// The member that makes a request.
pub struct Member {
    /// The name that views show.
    pub name: String,
    /// The identifier of its database system.
    pub system: i64,
    /// The time by its clock.
    pub clock: Micros,
    /// How much of the registry's history it has seen, if any.
    pub seen: Option<LogPoint>,
}

/// The registry's answer.
pub struct Answer {
    /// The lease that is granted; of a renewal that is denied for a time, the lease as it was.
    pub lease: Option<GrantedLease>,
    /// The length of leases.
    pub length: Micros,
    /// The registry's identity, and where its log ends.
    pub seen: LogPoint,
    /// The reason why nothing is granted.
    pub denial: Option<String>,
}

/// A lease that the registry has granted.
pub struct GrantedLease {
    /// The number of the lease, which renewals keep.
    pub id: i64,
    pub nodes: Nodes,
    pub span: LeaseTerm,
}

/// Returns the identity of this server, and where its log ends. Outside of recovery only.
pub fn read_log_state() -> LogPoint {
    LogPoint {
        identity: Identity {
            system: server::system_identifier(),
            timeline: server::timeline(),
            start: server::start(),
            incarnation: 0,
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
