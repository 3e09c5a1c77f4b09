//! A registry with its members, which reach it by a proxy, and clients of each.

use crate::load::clients::{Answers, Clients, Group};
use crate::load::sessions::assert_unique;
use crate::registry::kind::Kind;
use crate::registry::members::{Registry, first_id};
use crate::registry::proxy::{Passing, Proxy};
use crate::rng::Rng;
use crate::server::process::Server;
use crate::server::session::Session;
use std::time::Duration;

/// Mints with the node that every member lists: many at once, so that two members hit upon the same ids.
pub const COMMON: &str = "SELECT snowflake_next_id(500) FROM generate_series(1, 50)";
/// Mint with any node that the registry grants.
pub const ANY: [&str; 2] = [
    "SELECT snowflake_next_id()",
    "SELECT snowflake_next_id() FROM generate_series(1, 50)",
];

/// The first node that is assigned.
const ASSIGNED_NODE: i64 = 700;

/// A registry and its members. The last groups of clients are for guests: copies of members that run beside them.
pub struct Fleet {
    pub(super) registry: Registry,
    /// One for each member.
    pub(super) proxies: Vec<Proxy>,
    pub(super) members: Vec<Server>,
    /// The nodes that are assigned, by their members.
    assigned: Vec<(usize, i64)>,
    /// Earlier copies of the members' files, not started.
    pub(super) copies: Vec<Server>,
    /// Servers that clients may still ask.
    pub(super) gone: Vec<Server>,
    /// The ids that sessions got which are not the clients'.
    pub(super) others: Vec<Vec<i64>>,
    pub(super) rng: Rng,
}

impl Fleet {
    /// Starts the members.
    #[must_use]
    pub fn start(registry: Registry, members: usize, rng: Rng) -> Self {
        let mut fleet = Self {
            registry,
            proxies: Vec::new(),
            members: Vec::new(),
            assigned: Vec::new(),
            copies: Vec::new(),
            gone: Vec::new(),
            others: Vec::new(),
            rng,
        };
        for number in 0..members {
            let kind = Kind::of(number);
            let name = format!("member {number}");
            let mut builder = Server::build_with_clock(&name);
            if kind == Kind::Assigned {
                builder = builder.on_disk();
                fleet.assigned.push((number, ASSIGNED_NODE + number as i64));
            }
            let builder = builder
                .conf(&kind.setting(number))
                .conf("pg_mint.nodes = '500'");
            let member = fleet.registry.admit(builder);
            let proxy = Proxy::start(fleet.registry.socket());
            proxy.lead(&member);
            fleet.proxies.push(proxy);
            fleet.members.push(member);
        }
        fleet.assign_nodes();
        for member in &fleet.members {
            // So that a copy of an assigned member has keys.
            first_id(member, ANY[0]);
            fleet.copies.push(member.twin("an old copy"));
        }
        fleet
    }

    /// Assigns nodes in a registry that is new.
    pub(super) fn assign_nodes(&self) {
        let mut admin = self.registry.connect();
        for (number, node) in &self.assigned {
            admin.run(&format!(
                "SELECT mint.registry_assign(13, 'member {number}', {node})"
            ));
        }
    }

    /// Gives the node of an assigned member to the next server of its name, as an operator does after a restore.
    pub(super) fn give_back(&self, number: usize) {
        if Kind::of(number) == Kind::Assigned {
            self.registry.connect().run(&format!(
                "SELECT mint.registry_assign(13, 'member {number}', moved => true)"
            ));
        }
    }

    /// Returns a member of each kind, at random.
    pub(super) fn pick_members(&mut self) -> Vec<usize> {
        let pick = |kind| {
            let all: Vec<usize> = (0..self.members.len())
                .filter(|&number| Kind::of(number) == kind)
                .collect();
            self.rng.pick(&all)
        };
        Kind::ALL.into_iter().map(pick).collect()
    }

    /// Lets all members renew their leases at about the same time, so that what a fault costs does not depend on how long ago
    /// each one did so; then waits for a part of the time until they do again.
    pub(super) fn align(&mut self) {
        for member in &self.members {
            member
                .connect("postgres")
                .run("ALTER SERVER registry OPTIONS (SET connect_timeout '3')");
        }
        let interval = self.registry.lease.as_millis() as usize / 3;
        let pause = 1_100 + self.rng.below(interval.saturating_sub(1_100).max(1));
        std::thread::sleep(Duration::from_millis(pause as u64));
    }

    /// Changes what passes between all members and the registry.
    pub(super) fn let_pass(&self, passing: Passing) {
        self.proxies
            .iter()
            .for_each(|proxy| proxy.let_pass(passing));
    }

    /// Returns the group of the clients of a member's copy.
    pub(super) fn guests_of(&self, number: usize) -> usize {
        self.members.len() + Kind::of(number) as usize
    }

    /// Returns clients for each member, and for a copy of a member of each kind.
    #[must_use]
    pub fn clients(&self) -> Clients {
        let statements = [ANY[0], ANY[1], COMMON];
        let mut groups: Vec<Group> = self
            .members
            .iter()
            .map(|member| Group::new(member.place(), &statements))
            .collect();
        let nobodys = Kind::ALL.map(|_| Group::new(self.copies[0].place(), &statements));
        groups.extend(nobodys);
        Clients::new(groups)
    }

    /// Asserts that no id was issued twice, and that errors were for want of a lease or for a wrong clock. Returns the
    /// number of ids.
    #[track_caller]
    pub fn assert_sound(self, answers: &Answers) -> usize {
        for (code, (_, first)) in &answers.refusals {
            assert!(["55000", "58000"].contains(&code.as_str()), "{first}");
        }
        assert_unique(answers.ids.iter().chain(&self.others));
        let lists = answers.ids.iter().chain(&self.others);
        lists.map(Vec::len).sum()
    }

    /// Returns a time that is longer than a lease, at random.
    pub(super) fn longer(&mut self) -> Duration {
        self.registry.lease + Duration::from_millis(700 + self.rng.below(1_500) as u64)
    }

    /// Returns the longest time since the last call for which a client of a member of each kind got no id, of those that mint
    /// with any node.
    pub(super) fn silences(&self, clients: &Clients) -> [Duration; Kind::ALL.len()] {
        let mut longest = [Duration::ZERO; Kind::ALL.len()];
        for member in 0..self.members.len() {
            let place = Kind::of(member) as usize;
            for client in 0..ANY.len() {
                longest[place] = longest[place].max(clients.silence(member, client));
            }
        }
        longest
    }

    /// Returns a member of which a client got no id since then.
    pub(super) fn find_silent(&self, clients: &Clients, since: u64) -> Option<usize> {
        let mints = |post, client| clients.has_minted(post, client, since);
        (0..self.members.len()).find(|&post| (0..ANY.len()).any(|client| !mints(post, client)))
    }

    /// Returns whether any member has minted with the node that all of them list since then: one at a time has its lease.
    pub(super) fn has_common(&self, clients: &Clients, since: u64) -> bool {
        (0..self.members.len()).any(|post| clients.has_minted(post, ANY.len(), since))
    }

    /// Returns how many members have a lease, other than that of the common node, that the registry has granted or
    /// renewed since `then`, by its own clock and with leases of `length`.
    pub(super) fn renewed(&self, admin: &mut Session, then: &str, length: Duration) -> usize {
        let renewed: i64 = admin.one(&format!(
            "SELECT count(DISTINCT holder) FROM mint_registry.nodes
             WHERE first_node <> 500 AND lease_until >= '{then}'::timestamptz + interval '{} s'",
            length.as_secs()
        ));
        usize::try_from(renewed).expect("a count")
    }

    /// Returns whether the registry knows all leases that members have, so that an operator may end its quarantine. Assigned
    /// nodes do not count, as nobody else gets them.
    pub(super) fn is_known(&self, admin: &mut Session) -> bool {
        let mut held: Vec<String> = Vec::new();
        for member in &self.members {
            held.extend(member.connect("postgres").column::<String>(
                "SELECT format('(%s, %s, %s, %L::timestamptz)', node_bits, first_node, last_node, lease_until)
                 FROM mint.leases WHERE held",
            ).into_iter().filter(|lease| {
                let is_it = |(_, node): &(usize, i64)| lease.contains(&format!(", {node}, {node}, "));
                !self.assigned.iter().any(is_it)
            }));
        }
        held.is_empty()
            || admin.one(&format!(
                "SELECT bool_and(EXISTS (
                     SELECT FROM mint_registry.nodes AS n
                     WHERE n.node_bits = h.bits AND n.first_node <= h.first AND n.last_node >= h.last
                         AND n.lease_until >= h.until
                 )) FROM (VALUES {}) AS h (bits, first, last, until)",
                held.join(", ")
            ))
    }
}

/// Returns the clock of a registry.
pub(super) fn now(admin: &mut Session) -> String {
    admin.one("SELECT clock_timestamp()::text")
}
