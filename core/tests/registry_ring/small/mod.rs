//! Small worlds, all of which are searched, and what the searches differ in.

use mint_core::registry::ring::RingRules;
use std::fmt::Arguments;

pub mod canonical;
mod damage;
mod message;
pub mod search;
mod step;
mod term;
pub mod world;

/// The bits of shard.
pub const WIDTH: u32 = 3;
/// The most nodes, members, and leases of a node that have not ended long ago.
pub const NODES: usize = 4;
pub const MEMBERS: usize = 3;
pub const CLAIMS: usize = 6;

/// A rule that is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    Nothing,
    /// Members whose clock is another are refused.
    ClockCheck,
    /// A new run is a start.
    RunCheck,
    /// Tables with other rows than before are a start.
    DigestCheck,
    /// Each write counts, also that of a plain renewal.
    PlainDigest,
    /// A clock that has moved is a start.
    OffsetCheck,
    /// A lease and two skews, not a tick less.
    WaitTick,
    /// A lease that has ended is not revived.
    Revival,
    /// The end is the greatest that is known.
    GreatestEnd,
    /// A lease is not renewed while another one of its node lasts.
    TakenCheck,
    /// A node is granted again two skews after its last lease.
    Rest,
    /// A node is granted again a skew after it.
    HalfRest,
    /// A lease that is ended has its last id.
    UsedEnd,
}

impl Without {
    pub const ALL: [Self; 12] = [
        Self::ClockCheck,
        Self::RunCheck,
        Self::DigestCheck,
        Self::PlainDigest,
        Self::OffsetCheck,
        Self::WaitTick,
        Self::Revival,
        Self::GreatestEnd,
        Self::TakenCheck,
        Self::Rest,
        Self::HalfRest,
        Self::UsedEnd,
    ];
}

/// The size and the faults of the worlds that are searched.
#[derive(Debug, Clone)]
pub struct Small {
    pub rules: RingRules,
    pub nodes: usize,
    pub members: usize,
    /// The most faults that there can be.
    pub faults: u8,
    /// The clocks of a registry at a request, less the time. A member's is the same: if it were another, within the skew, the
    /// member could only drop its lease sooner, which it can do at any time.
    pub clocks: Vec<i64>,
    /// True if the registry's server can be started, its tables be restored, it be reverted with its memory.
    pub restarts: bool,
    pub restores: bool,
    pub reverts: bool,
    /// True if messages are lost, and if they are late and doubled.
    pub losses: bool,
    pub delays: bool,
    /// The most copies of the tables that can be made, one after the other.
    pub copies: u8,
    pub without: Without,
    /// True if steps are told in words.
    pub words: bool,
}

impl Small {
    pub fn new(nodes: usize, members: usize, skew: i64) -> Self {
        let lease = 2;
        Self {
            rules: RingRules {
                smallest_width: 1,
                largest_ring: nodes as u64,
                lease,
                renewal: 1,
                skew,
                wait: lease + 2 * skew,
                base_lifetime: 0,
            },
            nodes,
            members,
            faults: 2,
            clocks: vec![0],
            restarts: false,
            restores: false,
            reverts: false,
            losses: false,
            delays: false,
            copies: 1,
            without: Without::Nothing,
            words: false,
        }
    }

    /// Clocks that are right, within the skew.
    pub fn right(mut self) -> Self {
        let skew = self.rules.skew;
        self.clocks = vec![-skew, 0, skew];
        self.clocks.dedup();
        (self.restarts, self.restores) = (true, true);
        (self.losses, self.delays) = (true, true);
        self
    }

    /// Clocks of any kind, and nothing lost.
    pub fn any_clocks(mut self, far: i64) -> Self {
        self.clocks = vec![-far, 0, far];
        (self.restarts, self.losses, self.delays) = (true, true, true);
        self
    }

    /// Words for a step.
    pub fn says(&self, words: Arguments<'_>) -> String {
        if self.words {
            words.to_string()
        } else {
            String::new()
        }
    }

    pub fn with_faults(mut self, faults: u8) -> Self {
        self.faults = faults;
        self
    }

    /// Reverted machines; then no message is late: a request of the past would find a registry of the past.
    pub fn with_reverts(mut self) -> Self {
        self.reverts = true;
        self
    }

    /// No message is late, nor doubled.
    pub fn on_time(mut self) -> Self {
        self.delays = false;
        self
    }

    /// The latest clock of a member that asks a registry with this one: what is late is not too late for longest.
    pub fn sent(&self, registry: i64) -> i64 {
        let latest = self.clocks.iter().max().unwrap();
        latest.min(&(registry + self.rules.skew)).to_owned()
    }

    /// The earliest time that any clock can show.
    pub fn earliest_clock(&self) -> i64 {
        *self.clocks.iter().min().unwrap()
    }

    pub fn without(mut self, without: Without) -> Self {
        self.without = without;
        if without == Without::WaitTick {
            self.rules.wait -= 1;
        }
        self
    }
}
