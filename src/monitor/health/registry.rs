//! Checks of leases, and of the registry that grants them.

use crate::monitor::health::finding::{Finding, Status, seconds};
use crate::monitor::health::server::Facts;
use crate::pg::machine::clock;
use crate::pg::machine::clock::ahead;
use crate::pg::worker::request::last_failure;
use crate::registry::member::usage;
use crate::registry::server::quarantine::{self, Quarantine};
use crate::snowflake::node::grantor;
use mint_core::clock::duration_text;

const NO_REGISTRY: &str = "No registry is set.";

/// Whether the leases that this server holds are renewed in time.
pub fn lease() -> Finding {
    const CHECK: &str = "lease";
    const HINT: &str = "Check mint.leases, the server log, and the registry.";
    if !grantor::is_there() {
        return Finding::ok(CHECK, NO_REGISTRY);
    }
    let now = clock::now();
    // The oldest one first, as part of its length.
    let ages = usage::held().into_iter().map(|slot| {
        let (granted, until) = (slot.granted_at(), slot.lease().until());
        (now - granted, (until - granted).max(1), until)
    });
    let Some((age, length, until)) = ages.min_by_key(|&(.., until)| until) else {
        return if usage::are_wanted() {
            let detail = "This server holds no lease, and sessions have needed one.";
            Finding::ok(CHECK, detail).with(Status::Critical, HINT)
        } else {
            Finding::ok(CHECK, "No session has needed a lease.")
        };
    };
    // It is renewed at a third.
    let late = length / 3 * 2;
    let status = match age {
        _ if until <= now => Status::Critical,
        _ if age > late => Status::Warning,
        _ => Status::Ok,
    };
    let detail = if until <= now {
        format!("A lease ended {} ago.", duration_text(now - until))
    } else {
        let (age, left) = (duration_text(age.max(0)), duration_text(until - now));
        format!("The lease that ends first was renewed {age} ago, and lasts another {left}.")
    };
    let finding = Finding::ok(CHECK, detail).measured(seconds(age), seconds(late), "seconds");
    finding.with(status, HINT)
}

/// Whether the last request to the registry was answered. Asks the worker's note, not the registry.
pub fn registry() -> Finding {
    const CHECK: &str = "registry";
    if !grantor::is_there() {
        return Finding::ok(CHECK, NO_REGISTRY);
    }
    let Some(trouble) = usage::trouble() else {
        return Finding::ok(CHECK, "The last request did not fail.");
    };
    let has_lease = usage::held()
        .iter()
        .any(|slot| ahead(slot.lease().until()) > 0);
    let status = if has_lease {
        Status::Warning
    } else {
        Status::Critical
    };
    let finding = Finding::ok(CHECK, last_failure(&trouble));
    finding.with(
        status,
        "Check the foreign server, its user mapping, and the registry's server log.",
    )
}

/// Whether this database is a registry in quarantine, or the registry of this server says that it is.
pub fn quarantine() -> Finding {
    const CHECK: &str = "quarantine";
    let (detail, left, status) = match quarantine::find() {
        Quarantine::NoRegistry => {
            let told = usage::trouble().filter(|trouble| trouble.contains("quarantine"));
            match told {
                Some(trouble) => (last_failure(&trouble), None, Status::Warning),
                None => ("This database is no registry.".to_owned(), None, Status::Ok),
            }
        }
        Quarantine::Until(until) if ahead(until) > 0 => {
            let left = ahead(until);
            let detail = format!(
                "This registry grants no new leases for another {}.",
                duration_text(left)
            );
            (detail, Some(left), Status::Warning)
        }
        Quarantine::Until(_) => (
            "This registry grants leases.".to_owned(),
            Some(0),
            Status::Ok,
        ),
        Quarantine::Unknown(why) => (why, None, Status::Warning),
    };
    let mut finding = Finding::ok(CHECK, detail);
    if let Some(left) = left {
        finding = finding.measured(seconds(left), 0.001, "seconds");
    }
    finding.with(
        status,
        "A quarantine ends by itself, 70 seconds after the registry might have forgotten a lease. If nothing was forgotten, use mint.registry_end_quarantine().",
    )
}

/// Whether the tables of a registry are replicated to other servers, which would change them there by hand.
pub fn publication(facts: Option<&Facts>) -> Finding {
    const CHECK: &str = "publication";
    let Some(facts) = facts else {
        return Finding::left_out(CHECK);
    };
    let published = facts.publications.join(", ");
    let (detail, status) = if facts.publications.is_empty() {
        (
            "No table of a registry is published.".to_owned(),
            Status::Ok,
        )
    } else {
        let detail = format!("Tables of schema \"mint_registry\" are published: {published}.");
        (detail, Status::Warning)
    };
    let finding = Finding::ok(CHECK, detail);
    let finding = finding.measured(facts.publications.len() as f64, 1.0, "publications");
    finding.with(
        status,
        "Take the tables out of the publications: a copy of a registry grants the same nodes again.",
    )
}
