//! Identities of registries as SQL carries them, and nodes as messages describe them.

use mint_core::{Identity, Incarnation};
use std::fmt::Display;

/// Returns an identity's system, timeline, start and incarnation.
pub fn to_numbers(identity: Identity) -> [i64; 4] {
    [
        identity.system.cast_signed(),
        identity.timeline.into(),
        identity.start,
        identity.incarnation.0.cast_signed(),
    ]
}

/// Returns the identity with these numbers.
pub fn from_numbers([system, timeline, start, incarnation]: [i64; 4]) -> Identity {
    Identity {
        system: system.cast_unsigned(),
        timeline: timeline as u32,
        start,
        incarnation: Incarnation(incarnation.cast_unsigned()),
    }
}

/// Describes a range of nodes in a message.
pub fn describe_nodes<T: PartialEq + Display>(width: u32, first: &T, last: &T) -> String {
    if first == last {
        format!("node {first} ({})", bits(width))
    } else {
        format!("nodes {first} to {last} ({})", bits(width))
    }
}

/// Describes the width of a node in a message.
pub fn bits(width: u32) -> String {
    match width {
        1 => "1 bit".to_owned(),
        _ => format!("{width} bits"),
    }
}
