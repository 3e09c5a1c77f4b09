//! Check of the registry: the leases of this server, and the wait of a registry in this database.

use crate::monitor::health::defaults::Defaults;
use crate::monitor::health::finding::{Finding, Status, seconds};
use crate::pg::machine::clock;
use crate::pg::worker::mailbox::last_failure;
use crate::registry::bits;
use crate::registry::member::usage::{self, WantedNode};
use crate::registry::server::memory;
use crate::snowflake::node::grantor;
use mint_core::BUILTINS;
use mint_core::Micros;
use mint_core::clock::duration_text;
use mint_core::registry::ring::RingRules;

const RULES: RingRules = RingRules::STANDARD;

/// Returns whether this server has the leases that sessions have needed, and the registry renews them in time.
pub fn registry(defaults: &Defaults) -> Finding {
    let granting = match memory::wait_left() {
        Some(left @ 1..) => format!(
            " The registry of this database grants no new leases for another {}.",
            duration_text(left)
        ),
        _ => String::new(),
    };
    if !grantor::is_there() {
        return Finding::ok(format!("No registry is set.{granting}"));
    }
    // Any role can need a node of any width, and that one lack it is no alarm of the server.
    let layouts = defaults.all.iter().map(|default| &default.layout);
    let layouts = layouts.chain([&BUILTINS[0].layout]);
    let needed = layouts.fold(0_u64, |widths, layout| widths | 1 << layout.shard.width);
    let findings = usage::wanted().into_iter().map(|wanted| {
        let is_needed = needed >> wanted.width & 1 == 1;
        let mut finding = judge(wanted);
        if !is_needed {
            finding.status = finding.status.min(Status::Warning);
        }
        finding
    });
    let worst = findings.max_by_key(|finding| finding.status);
    let mut finding = worst.unwrap_or_else(|| Finding::ok("No session has needed a lease."));
    finding.detail.push_str(&granting);
    finding
}

/// Judges the node of one width.
fn judge(
    WantedNode {
        width,
        slot,
        trouble,
    }: WantedNode,
) -> Finding {
    let now = clock::now();
    let lease = slot.and_then(|slot| Some((slot.held()?, slot.granted_at())));
    let (mut detail, left, age) = match lease {
        Some((lease, granted)) if lease.until > now => {
            let (age, left): (Micros, Micros) = ((now - granted).max(0), lease.until - now);
            let detail = format!(
                "The lease of node {} ({}) was renewed {} ago. Without the registry, ids last for another {}.",
                lease.node,
                bits(width),
                duration_text(age),
                duration_text(left)
            );
            (detail, left, age)
        }
        _ => (
            format!(
                "This server has no lease of a node ({}), and sessions have needed one.",
                bits(width)
            ),
            0,
            RULES.lease,
        ),
    };
    // It is renewed at a third.
    let late = 2 * RULES.renewal;
    let status = match left {
        ..=0 => Status::Critical,
        _ => Status::Warning.when(age > late || trouble.is_some()),
    };
    let hint = trouble.map_or_else(
        || "Check mint.leases and the server log.".to_owned(),
        |trouble| {
            detail = format!("{detail} {}", last_failure(&trouble.why));
            trouble.remedy
        },
    );
    let finding = Finding::ok(detail).measured(seconds(age), seconds(late), "seconds");
    finding.with(status, hint)
}
