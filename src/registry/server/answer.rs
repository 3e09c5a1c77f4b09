//! Members that make requests, and the registry's answers.

use crate::pg::machine::server;
use crate::registry::protocol::{LeaseAnswer, NumberedTerm};
use crate::registry::server::nodes::NodeRange;
use mint_core::clock::timestamp_text;
use mint_core::{Denial, Identity, Incarnation, LeaseTerm, LogPoint, Micros, Registry};

/// The member that makes a request.
pub struct Requester {
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

/// How much one login can hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub leases: i64,
    pub nodes: i64,
}

/// Returns the answer to a member: the lease, or why none is granted. `agrees` says whether its clock does.
pub fn answer(
    registry: &Registry,
    agrees: bool,
    granted: Result<GrantedLease, String>,
) -> LeaseAnswer {
    let (lease, denial) = match granted {
        Ok(lease) => (Some(lease), None),
        Err(why) => (None, Some(why)),
    };
    LeaseAnswer {
        lease: lease.as_ref().map(|lease| NumberedTerm {
            id: lease.id,
            term: lease.span,
        }),
        nodes: lease.map(|lease| lease.nodes.range.into_inner()),
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
    pub nodes: NodeRange,
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
