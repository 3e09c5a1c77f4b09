//! Registries and leases that the tests begin with.

use mint_core::{Identity, Incarnation, LeaseEnd, LeaseTerm, LogPoint, Micros, Registry};

pub const SECOND: Micros = 1_000_000;
pub const LENGTH: Micros = 10 * SECOND;
pub const SKEW: Micros = SECOND;
pub const NOW: Micros = 1_000 * SECOND;

pub const ME: Identity = Identity {
    system: 7,
    timeline: 3,
    start: 5,
    incarnation: Incarnation(0),
};

/// The random bits of each quarantine that is no copy's.
pub const RANDOM: u32 = 0x8000_0007;

/// Returns the one with this count of quarantines.
pub const fn incarnation(count: u32) -> Incarnation {
    Incarnation((count as u64) << 32 | RANDOM as u64)
}

/// Returns how many quarantines were begun.
pub const fn count(registry: &Registry) -> u32 {
    (registry.identity.incarnation.0 >> 32) as u32
}

pub fn registry() -> Registry {
    Registry::new(LENGTH, SKEW, ME)
}

/// Returns a registry at the start of a quarantine.
pub fn quarantined() -> Registry {
    let mut registry = registry();
    registry.quarantine(NOW, RANDOM);
    registry
}

pub fn term(from: Micros, until: Micros) -> LeaseTerm {
    LeaseTerm { from, until }
}

/// Returns the ends of leases whose nodes are free at once.
pub fn ends<const N: usize>(until: [Micros; N]) -> [LeaseEnd; N] {
    until.map(|until| LeaseEnd {
        until,
        free_from: until,
    })
}

pub fn seen(identity: Identity, position: u64) -> LogPoint {
    LogPoint { identity, position }
}

pub const HUGE: Micros = 1_000_000 * SECOND;
