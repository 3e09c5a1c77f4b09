//! Check of the registry: the leases of this server, and the wait of a registry in this database.

use crate::monitor::health::defaults::Defaults;
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::{machine::clock, worker::mailbox::last_failure};
use crate::registry::member::usage::{self, WantedWidth};
use crate::registry::{bits, server::memory};
use crate::snowflake::node::grantor;
use mint_core::{DEFAULT_LAYOUT, clock::duration_text, registry::ring::RingRules};

/// Returns whether this server has the leases that sessions have needed, and the registry renews them in time.
pub fn registry(defaults: &Defaults) -> Finding {
    let is_set = grantor::has_registry();
    let wanted = usage::wanted_widths().into_iter().filter(|_| is_set);
    let judged = wanted.map(|wanted| judge(wanted, defaults));
    let none = match is_set {
        true => "No session has needed a lease.",
        false => "No registry is set.",
    };
    let judged = judged.reduce(Finding::and);
    let mut finding = judged.unwrap_or_else(|| Finding::ok(none));
    if let Some(left @ 1..) = memory::wait_left() {
        let left = duration_text(left);
        finding.detail +=
            &format!(" The registry of this database grants no new leases for another {left}.");
    }
    finding
}

/// Judges the node of one width. Any role can request any width, so only widths used by column defaults and the default
/// layout can be critical.
fn judge(wanted: WantedWidth, defaults: &Defaults) -> Finding {
    let (now, bits) = (clock::now(), bits(wanted.width));
    let lease = (wanted.slot).and_then(|slot| Some((slot.held_lease()?, slot.granted_at())));
    let (mut status, mut detail) = match lease.filter(|(lease, _)| lease.until > now) {
        Some((lease, granted)) => {
            let (age, left) = ((now - granted).max(0), lease.until - now);
            // It is renewed after a third of its length, and is late after two.
            let is_late = age > 2 * RingRules::STANDARD.renewal || wanted.trouble.is_some();
            let (node, [age, left]) = (lease.node, [age, left].map(duration_text));
            let detail = format!(
                "The lease of node {node} ({bits}) was renewed {age} ago. Without the registry, ids last for another {left}."
            );
            (Status::Warning.when(is_late), detail)
        }
        None => {
            let detail = format!("This server has no lease of a node ({bits}) that sessions need.");
            (Status::Critical, detail)
        }
    };
    let layouts = defaults.all.iter().map(|default| &default.layout);
    let mut layouts = layouts.chain([DEFAULT_LAYOUT]);
    if !layouts.any(|layout| layout.shard.width == wanted.width) {
        status = status.min(Status::Warning);
    }
    let Some(trouble) = wanted.trouble else {
        return Finding::new(status, detail, "Check mint.leases and the server log.");
    };
    detail = format!("{detail} {}", last_failure(&trouble.why));
    Finding::new(status, detail, trouble.remedy)
}
