//! Checks of leases, and of the registry that grants them.

use crate::monitor::health::defaults::Defaults;
use crate::monitor::health::finding::{Finding, Status, seconds};
use crate::monitor::health::server::Facts;
use crate::pg::machine::clock;
use crate::pg::machine::clock::ahead;
use crate::pg::worker::mailbox::last_failure;
use crate::registry::identity::bits;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::member::trouble::{Task, Trouble, remedy};
use crate::registry::member::usage;
use crate::registry::server::quarantine::Quarantine;
use crate::snowflake::node::grantor;
use mint_core::BUILTINS;
use mint_core::clock::duration_text;

const NO_REGISTRY: &str = "No registry is set.";

/// Which leases this server is there for: those of the nodes that its settings list, and of the widths of the built-in default
/// layout and of this database's column defaults. Any role may request a node of any width.
pub struct Needed(u64);

impl Needed {
    pub fn of(defaults: &Defaults) -> Self {
        let layouts = defaults.all.iter().map(|default| &default.layout);
        let layouts = layouts.chain([&BUILTINS[0].layout]);
        Self(layouts.fold(0, |widths, layout| widths | 1 << layout.shard.width))
    }

    fn has(&self, (width, nodes): Task) -> bool {
        // A layout without a node has node 0, which no setting lists.
        self.0 >> width & 1 == 1 || nodes.is_some() && width > 0
    }
}

/// Returns whether the leases that this server holds are renewed in time.
pub fn lease(needed: &Needed) -> Finding {
    if !grantor::is_there() {
        return Finding::ok(NO_REGISTRY);
    }
    let held = usage::held();
    let mut missing = usage::wanted();
    missing.retain(|&(width, _)| held.iter().all(|&((other, _), _)| other != width));
    let of = |is_needed: bool| {
        let is_of = |&task: &Task| needed.has(task) == is_needed;
        let held = held.iter().filter(|(task, _)| is_of(task));
        let held = held.map(|&(_, slot)| slot);
        judge(missing.iter().copied().find(is_of), held)
    };
    let mut other = of(false);
    if let Some(other) = &mut other {
        other.status = other.status.min(Status::Warning);
    }
    let worse = other.into_iter().chain(of(true));
    worse
        .max_by_key(|finding| finding.status)
        .unwrap_or_else(|| Finding::ok("No session has needed a lease."))
}

/// Judges leases that are held, and one that is wanted and is not. None if there are none.
fn judge(missing: Option<Task>, held: impl Iterator<Item = &'static LeaseSlot>) -> Option<Finding> {
    const HINT: &str = "Check mint.leases, the server log, and the registry.";
    if let Some((width, _)) = missing {
        let detail = format!(
            "This server holds no lease of a node ({}), and sessions have needed one.",
            bits(width)
        );
        return Some(Finding::ok(detail).with(Status::Critical, HINT));
    }
    let now = clock::now();
    // The oldest one first, as part of its length.
    let ages = held.map(|slot| {
        let (granted, until) = (slot.granted_at(), slot.lease().until());
        (now - granted, (until - granted).max(1), until)
    });
    let (age, length, until) = ages.min_by_key(|&(.., until)| until)?;
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
    let finding = Finding::ok(detail).measured(seconds(age), seconds(late), "seconds");
    Some(finding.with(status, HINT))
}

/// Returns whether the last requests to the registry were answered. Asks the worker's notes, not the registry.
pub fn registry(needed: &Needed) -> Finding {
    if !grantor::is_there() {
        return Finding::ok(NO_REGISTRY);
    }
    let held = usage::held();
    let status = |&(width, nodes): &Task| {
        let lasts = |slot: &LeaseSlot| slot.width() == width && ahead(slot.lease().until()) > 0;
        match needed.has((width, nodes)) && !held.iter().any(|(_, slot)| lasts(slot)) {
            true => Status::Critical,
            false => Status::Warning,
        }
    };
    let troubles = usage::troubles();
    let all = troubles
        .iter()
        .map(|trouble| (status(&trouble.task), trouble));
    let Some((status, Trouble { why, .. })) = all.max_by_key(|&(status, _)| status) else {
        return Finding::ok("The last request did not fail.");
    };
    let mut finding = Finding::ok(last_failure(why)).with(status, remedy(why));
    if troubles.len() > 1 {
        finding
            .detail
            .push_str(" Others failed, too: see mint.leases.");
    }
    finding
}

/// Returns whether this database is a registry in quarantine, or the registry of this server says that it is.
pub fn quarantine(granting: &Quarantine) -> Finding {
    let (detail, left, status) = match granting {
        Quarantine::NoRegistry => {
            let told = usage::trouble().filter(|trouble| trouble.contains("quarantine"));
            match told {
                Some(trouble) => (last_failure(&trouble), None, Status::Warning),
                None => ("This database is no registry.".to_owned(), None, Status::Ok),
            }
        }
        &Quarantine::Until(until, _) if ahead(until) > 0 => {
            let left = ahead(until);
            let detail = format!(
                "This registry grants no new leases for another {}.",
                duration_text(left)
            );
            (detail, Some(left), Status::Warning)
        }
        Quarantine::Until(..) => (
            "This registry grants leases.".to_owned(),
            Some(0),
            Status::Ok,
        ),
        Quarantine::Unknown(why) => (why.clone(), None, Status::Warning),
    };
    let mut finding = Finding::ok(format!("{detail}{}", cost_of_restart()));
    if let Some(left) = left {
        finding = finding.measured(seconds(left), 0.001, "seconds");
    }
    finding.with(
        status,
        "A quarantine ends by itself, 70 seconds after the registry might have forgotten a lease. If nothing was forgotten, use mint.registry_end_quarantine().",
    )
}

/// Returns whether copies of servers have requested the nodes that are assigned to these at the registry of this database.
pub fn copies(granting: &Quarantine) -> Finding {
    match granting {
        Quarantine::Until(_, copies) if !copies.is_empty() => Finding::ok(copies.join(" "))
            .measured(copies.len() as f64, 1.0, "nodes")
            .with(
                Status::Warning,
                "Stop one of the two servers. If the copy is to stay, use mint.registry_assign(node_bits, cluster_name, moved => true), or give it another \"cluster_name\".",
            ),
        Quarantine::Unknown(why) => Finding::ok(why.clone()).with(
            Status::Warning,
            "Check the tables of schema \"mint_registry\", and the sessions that lock them.",
        ),
        _ => Finding::ok("No copy of a server has requested its assigned node in the last hour."),
    }
}

/// Returns what a restart costs a server that is a member of its own registry.
fn cost_of_restart() -> &'static str {
    if grantor::is_there() && usage::is_own_registry() {
        " The registry is on this server: after a restart the server generates no ids for 70 seconds, \
         unless mint.registry_prepare_restart() was called before."
    } else {
        ""
    }
}

/// Returns whether the tables of a registry are replicated to other servers, which would change them there by hand.
pub fn publication(facts: Option<&Facts>) -> Finding {
    let Some(facts) = facts else {
        return Finding::left_out();
    };
    let detail = match facts.publications.join(", ").as_str() {
        "" => "No table of a registry is published.".to_owned(),
        published => format!("Tables of schema \"mint_registry\" are published: {published}."),
    };
    let finding = Finding::ok(detail);
    let finding = finding.measured(facts.publications.len() as f64, 1.0, "publications");
    finding.with(
        Status::Warning.when(!facts.publications.is_empty()),
        "Take the tables out of the publications: a copy of a registry grants the same nodes again.",
    )
}
