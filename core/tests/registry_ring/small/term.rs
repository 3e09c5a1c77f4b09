//! Leases in few bits.

use crate::small::WIDTH;
use mint_core::registry::ring::RingLease;

/// A number that no member knows.
pub const DEAD: u8 = 255;
pub const FIRST: u64 = 1 << (WIDTH - 1);
const NEVER: i16 = -1_000;

/// A lease, a row or a claim of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    pub from: i16,
    pub until: i16,
    pub number: u8,
}

pub const NO_TERM: Term = Term {
    from: NEVER,
    until: NEVER,
    number: 0,
};

impl Term {
    pub fn exists(self) -> bool {
        self.number != 0
    }

    pub fn lease(self, node: u8) -> RingLease {
        RingLease {
            node: FIRST + u64::from(node),
            number: self.number.into(),
            from: self.from.into(),
            until: self.until.into(),
        }
    }

    pub fn of(lease: &RingLease) -> (u8, Self) {
        let node = u8::try_from(lease.node - FIRST).unwrap();
        let term = Self {
            from: i16::try_from(lease.from).unwrap(),
            until: i16::try_from(lease.until).unwrap(),
            number: u8::try_from(lease.number).unwrap(),
        };
        (node, term)
    }
}
