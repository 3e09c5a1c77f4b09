//! Survival of a fleet: a fault, and the wait until all of its members mint again.

use crate::load::clients::Clients;
use crate::registry::fleet::{Fleet, now};
use crate::registry::member_faults::MemberFault;
use crate::registry::members::{LEASE, WAIT};
use crate::registry::registry_faults::RegistryFault;
use crate::server::process::Server;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A fault of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A fault of the registry.
    Registry(RegistryFault),
    /// A fault of members.
    Member(MemberFault),
}

/// Time for connections and for a busy machine.
const SLACK: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

impl Fault {
    /// Returns each fault once; only those named in `MINT_FAULTS`, if it is set.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let registry = RegistryFault::ALL.iter().copied().map(Self::Registry);
        let member = MemberFault::ALL.iter().copied().map(Self::Member);
        let all = registry.chain(member);
        match std::env::var("MINT_FAULTS") {
            Ok(names) => all.filter(|fault| fault.is_named(&names)).collect(),
            Err(_) => all.collect(),
        }
    }

    /// Returns whether the list has its name in the code.
    fn is_named(self, names: &str) -> bool {
        let name = match self {
            Self::Registry(fault) => format!("{fault:?}"),
            Self::Member(fault) => format!("{fault:?}"),
        };
        names.split(',').any(|listed| listed == name)
    }
}

/// Inflicts a fault on the registry or on members, and waits until all members have leases from after it, and mint. Returns
/// the longest time for which a client got no id.
#[track_caller]
pub fn survive(fleet: &mut Fleet, fault: Fault, clients: &Clients) -> Duration {
    let server = &fleet.registry.server;
    server.until("all members mint", || {
        fleet.find_silent(clients, 0).is_none()
    });
    fleet.align();
    let _ = fleet.silence(clients);
    let struck = fleet.pick_members();
    match fault {
        Fault::Registry(fault) => fault.strike(fleet),
        Fault::Member(fault) => fault.strike(fleet, &struck, clients),
    }
    let (begun, since) = (Instant::now(), clients.now());
    let mut admin = fleet.registry.connect();
    let then = now(&mut admin);
    loop {
        let late = fleet.find_silent(clients, since);
        let renewed = fleet.count_renewed(&mut admin, &then);
        if late.is_none() && renewed == fleet.members.len() {
            return fleet.silence(clients);
        }
        assert!(
            begun.elapsed() < LEASE + WAIT + SLACK,
            "{:?} after {fault:?} of {struck:?}, {late:?} does not mint (renewed leases: {renewed}):\n{}\n{}\n{}",
            begun.elapsed(),
            describe_workers(fleet),
            late.map_or_else(String::new, |late| fleet.members[late].log()),
            fleet.registry.server.log()
        );
        sleep(PAUSE);
    }
}

/// Describes what each member's worker does, and until when its leases last.
fn describe_workers(fleet: &Fleet) -> String {
    let describe = |member: &Server| {
        let mut session = member.connect("postgres");
        let leases: Vec<String> = session.column(
            "SELECT format('%s until %s, %s', node, lease_until, trouble) FROM mint.leases",
        );
        let workers: Vec<String> = session.column(
            "SELECT format('%s %s', pid, wait_event) FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'",
        );
        format!("{}: {workers:?} {leases:?}\n", member.name())
    };
    fleet.members.iter().map(describe).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(fault) => fault.fmt(out),
            Self::Member(fault) => fault.fmt(out),
        }
    }
}
