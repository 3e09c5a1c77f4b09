//! Which registry it is: its identity, and points in its history, by which it notices that it can have forgotten something.

use crate::clock::Micros;

/// The identity of a registry, which changes when the registry can have forgotten something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Identity {
    /// The identifier of the database system. Another one was restored from a dump.
    #[cfg_attr(feature = "serde", serde(with = "signed"))]
    pub system: u64,
    /// The timeline of its log. Another one was promoted, or restored to a point in time.
    pub timeline: u32,
    /// The start of its server. Another one may run on an old copy of the disk.
    pub start: Micros,
    /// Which quarantine was the last.
    pub incarnation: Incarnation,
}

impl Identity {
    /// Returns whether this identity can be one that a registry with identity `now` had earlier.
    pub(super) fn is_before(self, now: Self) -> bool {
        let is_earlier = self.incarnation.lead_of(now.incarnation) > 0;
        is_earlier && self.system == now.system && self.timeline <= now.timeline
    }
}

/// A quarantine of a registry, or its beginning: a count of quarantines in the upper half, also of those under earlier
/// identities, and random bits in the lower half. So two copies of a registry that have begun as many quarantines since
/// differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Incarnation(#[cfg_attr(feature = "serde", serde(with = "signed"))] pub u64);

impl Incarnation {
    /// How far the word of a member can move the count. If it were more, a few lies would move it around.
    const LARGEST_LEAD: i32 = 1 << 16;

    const fn count(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns by how many quarantines another one is later. Counts are compared as serial numbers: half of all are before
    /// one, and half are after it.
    const fn lead_of(self, other: Self) -> i32 {
        other.count().wrapping_sub(self.count()).cast_signed()
    }

    /// Returns the one that follows this one and those that were seen.
    pub(super) const fn next(self, seen: Option<Self>, random: u32) -> Self {
        let latest = match seen {
            Some(seen) if 0 < self.lead_of(seen) && self.lead_of(seen) <= Self::LARGEST_LEAD => {
                seen
            }
            _ => self,
        };
        let count = latest.count().wrapping_add(1);
        Self((count as u64) << 32 | random as u64)
    }
}

/// A point in the history of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogPoint {
    /// The registry.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub identity: Identity,
    /// The position in its log.
    #[cfg_attr(feature = "serde", serde(with = "signed"))]
    pub position: u64,
}

impl LogPoint {
    /// Returns whether a registry that tells this history can be one that had told `before`: its log has not become
    /// shorter, or it has begun a quarantine. Else it has changed behind its own back.
    #[must_use]
    pub fn may_follow(self, before: Self) -> bool {
        if self.is_of_history(before.identity) {
            self.position >= before.position
        } else {
            self.identity.incarnation != before.identity.incarnation
        }
    }

    /// Returns whether it is a point in the history of the registry with this identity: the start of a server may have been
    /// planned.
    pub(super) fn is_of_history(self, identity: Identity) -> bool {
        let start = identity.start;
        Identity {
            start,
            ..self.identity
        } == identity
    }
}

/// Numbers of 64 bits in messages: as SQL has them, with a sign.
#[cfg(feature = "serde")]
mod signed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        number.cast_signed().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        i64::deserialize(from).map(i64::cast_unsigned)
    }
}
