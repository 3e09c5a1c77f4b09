//! A registry, and how it is asked.

use mint_core::Micros;
use mint_core::registry::ring::{
    Refusal, RegistryRun, RingClocks, RingDemand, RingLease, RingMemory, RingRequest, RingRules,
    RingState,
};
use std::collections::BTreeMap;

pub const SECOND: Micros = 1_000_000;
pub const HOUR: Micros = 3_600 * SECOND;
/// When histories begin.
pub const BEGIN: Micros = 1_000_000 * HOUR;
/// The bits of shard, and the first node of their ring.
pub const WIDTH: u32 = 9;
pub const FIRST: u64 = 1 << (WIDTH - 1);

/// A rule that is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    Nothing,
    /// A start jumps to another place of the ring.
    Jump,
    /// Nodes are granted in the order of the ring.
    Order,
    /// A start jumps far from the base.
    Base,
    /// A start jumps far from the position.
    Position,
    /// The last quarter that ended rests.
    Rest,
}

impl Without {
    pub const ALL: [Self; 5] = [
        Self::Jump,
        Self::Order,
        Self::Base,
        Self::Position,
        Self::Rest,
    ];
}

#[derive(Debug, Clone)]
pub struct Registry {
    pub state: RingState,
    pub memory: Option<RingMemory>,
    pub run: i64,
    /// The distance by which its clock is ahead.
    pub ahead: Micros,
    /// The numbers of grants and jumps since the copy was made.
    pub grants: u64,
    pub jumps: u32,
    /// The most leases that lasted at one of these, by its clock.
    pub leased: u64,
}

pub fn run(number: i64) -> RegistryRun {
    RegistryRun {
        number,
        system: 1,
        timeline: 1,
        database: 1,
        table: 1,
    }
}

impl Registry {
    /// Answers, and counts.
    pub fn answer(
        &mut self,
        rules: &RingRules,
        without: Without,
        demand: RingDemand,
        clock: Micros,
        now: Micros,
        random: u64,
    ) -> Result<RingLease, Refusal> {
        let wall = now + self.ahead;
        let clocks = RingClocks {
            wall,
            boot: now - BEGIN + HOUR,
        };
        let request = RingRequest {
            width: WIDTH,
            clock,
            demand,
        };
        if clock.abs_diff(wall) > rules.skew.unsigned_abs() {
            return Err(Refusal::Clock {
                ahead: clock - wall,
            });
        }
        let digest = self.state.digest;
        // A plain renewal does not know the other rows.
        self.state.digest = self.memory.map_or(digest, |kept| kept.digest);
        let is_plain =
            rules.is_plain_renewal(&self.state, self.memory, run(self.run), &request, clocks);
        if !is_plain {
            self.state.digest = digest;
        }
        self.damage(rules, without, wall);
        let jumps = self.state.rings[&WIDTH].jumps;
        let rested = match demand {
            RingDemand::Grant(_) => self.take_rested(rules, without, wall),
            _ => BTreeMap::new(),
        };
        let before = self.state.digest;
        let answer = rules.answer(
            &mut self.state,
            &mut self.memory,
            run(self.run),
            &request,
            clocks,
            random,
        );
        let change = self.state.digest ^ before;
        self.state.digest = digest ^ change;
        for (node, row) in rested {
            self.state.rows.entry(node).or_insert(row);
        }
        if matches!(demand, RingDemand::Grant(_)) && change != 0 {
            self.jumps += u32::from(jumps);
            self.grants += 1;
            self.leased = self.leased.max(self.count_lasting(wall));
        }
        answer
    }

    /// Returns how many leases last.
    pub fn count_lasting(&self, wall: Micros) -> u64 {
        let rows = self.state.rows.values();
        let lasts = |lease: &&RingLease| lease.until > wall && lease.until < Micros::MAX;
        rows.filter(lasts).count() as u64
    }

    /// Returns how many nodes are kept out of the ring.
    pub fn kept_out(&self) -> u64 {
        let rows = self.state.rows.values();
        rows.filter(|lease| lease.until == Micros::MAX).count() as u64
    }

    fn damage(&mut self, rules: &RingRules, without: Without, wall: Micros) {
        let at = self.state.rings.get_mut(&WIDTH).unwrap();
        match without {
            Without::Jump => at.jumps = false,
            Without::Order => (at.position, at.jumps) = (FIRST, false),
            Without::Position if at.jumps && (wall - at.based).abs() <= rules.base_lifetime => {
                at.position = at.base;
            }
            _ => {}
        }
    }

    /// Takes out the rows of nodes that rest.
    fn take_rested(
        &mut self,
        rules: &RingRules,
        without: Without,
        wall: Micros,
    ) -> BTreeMap<u64, RingLease> {
        let over = wall - 2 * rules.skew;
        let is_over = |row: &RingLease| without == Without::Rest && row.until < over;
        let rows = self.state.rows.iter();
        let rested: BTreeMap<u64, RingLease> = rows
            .filter(|(_, row)| is_over(row))
            .map(|(node, row)| (*node, *row))
            .collect();
        self.state.rows.retain(|node, _| !rested.contains_key(node));
        rested
    }
}
