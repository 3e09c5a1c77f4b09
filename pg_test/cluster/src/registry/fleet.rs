//! A registry, its members and what happens to them, in whatever order.

use crate::load::clients::{Crowd, Post};
use crate::registry::members::{AUTO, Registry};
use crate::server::process::Server;
use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// `kill -9` of a minting session.
    KillSession,
    /// `kill -9` of the worker that asks the registry.
    KillWorker,
    /// `pg_ctl stop -m immediate`.
    StopImmediate,
    /// A clean stop.
    StopFast,
    /// All processes of a member stand still for longer than a slice.
    Freeze,
    /// A clone is started beside its original; then one of them goes.
    Clone,
    /// An old copy of the files takes the member's place.
    OldCopy,
    /// A member's standby is promoted while the member stands still, and goes on beside it.
    Promotion,
    /// A member's clock steps, in milliseconds, and back again.
    Step(i64),
    /// The registry crashes and comes back later.
    RegistryDown,
    /// The registry stands still.
    RegistryFreeze,
    /// The registry is lost, and its standby promoted, which does not know the last grants.
    RegistryPromotion,
}

impl Blow {
    /// Each of them once.
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

/// Numbers by chance, the same ones for the same seed.
pub struct Chance(u64);

impl Chance {
    /// Those of `MINT_SEED`, or new ones.
    #[must_use]
    pub fn new() -> Self {
        let given = std::env::var("MINT_SEED").ok();
        let now = || {
            std::time::SystemTime::UNIX_EPOCH
                .elapsed()
                .map_or(1, |now| now.as_nanos() as u64)
        };
        Self(
            given
                .and_then(|seed| seed.parse().ok())
                .unwrap_or_else(now)
                .max(1),
        )
    }

    /// One below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Changes the order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}

impl Default for Chance {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Chance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MINT_SEED={}", self.0)
    }
}

/// The node that every member lists.
pub const COMMON: &str = "SELECT snowflake_next_id(500)";
/// As whatever node the member is given.
const ANY: [&str; 2] = [
    "SELECT snowflake_next_id()",
    "SELECT snowflake_next_id() FROM generate_series(1, 50)",
];

/// A registry and its members. One more post is for a guest: a copy of a member that lives beside it.
pub struct Fleet {
    registry: Registry,
    members: Vec<Server>,
    /// Copies of the members' files from earlier, not started.
    copies: Vec<Server>,
    guest: Option<Server>,
    chance: Chance,
}

impl Fleet {
    /// Starts them. `None`, said out loud, where something is missing.
    #[must_use]
    pub fn start(registry: Registry, members: usize, chance: Chance) -> Option<Self> {
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
            chance,
        })
    }

    /// Clients for each member, and for a guest.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        let statements = [ANY[0], ANY[1], COMMON];
        let mut posts: Vec<Post> = self
            .members
            .iter()
            .map(|member| Post::new(member.place(), &statements))
            .collect();
        posts.push(Post::new(self.copies[0].place(), &statements));
        Crowd::new(posts)
    }

    /// Deals a blow to one of them. Returns the longest time for which any client of a member went without ids, until
    /// all minted again.
    #[track_caller]
    pub fn survive(&mut self, blow: Blow, crowd: &Crowd, limit: Duration) -> Duration {
        let members = 0..self.members.len();
        let silence = || {
            let of_post = |post| (0..ANY.len()).map(move |client| crowd.silence(post, client));
            members.clone().flat_map(of_post).max()
        };
        silence();
        let number = self.chance.below(self.members.len());
        self.deal(blow, number, crowd);
        // What was held before lasts until then.
        self.registry.wait_for_slices();
        let (since, begun) = (crowd.now(), Instant::now());
        loop {
            let late = members
                .clone()
                .find(|&post| (0..ANY.len()).any(|client| !crowd.has_minted(post, client, since)));
            // One of them has the node that all of them list.
            let common = members
                .clone()
                .any(|post| crowd.has_minted(post, ANY.len(), since));
            if late.is_none() && common {
                return silence().unwrap_or_default();
            }
            assert!(
                begun.elapsed() < limit,
                "{limit:?} after {blow:?} of {:?}, {late:?} does not mint (common node: {common}):\n{}\n{}",
                self.members[number].name(),
                late.map_or_else(String::new, |late| self.members[late].log()),
                self.registry.server.log()
            );
            sleep(Duration::from_millis(20));
        }
    }

    fn deal(&mut self, blow: Blow, number: usize, crowd: &Crowd) {
        let longer =
            self.registry.slice + Duration::from_millis(700 + self.chance.below(1_500) as u64);
        let member = &self.members[number];
        match blow {
            Blow::KillSession => member.kill9_any(),
            Blow::KillWorker => {
                let worker =
                    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
                let pids: Vec<i32> = member.connect("postgres").column(worker);
                pids.into_iter().for_each(|pid| member.kill9(pid));
            }
            Blow::StopImmediate => {
                member.stop_immediate();
                member.start_again();
            }
            Blow::StopFast => member.restart(),
            Blow::Freeze => {
                let frozen = member.freeze();
                sleep(longer);
                drop(frozen);
            }
            Blow::Clone => {
                let clone = member.copied("a clone");
                clone.start_again();
                self.receive(clone, number, crowd, longer);
            }
            Blow::OldCopy => {
                member.stop_immediate();
                self.copies[number].start_again();
                crowd.posts[number]
                    .place
                    .move_to(&self.copies[number].place());
                let next = self.copies[number].copied("an old copy");
                self.members[number] = std::mem::replace(&mut self.copies[number], next);
            }
            Blow::Promotion => {
                let standby = member.standby("a standby");
                member.wait_for(&standby);
                let frozen = member.freeze();
                standby.promote();
                let thawed = longer / 2;
                sleep(thawed);
                drop(frozen);
                self.receive(standby, number, crowd, longer);
            }
            Blow::Step(by) => {
                member.set_clock(&format!("{:+.3}", by as f64 / 1e3));
                sleep(longer);
                member.set_clock("+0");
            }
            Blow::RegistryDown => {
                self.registry.server.stop_immediate();
                sleep(longer);
                self.registry.server.start_again();
            }
            Blow::RegistryFreeze => {
                let frozen = self.registry.server.freeze();
                sleep(longer);
                drop(frozen);
            }
            Blow::RegistryPromotion => self.promote_registry(),
        }
    }

    /// A copy mints beside its original for a while. Then the one or the other goes.
    fn receive(&mut self, guest: Server, number: usize, crowd: &Crowd, stay: Duration) {
        let (post, since) = (&crowd.posts[self.members.len()], crowd.now());
        post.place.move_to(&guest.place());
        guest.until("the copy mints", || {
            crowd.has_minted(self.members.len(), 0, since)
        });
        sleep(stay);
        if self.chance.below(2) == 0 {
            guest.stop_immediate();
        } else {
            self.members[number].stop_immediate();
            crowd.posts[number].place.move_to(&guest.place());
            let gone = std::mem::replace(&mut self.members[number], guest);
            post.place.move_to(&gone.place());
            self.guest = Some(gone);
        }
    }

    fn promote_registry(&mut self) {
        let standby = self.registry.server.standby("the registry's standby");
        self.registry.server.wait_for(&standby);
        let mut session = standby.connect("postgres");
        session.set_for_server("primary_conninfo", "''");
        drop(session);
        // What is granted from here on is forgotten.
        sleep(self.registry.slice / 2);
        self.registry.server.stop_immediate();
        standby.promote();
        self.registry.move_to(standby);
    }
}
