//! What members and the registry say to each other: JSON, in which both ignore fields that they do not know. So the
//! protocol can grow while old and new servers live side by side.

use crate::registry::identity;
use mint_core::{LogPoint, Micros};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The number of the protocol, which every message has. A new field that the other side may ignore does not change it.
pub const PROTOCOL: u32 = 1;

/// What a member asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// A new lease, or the renewal of one.
    Lease(LeaseRequest),
    /// The end of a lease, under which the member has minted nothing at or after `until`.
    Release { id: i64, until: Micros },
}

/// A request for a new lease, or for the renewal of one. All times are in microseconds since 1970.
#[derive(Debug, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The width of the nodes in bits.
    pub node_bits: i32,
    /// The first node and the last; none means any node.
    pub nodes: Option<(i64, i64)>,
    /// The lease to renew, as its holder knows it; none means a new one.
    pub lease: Option<Term>,
    /// The name that views show.
    pub holder: String,
    /// The identifier of the member's database system.
    pub system: i64,
    /// The time by the member's clock.
    pub clock: Micros,
    /// How much of the registry's history the member has seen.
    pub seen: Option<Seen>,
}

/// A lease without its nodes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Term {
    pub id: i64,
    pub from: Micros,
    pub until: Micros,
}

/// The registry's identity, and a position in its log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Seen {
    pub system: i64,
    pub timeline: i64,
    pub start: i64,
    pub incarnation: i64,
    pub position: i64,
}

impl From<LogPoint> for Seen {
    fn from(point: LogPoint) -> Self {
        let [system, timeline, start, incarnation] = identity::to_numbers(point.identity);
        Self {
            system,
            timeline,
            start,
            incarnation,
            position: point.position.cast_signed(),
        }
    }
}

impl From<Seen> for LogPoint {
    fn from(seen: Seen) -> Self {
        let numbers = [seen.system, seen.timeline, seen.start, seen.incarnation];
        Self {
            identity: identity::from_numbers(numbers),
            position: seen.position.cast_unsigned(),
        }
    }
}

/// The answer to a [`LeaseRequest`].
#[derive(Debug, Serialize, Deserialize)]
pub struct LeaseAnswer {
    /// The lease that is granted; of a renewal that is denied for a time, the lease as it was.
    pub lease: Option<Term>,
    /// Its first node and its last.
    pub nodes: Option<(i64, i64)>,
    /// The length of leases.
    pub length: Micros,
    pub seen: Seen,
    /// The reason why nothing is granted.
    pub denial: Option<String>,
}

/// The answer to [`Request::Release`].
#[derive(Debug, Serialize, Deserialize)]
pub struct ReleaseAnswer {
    /// False when there was no such lease.
    pub released: bool,
}

/// A message with the number of its protocol.
#[derive(Serialize)]
struct Message<'a, T> {
    protocol: u32,
    #[serde(flatten)]
    body: &'a T,
}

/// The part of a message that all protocols have.
#[derive(Deserialize)]
#[serde(expecting = "an object with the number of its protocol")]
struct Version {
    protocol: u32,
}

/// Why a message cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It is of a protocol that this library does not know.
    Protocol(u32),
    /// It lacks something, or something is of another type.
    Malformed(String),
}

/// Writes a message.
pub fn write<T: Serialize>(body: &T) -> String {
    let message = Message {
        protocol: PROTOCOL,
        body,
    };
    // The messages have no maps with other keys than texts, and nothing else fails.
    serde_json::to_string(&message).unwrap_or_default()
}

/// Reads a message.
///
/// # Errors
/// [`Unreadable`] says why.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    let malformed = |error: serde_json::Error| Unreadable::Malformed(error.to_string());
    match serde_json::from_str(text).map_err(malformed)? {
        Version { protocol: PROTOCOL } => serde_json::from_str(text).map_err(malformed),
        Version { protocol } => Err(Unreadable::Protocol(protocol)),
    }
}
