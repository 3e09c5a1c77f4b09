//! The identity of a registry as SQL carries it: as four bigints.

use mint_core::Identity;

/// Returns an identity's system, timeline, start and incarnation.
pub fn to_numbers(identity: Identity) -> [i64; 4] {
    [
        identity.system.cast_signed(),
        identity.timeline.into(),
        identity.start,
        identity.incarnation.into(),
    ]
}

/// Returns the identity with these numbers.
pub fn from_numbers([system, timeline, start, incarnation]: [i64; 4]) -> Identity {
    Identity {
        system: system.cast_unsigned(),
        timeline: timeline as u32,
        start,
        incarnation: incarnation as u32,
    }
}
