//! The state of a registry, the requests of members, and the answers.

use crate::bytes::hash::splitmix64;
use crate::clock::{DAY, Micros, SECOND};
use std::collections::BTreeMap;
use std::ops::Range;

/// The limits by which a registry grants leases. Members and registries must have the same: [`RingRules::STANDARD`].
/// Tests have shorter ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingRules {
    /// The layouts whose nodes can be leased have at least so many bits of shard: 8, at least 1.
    pub smallest_width: u32,
    /// A ring has at most so many nodes, as a registry looks through all of them: 32,768, at least 1.
    pub largest_ring: u64,
    /// The length of a lease from its grant or its last renewal: 30 s.
    pub lease: Micros,
    /// The time after which a member renews a lease: 10 s.
    pub renewal: Micros,
    /// The most that a server's clock can be off before the server gets nothing: 2.5 s.
    pub skew: Micros,
    /// The time in which a registry that can have forgotten leases grants none: 35 s. A lease can begin by a clock a
    /// skew ahead, and the next one by a clock a skew behind, so **not less than a lease and two skews**.
    pub wait: Micros,
    /// Jumps within this time all keep away from the position before the first of them: a day.
    pub base_lifetime: Micros,
}

impl RingRules {
    /// The lengths of all registries and members.
    pub const STANDARD: Self = Self {
        smallest_width: 8,
        largest_ring: 1 << 15,
        lease: 30 * SECOND,
        renewal: 10 * SECOND,
        skew: 5 * SECOND / 2,
        wait: 35 * SECOND,
        base_lifetime: DAY,
    };

    /// Returns the latest end that a lease can have, by a clock at `now`.
    pub(super) const fn latest_end(&self, now: Micros) -> Micros {
        now.saturating_add(self.skew.saturating_mul(2))
            .saturating_add(self.lease)
    }

    /// Returns the nodes that can be leased of a layout with `width` bits of shard, at most 31: those from the middle
    /// upward.
    ///
    /// # Errors
    /// [`Refusal::Width`] of a width for which there is no ring.
    pub fn ring(&self, width: u32) -> Result<Range<u64>, Refusal> {
        if width < self.smallest_width.max(1) || width > 31 {
            return Err(Refusal::Width);
        }
        let middle = 1 << (width - 1);
        Ok(middle..middle + self.largest_ring.clamp(1, middle))
    }
}

/// The identity of a registry and of the run of its server. Another run has not seen what this one has granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RegistryRun {
    /// A random number that is drawn when shared memory is made. A crash restart has another one, while its server's
    /// start time is the same.
    pub number: i64,
    /// The identifier of the database system.
    pub system: i64,
    /// The timeline of its log.
    pub timeline: u32,
    /// The database, by its OID.
    pub database: u32,
    /// The table of leases, by its OID.
    pub table: u32,
}

/// The position of the ring of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RingPosition {
    /// The node that was granted last.
    pub position: u64,
    /// The position before the first jump within a day.
    pub base: u64,
    /// The time of that jump; [`Micros::MIN`] before the first one.
    pub based: Micros,
    /// True from a start to the next grant, which is elsewhere in the ring.
    pub jumps: bool,
}

/// The state of a registry in its tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RingState {
    /// The exclusive or of [`RingLease::hash`] of the rows of all widths. Rows that somebody else has written or
    /// restored have another one.
    pub digest: u64,
    /// The run that wrote last; none of a new registry.
    pub run: Option<RegistryRun>,
    /// The rings, by their width.
    pub rings: BTreeMap<u32, RingPosition>,
    /// The last lease of each node of the width that is asked for: one until [`Micros::MAX`] keeps its node out of
    /// the ring. For a request that [`RingRules::is_plain_renewal`], the row of its node is enough.
    pub rows: BTreeMap<u64, RingLease>,
}

/// The state of a registry in memory, since its first request in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingMemory {
    /// When the wait began, by the clock since boot.
    pub began: Micros,
    /// The [`RingState::digest`] at the last answer, with the changes of each plain renewal since.
    pub digest: u64,
    /// The time at the start less the clock since boot.
    pub offset: Micros,
}

/// A server's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingClocks {
    /// The time of day.
    pub wall: Micros,
    /// The time since boot, which nobody sets.
    pub boot: Micros,
}

/// A lease of a node: the right to generate ids of it from one timestamp to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RingLease {
    /// The node.
    pub node: u64,
    /// The random number that the member proposed.
    pub number: i64,
    /// The first timestamp of its ids.
    pub from: Micros,
    /// The first timestamp after them.
    pub until: Micros,
}

impl RingLease {
    /// Returns whether it is the same lease, perhaps with another end. The number alone does not tell: a member that
    /// has not heard of its lease repeats the number, and can get another lease for it.
    #[must_use]
    pub const fn is_same(&self, other: Self) -> bool {
        self.node == other.node && self.number == other.number && self.from == other.from
    }

    /// Returns a hash of the lease. Rings have no node in common, so the node stands for its width.
    #[must_use]
    pub fn hash(self) -> u64 {
        let mix = |hash, word: i64| splitmix64(hash ^ word.cast_unsigned());
        [self.number, self.from, self.until]
            .into_iter()
            .fold(self.node, mix)
    }

    /// Returns whether the lease is one that lasts, and that a registry can have granted, by a clock at `now`. A member
    /// that finds the opposite by its own clock drops the lease before it asks for another, and does not release it.
    #[must_use]
    pub const fn is_credible(&self, rules: &RingRules, now: Micros) -> bool {
        let latest = rules.latest_end(now);
        now < self.until && self.until <= latest && self.from <= latest.saturating_sub(rules.lease)
    }
}

/// A request of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RingRequest {
    /// The bits of shard of the layouts for which it asks.
    pub width: u32,
    /// The time by the member's clock when it asked.
    pub clock: Micros,
    /// Its demand.
    pub demand: RingDemand,
}

/// The demand of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum RingDemand {
    /// A new lease with this number, which the member has drawn at random, and repeats until it is answered.
    Grant(i64),
    /// A lease that it holds, for longer.
    Renewal(RingLease),
    /// The end of a lease that it has held, of which no id has the time `used` or a later one. It holds it no more.
    End {
        /// The lease.
        lease: RingLease,
        /// A timestamp after all its ids.
        used: Micros,
    },
}

/// Reason why a member gets no lease, or not the one that it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Refusal {
    /// The member's clock and the registry's differ by more than a skew. The registry has not looked at its state.
    Clock {
        /// The time by which the member's clock is ahead; negative when it is behind.
        ahead: Micros,
    },
    /// Layouts of this width have too few bits of shard, or too many.
    Width,
    /// The registry was started, and can have forgotten leases that last.
    Wait {
        /// The time until it grants new leases.
        left: Micros,
    },
    /// The lease is not renewed: it has ended, or another one of its node lasts, or it is none that a registry grants.
    Over,
    /// All nodes of the ring are leased, or were until two skews ago.
    Full {
        /// The number of nodes of the ring.
        nodes: u64,
        /// The number of them that have a lease that lasts, or are kept out of the ring.
        leased: u64,
    },
}
