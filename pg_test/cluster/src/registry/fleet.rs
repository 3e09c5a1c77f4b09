//! A registry with its members, and the faults that they are put through.

use crate::load::clients::{Clients, Group};
use crate::registry::members::{AUTO, Registry};
use crate::rng::Rng;
use crate::server::process::Server;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A fault of a registry or of one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `kill -9` of a minting session.
    KillSession,
    /// `kill -9` of the worker that renews the leases.
    KillWorker,
    /// `pg_ctl stop -m immediate`.
    StopImmediate,
    /// A clean stop.
    StopFast,
    /// All processes of a member stand still for longer than a lease.
    Freeze,
    /// A clone is started beside its original, then one of the two is stopped.
    Clone,
    /// An old copy of the files takes the member's place.
    OldCopy,
    /// A member's standby is promoted while the member stands still, and both continue.
    Promotion,
    /// A member's clock steps, in milliseconds, and back again.
    Step(i64),
    /// The registry crashes and comes back later.
    RegistryDown,
    /// The registry stands still.
    RegistryFreeze,
    /// The registry is lost, and its standby, which has not replayed the last grants, is promoted.
    RegistryPromotion,
}

impl Fault {
    /// Whether the registry begins a quarantine.
    fn is_of_registry(self) -> bool {
        matches!(self, Self::RegistryDown | Self::RegistryPromotion)
    }

    /// Each fault once.
    pub const ALL: [Self; 16] = [
        Self::KillSession,
        Self::KillWorker,
        Self::StopImmediate,
        Self::StopFast,
        Self::Freeze,
        Self::Clone,
        Self::OldCopy,
        Self::Promotion,
        Self::Step(400),
        Self::Step(-400),
        Self::Step(-5_000),
        Self::Step(3_600_000),
        Self::Step(-3_600_000),
        Self::RegistryDown,
        Self::RegistryFreeze,
        Self::RegistryPromotion,
    ];
}

/// The node that every member lists.
pub const COMMON: &str = "SELECT snowflake_next_id(500)";
/// Mint with any node that the registry grants.
const ANY: [&str; 2] = [
    "SELECT snowflake_next_id()",
    "SELECT snowflake_next_id() FROM generate_series(1, 50)",
];

/// A registry and its members. The last group of clients is for a guest: a copy of a member that runs beside it.
pub struct Fleet {
    registry: Registry,
    members: Vec<Server>,
    /// Earlier copies of the members' files, not started.
    copies: Vec<Server>,
    guest: Option<Server>,
    rng: Rng,
}

impl Fleet {
    /// Starts the members. `None`, with a message, where libfaketime is not installed.
    #[must_use]
    pub fn start(registry: Registry, members: usize, rng: Rng) -> Option<Self> {
        let mut all = Vec::new();
        for number in 0..members {
            let builder = Server::build_with_clock(&format!("member {number}"))?;
            all.push(registry.admit(builder.conf(AUTO).conf("pg_mint.nodes = '500'")));
        }
        let copies = all.iter().map(|member| member.copied("an old copy"));
        Some(Self {
            copies: copies.collect(),
            members: all,
            registry,
            guest: None,
            rng,
        })
    }

    /// Returns clients for each member and for a guest.
    #[must_use]
    pub fn clients(&self) -> Clients {
        let statements = [ANY[0], ANY[1], COMMON];
        let mut groups: Vec<Group> = self
            .members
            .iter()
            .map(|member| Group::new(member.place(), &statements))
            .collect();
        groups.push(Group::new(self.copies[0].place(), &statements));
        Clients::new(groups)
    }

    /// Inflicts a fault on the registry or a random member and waits until all members mint again. Returns the longest
    /// time for which a client of a member got no id.
    #[track_caller]
    pub fn survive(&mut self, fault: Fault, clients: &Clients, limit: Duration) -> Duration {
        let members = 0..self.members.len();
        let silence = || {
            let of_post = |post| (0..ANY.len()).map(move |client| clients.silence(post, client));
            members.clone().flat_map(of_post).max()
        };
        silence();
        let number = self.rng.below(self.members.len());
        self.inflict(fault, number, clients);
        // Leases from before the fault can last until then.
        self.registry.wait_for_leases();
        if fault.is_of_registry() {
            self.registry.end_quarantine();
        }
        let (since, begun) = (clients.now(), Instant::now());
        loop {
            let late = members.clone().find(|&post| {
                (0..ANY.len()).any(|client| !clients.has_minted(post, client, since))
            });
            // One member at a time has the lease of the node that all of them list.
            let common = members
                .clone()
                .any(|post| clients.has_minted(post, ANY.len(), since));
            if late.is_none() && common {
                return silence().unwrap_or_default();
            }
            assert!(
                begun.elapsed() < limit,
                "{limit:?} after {fault:?} of {:?}, {late:?} does not mint (common node: {common}):\n{}\n{}",
                self.members[number].name(),
                late.map_or_else(String::new, |late| self.members[late].log()),
                self.registry.server.log()
            );
            sleep(Duration::from_millis(20));
        }
    }

    fn inflict(&mut self, fault: Fault, number: usize, clients: &Clients) {
        let longer =
            self.registry.lease + Duration::from_millis(700 + self.rng.below(1_500) as u64);
        let member = &self.members[number];
        match fault {
            Fault::KillSession => member.kill9_any(),
            Fault::KillWorker => {
                let worker =
                    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
                let pids: Vec<i32> = member.connect("postgres").column(worker);
                pids.into_iter().for_each(|pid| member.kill9(pid));
            }
            Fault::StopImmediate => {
                member.stop_immediate();
                member.start_again();
            }
            Fault::StopFast => member.restart(),
            Fault::Freeze => {
                let frozen = member.freeze();
                sleep(longer);
                drop(frozen);
            }
            Fault::Clone => {
                let clone = member.copied("a clone");
                clone.start_again();
                self.run_beside(clone, number, clients, longer);
            }
            Fault::OldCopy => self.replace_by_old_copy(number, clients),
            Fault::Promotion => {
                let standby = member.standby("a standby");
                member.wait_for(&standby);
                let frozen = member.freeze();
                standby.promote();
                sleep(longer / 2);
                drop(frozen);
                self.run_beside(standby, number, clients, longer);
            }
            Fault::Step(by) => {
                member.set_clock(&format!("{:+.3}", by as f64 / 1e3));
                sleep(longer);
                member.set_clock("+0");
            }
            Fault::RegistryDown => {
                self.registry.server.stop_immediate();
                sleep(longer);
                self.registry.server.start_again();
            }
            Fault::RegistryFreeze => {
                let frozen = self.registry.server.freeze();
                sleep(longer);
                drop(frozen);
            }
            Fault::RegistryPromotion => self.promote_registry(),
        }
    }

    fn replace_by_old_copy(&mut self, number: usize, clients: &Clients) {
        self.members[number].stop_immediate();
        self.copies[number].start_again();
        clients.groups[number]
            .place
            .move_to(&self.copies[number].place());
        let next = self.copies[number].copied("an old copy");
        self.members[number] = std::mem::replace(&mut self.copies[number], next);
    }

    /// Lets a copy mint beside its original for a while, then stops one of the two at random.
    fn run_beside(&mut self, guest: Server, number: usize, clients: &Clients, stay: Duration) {
        let (group, since) = (&clients.groups[self.members.len()], clients.now());
        group.place.move_to(&guest.place());
        guest.until("the copy mints", || {
            clients.has_minted(self.members.len(), 0, since)
        });
        sleep(stay);
        if self.rng.below(2) == 0 {
            guest.stop_immediate();
        } else {
            self.members[number].stop_immediate();
            clients.groups[number].place.move_to(&guest.place());
            let gone = std::mem::replace(&mut self.members[number], guest);
            group.place.move_to(&gone.place());
            self.guest = Some(gone);
        }
    }

    fn promote_registry(&mut self) {
        let standby = self.registry.server.standby("the registry's standby");
        self.registry.server.wait_for(&standby);
        let mut session = standby.connect("postgres");
        session.set_for_server("primary_conninfo", "''");
        drop(session);
        // The standby does not learn of what is granted from here on.
        sleep(self.registry.lease / 2);
        self.registry.server.stop_immediate();
        standby.promote();
        self.registry.move_to(standby);
    }
}
