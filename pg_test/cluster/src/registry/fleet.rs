//! A registry with its members, which reach it by a proxy, and clients of each.

use crate::load::clients::{Answers, Clients, Group};
use crate::load::sessions::assert_unique;
use crate::registry::members::{AUTO, LEASE, Registry, first_id};
use crate::registry::proxy::{Passing, Proxy};
use crate::rng::Rng;
use crate::server::process::Server;
use crate::server::session::Session;
use std::time::Duration;

/// The statements of the clients of each member.
pub const ANY: [&str; 2] = [
    "SELECT snowflake_next_id()",
    "SELECT snowflake_next_id() FROM generate_series(1, 50)",
];

/// A registry and its members. The last group of clients is for guests: copies of members that run beside them.
pub struct Fleet {
    pub(super) registry: Registry,
    /// One for each member.
    pub(super) proxies: Vec<Proxy>,
    pub(super) members: Vec<Server>,
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
            copies: Vec::new(),
            gone: Vec::new(),
            others: Vec::new(),
            rng,
        };
        for number in 0..members {
            let builder = Server::build_with_clock(&format!("member {number}"));
            let member = fleet.registry.admit(builder.conf(AUTO));
            let proxy = Proxy::start(fleet.registry.socket());
            proxy.lead(&member);
            first_id(&member, ANY[0]);
            fleet.copies.push(member.copied("an old copy"));
            fleet.proxies.push(proxy);
            fleet.members.push(member);
        }
        fleet
    }

    /// Returns some members, at random.
    pub(super) fn pick_members(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.members.len()).collect();
        self.rng.shuffle(&mut all);
        all.truncate(all.len().div_ceil(3));
        all
    }

    /// Lets all members renew their leases at about the same time, so that what a fault costs does not depend on how long ago
    /// each one did so; then waits for a part of the time until they do again.
    pub(super) fn align(&mut self) {
        for member in &self.members {
            member.run("ALTER SERVER registry OPTIONS (SET connect_timeout '3')");
        }
        let pause = 1_100 + self.rng.below(LEASE.as_millis() as usize / 3 - 1_100);
        std::thread::sleep(Duration::from_millis(pause as u64));
    }

    /// Changes what passes between all members and the registry.
    pub(super) fn let_pass(&self, passing: Passing) {
        self.proxies
            .iter()
            .for_each(|proxy| proxy.let_pass(passing));
    }

    /// Returns the group of the clients of copies.
    pub(super) fn guests(&self) -> usize {
        self.members.len()
    }

    /// Returns clients for each member, and for a copy of one.
    #[must_use]
    pub fn clients(&self) -> Clients {
        let places = self.members.iter().map(Server::place);
        let places = places.chain([self.copies[0].place()]);
        Clients::new(places.map(|place| Group::new(place, &ANY)).collect())
    }

    /// Asserts that no id was issued twice, and that errors were for want of a lease or for a wrong clock. Returns the
    /// number of ids.
    #[track_caller]
    pub fn assert_sound(self, answers: &Answers) -> usize {
        for (code, (_, first)) in &answers.refusals {
            assert!(["55000", "58000"].contains(&code.as_str()), "{first}");
        }
        let lists = || answers.ids.iter().chain(&self.others);
        assert_unique(lists());
        lists().map(Vec::len).sum()
    }

    /// Returns a time that is longer than a lease, at random.
    pub(super) fn longer(&mut self) -> Duration {
        LEASE + Duration::from_millis(700 + self.rng.below(1_500) as u64)
    }

    /// Returns the longest time since the last call for which a client of a member got no id.
    pub(super) fn silence(&self, clients: &Clients) -> Duration {
        let all = (0..self.members.len()).flat_map(|post| (0..ANY.len()).map(move |n| (post, n)));
        let longest = all.map(|(post, client)| clients.silence(post, client));
        longest.max().unwrap_or_default()
    }

    /// Returns a member of which a client got no id since then.
    pub(super) fn find_silent(&self, clients: &Clients, since: u64) -> Option<usize> {
        let mints = |post, client| clients.has_minted(post, client, since);
        (0..self.members.len()).find(|&post| (0..ANY.len()).any(|client| !mints(post, client)))
    }

    /// Returns how many members have a lease that the registry has granted or renewed since `then`, by its own clock.
    pub(super) fn count_renewed(&self, admin: &mut Session, then: &str) -> usize {
        let renewed: i64 = admin.one(&format!(
            "SELECT count(DISTINCT holder) FROM mint.registry_leases
             WHERE place = mint.registry_place() AND lease_until >= '{then}'::timestamptz + interval '{} s'",
            LEASE.as_secs()
        ));
        usize::try_from(renewed).expect("a count")
    }

    /// Waits until all members have renewed their leases after now.
    pub(super) fn wait_for_renewals(&self) {
        let mut admin = self.registry.connect();
        let then = now(&mut admin);
        self.registry.server.until("all members renew", || {
            self.count_renewed(&mut admin, &then) == self.members.len()
        });
    }
}

/// Returns the clock of a registry.
pub(super) fn now(admin: &mut Session) -> String {
    admin.one("SELECT clock_timestamp()::text")
}
