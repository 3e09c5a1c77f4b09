//! A registry with its members, which reach it by a proxy, and clients of each.

use crate::load::clients::{Answers, Clients, Group};
use crate::load::sessions::assert_unique;
use crate::registry::members::{AUTO, Registry};
use crate::registry::proxy::Proxy;
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

/// The member whose clock can be set. Only one: the handler of a timer, as of a deadline, reads the clock, which with
/// libfaketime allocates memory, and what it interrupts may be about to do the same.
pub const WITH_CLOCK: usize = 0;

/// A registry and its members. The last group of clients is for a guest: a copy of a member that runs beside it.
pub struct Fleet {
    pub(super) registry: Registry,
    pub(super) proxy: Proxy,
    pub(super) members: Vec<Server>,
    /// Earlier copies of the members' files, not started.
    pub(super) copies: Vec<Server>,
    pub(super) guest: Option<Server>,
    /// The ids that sessions got which are not the clients'.
    pub(super) others: Vec<Vec<i64>>,
    pub(super) rng: Rng,
}

impl Fleet {
    /// Starts the members. `None`, with a message, where libfaketime is not installed.
    #[must_use]
    pub fn start(registry: Registry, members: usize, rng: Rng) -> Option<Self> {
        let proxy = Proxy::start(registry.socket());
        let mut all = Vec::new();
        for number in 0..members {
            let name = format!("member {number}");
            let builder = match number {
                WITH_CLOCK => Server::build_with_clock(&name)?,
                _ => Server::build(&name),
            };
            let member = registry.admit(builder.conf(AUTO).conf("pg_mint.nodes = '500'"));
            member.connect("postgres").run(&format!(
                "ALTER SERVER registry OPTIONS (SET host '127.0.0.1', SET port '{}')",
                proxy.port()
            ));
            all.push(member);
        }
        let copies = all.iter().map(|member| member.copied("an old copy"));
        Some(Self {
            copies: copies.collect(),
            members: all,
            registry,
            proxy,
            guest: None,
            others: Vec::new(),
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

    /// Returns the longest time since the last call for which a client of a member got no id, of those that mint with
    /// any node.
    pub(super) fn silence(&self, clients: &Clients) -> Duration {
        let of_post = |post| (0..ANY.len()).map(move |client| clients.silence(post, client));
        let all = (0..self.members.len()).flat_map(of_post);
        all.max().unwrap_or_default()
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

    /// Returns whether the registry knows all leases that members have, so that an operator may end its quarantine.
    pub(super) fn is_known(&self, admin: &mut Session) -> bool {
        let mut held: Vec<String> = Vec::new();
        for member in &self.members {
            held.extend(member.connect("postgres").column::<String>(
                "SELECT format('(%s, %s, %s, %L::timestamptz)', node_bits, first_node, last_node, lease_until)
                 FROM mint.leases WHERE held",
            ));
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
