//! Survival of a fleet: a fault, and the wait until all of its members mint again.

use crate::load::clients::Clients;
use crate::registry::fleet::{Fleet, now};
use crate::registry::kind::Kind;
use crate::registry::member_faults::MemberFault;
use crate::registry::members::QUARANTINE;
use crate::registry::registry_faults::RegistryFault;
use crate::report::say;
use crate::server::process::Server;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A fault of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Of the registry.
    Registry(RegistryFault),
    /// Of members, one of each kind.
    Member(MemberFault),
}

/// What became of the registry's quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quarantine {
    /// There was none.
    None,
    /// It was left to run out, or still runs.
    Waited,
    /// An operator ended it, as soon as the registry knew of all leases again.
    Ended,
}

/// What came of a fault.
pub struct Survived {
    /// The longest times for which a client of a member of each kind got no id; none of kinds that the fault has not struck.
    pub gaps: [Option<Duration>; Kind::ALL.len()],
    /// What became of the quarantine.
    pub quarantine: Quarantine,
}

/// By how much an assigned member may be worse off than others.
pub(super) const TOLERANCE: Duration = Duration::from_secs(1);
/// Time for connections and for a busy machine.
const SLACK: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(50);

impl Fault {
    /// Returns each fault once; only those named in `MINT_FAULTS`, if it is set.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let registry = RegistryFault::ALL.into_iter().map(Self::Registry);
        let member = MemberFault::ALL.into_iter().map(Self::Member);
        let all = registry.chain(member);
        match std::env::var("MINT_FAULTS") {
            Ok(names) => all.filter(|fault| fault.is_named(&names)).collect(),
            Err(_) => all.collect(),
        }
    }

    /// Returns whether the registry begins a quarantine.
    pub(super) fn begins_quarantine(self) -> bool {
        matches!(self, Self::Registry(fault) if fault.begins_quarantine())
    }

    /// Returns whether members of all kinds are to do equally well.
    pub(super) fn is_comparable(self) -> bool {
        match self {
            Self::Registry(_) => true,
            Self::Member(fault) => fault.is_comparable(),
        }
    }

    /// Returns whether the list has its name in the code, without a number.
    fn is_named(self, names: &str) -> bool {
        let name = match self {
            Self::Registry(fault) => format!("{fault:?}"),
            Self::Member(fault) => format!("{fault:?}"),
        };
        let name = name.split('(').next();
        names.split(',').any(|listed| Some(listed) == name)
    }
}

impl Survived {
    /// Returns the longest of the times.
    #[must_use]
    pub fn gap(&self) -> Duration {
        self.gaps.into_iter().flatten().max().unwrap_or_default()
    }

    /// Returns whether members with an assigned node got no ids for longer than all others.
    pub(super) fn is_assigned_worse(&self) -> bool {
        let [auto, number, assigned] = self.gaps;
        assigned.is_some_and(|own| own > auto.max(number).unwrap_or_default() + TOLERANCE)
    }
}

/// Inflicts a fault on the registry or on members, and waits until all members have leases from after it, and mint. An
/// operator can end the quarantine; else no member waits for longer than quarantine and lease.
#[track_caller]
pub fn survive(fleet: &mut Fleet, fault: Fault, clients: &Clients, has_operator: bool) -> Survived {
    let server = &fleet.registry.server;
    server.until("all members mint", || {
        fleet.find_silent(clients, 0).is_none()
    });
    fleet.align();
    let _ = fleet.silences(clients);
    let logged: Vec<usize> = fleet.members.iter().map(|m| m.log().len()).collect();
    let mut struck: Vec<usize> = (0..fleet.members.len()).collect();
    match fault {
        Fault::Registry(fault) => fault.strike(fleet),
        Fault::Member(fault) => {
            struck = fault.pick(fleet);
            fault.strike(fleet, &struck, clients);
        }
    }
    let (begun, since) = (Instant::now(), clients.now());
    let mut admin = fleet.registry.connect();
    let then = now(&mut admin);
    let is_in_quarantine = fault.begins_quarantine() || fleet.registry.is_in_quarantine();
    let quarantine = match (is_in_quarantine, has_operator) {
        (false, _) => Quarantine::None,
        (true, false) => Quarantine::Waited,
        (true, true) => Quarantine::Ended,
    };
    let mut limit = fleet.registry.lease * 2 + 2 * SLACK;
    if quarantine == Quarantine::Ended {
        let server = &fleet.registry.server;
        server.until("the registry knows all leases", || {
            fleet.is_known(&mut admin)
        });
        fleet.registry.end_quarantine();
        limit += begun.elapsed();
    } else {
        limit = limit.max(QUARANTINE + fleet.registry.lease + SLACK);
    }
    loop {
        let late = fleet.find_silent(clients, since);
        let has_common = fleet.has_common(clients, since);
        let renewed = fleet.renewed(&mut admin, &then, fleet.registry.lease);
        if late.is_none() && has_common && renewed == fleet.members.len() {
            let gaps = fleet.silences(clients);
            // What others did at the time of a step of one clock says nothing.
            let is_of_one = matches!(fault, Fault::Member(MemberFault::Step(_)));
            let is_struck =
                |kind| !is_of_one || struck.iter().any(|&number| Kind::of(number) == kind);
            let gaps = Kind::ALL.map(|kind| is_struck(kind).then_some(gaps[kind as usize]));
            let survived = Survived { gaps, quarantine };
            if fault.is_comparable() && survived.is_assigned_worse() {
                tell_logs(fleet, &logged);
            }
            return survived;
        }
        assert!(
            begun.elapsed() < limit,
            "{limit:?} after {fault:?} of {struck:?} ({quarantine:?}), {late:?} does not mint (common node: {has_common}, \
             renewed leases: {renewed}):\n{}\n{}\n{}",
            describe_workers(fleet),
            late.map_or_else(String::new, |late| fleet.members[late].log()),
            fleet.registry.server.log()
        );
        sleep(PAUSE);
    }
}

/// Prints what members with an assigned node have logged beyond these lengths.
fn tell_logs(fleet: &Fleet, logged: &[usize]) {
    for (number, (member, &before)) in fleet.members.iter().zip(logged).enumerate() {
        if Kind::of(number) == Kind::Assigned {
            let log = member.log();
            say(format!(
                "the log of {}:\n{}",
                member.name(),
                log.get(before..).unwrap_or_default()
            ));
        }
    }
}

/// Describes what each member's worker does, and until when its leases last.
fn describe_workers(fleet: &Fleet) -> String {
    let describe = |member: &Server| {
        let mut session = member.connect("postgres");
        let leases: Vec<String> = session.column(
            "SELECT format('%s-%s until %s, %s', first_node, last_node, lease_until, trouble) FROM mint.leases",
        );
        let workers: Vec<String> = session.column(
            "SELECT format('%s %s', pid, wait_event) FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'",
        );
        // The system call that it waits in, or that it runs.
        let calls = workers.iter().map(|worker| {
            let pid = worker.split(' ').next().unwrap_or_default();
            std::fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default()
        });
        let calls: Vec<String> = calls.collect();
        format!("{}: {workers:?} {calls:?} {leases:?}\n", member.name())
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

impl fmt::Display for Quarantine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::None => "no",
            Self::Waited => "yes",
            Self::Ended => "ended",
        })
    }
}
