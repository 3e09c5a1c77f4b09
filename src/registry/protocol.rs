//! What members and the registry say to each other: JSON, in which both ignore fields that they do not know. So the
//! protocol can grow while old and new servers live side by side.

use crate::pg::datum::json::list;
use crate::pg::error::impossible;
use crate::pg::worker::transaction::one_line;
use mint_core::registry::assigned_rules::{KEYS, Proof};
use mint_core::{LeaseTerm, LogPoint, Micros};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::RangeInclusive;

/// The number of the protocol, which every message has. A new field that the other side can ignore does not change it.
pub const PROTOCOL: u32 = 1;

/// The most ranges of nodes that a member can tell that it lists.
pub const MAX_LISTED: usize = 64;

/// What a member asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// A new lease, or the renewal of one.
    Lease(Box<LeaseRequest>),
    /// The end of a lease, under which the member has minted nothing at or after `until`.
    Release { id: i64, until: Micros },
}

/// A request for a new lease, or for the renewal of one. All times are in microseconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The width of the nodes in bits.
    pub node_bits: i32,
    /// The first node and the last; none means any node.
    pub nodes: Option<(i64, i64)>,
    /// The ranges of nodes that the member's settings list, which no member gets that requests any node.
    #[serde(default, deserialize_with = "list")]
    pub listed: Vec<(i64, i64)>,
    /// The lease to renew, as its holder knows it; none means a new one.
    pub lease: Option<NumberedTerm>,
    /// The name that views show.
    pub holder: String,
    /// The identifier of the member's database system.
    pub system: i64,
    /// The time by the member's clock.
    pub clock: Micros,
    /// How much of the registry's history the member has seen.
    pub seen: Option<LogPoint>,
    /// Of a member that requests the node which was assigned to it; none of others.
    pub assignee: Option<Assignee>,
}

/// The longest limit of [`Assignee::max_outage`]: as many seconds as a setting has.
const LONGEST_OUTAGE: Micros = i32::MAX as Micros * 1_000_000;

/// A member that requests the node which was assigned to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Assignee {
    /// Its machine and its directory, for people.
    pub place: String,
    /// For how long it uses the node without the registry; none means without a limit.
    pub max_outage: Option<Micros>,
    /// What shows that the node is the member's own.
    #[serde(flatten)]
    pub proof: Proof,
}

/// A lease without its nodes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct NumberedTerm {
    pub id: i64,
    #[serde(flatten)]
    pub term: LeaseTerm,
}

/// The answer to a [`LeaseRequest`].
#[derive(Debug, Serialize, Deserialize)]
pub struct LeaseAnswer {
    /// The lease that is granted; of a renewal that is denied for a time, the lease as it was.
    pub lease: Option<NumberedTerm>,
    /// Its first node and its last: some of those that were requested, or all.
    pub nodes: Option<(i64, i64)>,
    /// The length of leases.
    pub length: Micros,
    /// The registry's identity, and where its log ends; none where the registry has not looked at its own state. Else a
    /// member learns it, also from a denial.
    pub seen: Option<LogPoint>,
    /// The reason why nothing is granted.
    pub denial: Option<String>,
    /// Whether that is because no node is assigned to the member.
    #[serde(default)]
    pub is_unassigned: bool,
    /// Whether that is because another server uses the node that was the member's: it must stop.
    #[serde(default)]
    pub is_stranger: bool,
}

impl LeaseAnswer {
    /// Returns the lease that is granted, and its nodes. Of an answer that a member has checked.
    ///
    /// # Errors
    /// Why none is granted.
    pub fn granted(self) -> Result<(NumberedTerm, RangeInclusive<u64>), String> {
        match (self.denial, self.lease, self.nodes) {
            (Some(why), ..) => Err(why),
            (None, Some(lease), Some((first, last))) => {
                Ok((lease, first.unsigned_abs()..=last.unsigned_abs()))
            }
            _ => impossible("lease that is neither granted nor denied"),
        }
    }
}

/// The answer to [`Request::Release`].
#[derive(Debug, Serialize)]
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
struct Version {
    protocol: i64,
}

/// Why a message cannot be read.
#[derive(Debug)]
pub enum UnreadableMessage {
    /// It is of a protocol that this library does not know.
    Protocol(i64),
    /// It lacks something, or something is of another type or out of range.
    Malformed(String),
}

impl From<serde_json::Error> for UnreadableMessage {
    fn from(error: serde_json::Error) -> Self {
        // It quotes the sender.
        Self::Malformed(one_line(&error.to_string()))
    }
}

/// Writes a message.
pub fn write<T: Serialize>(body: &T) -> String {
    let message = Message {
        protocol: PROTOCOL,
        body,
    };
    serde_json::to_string(&message).unwrap_or_else(|_| impossible("message that is not JSON"))
}

/// Reads a message.
///
/// # Errors
/// [`UnreadableMessage`] says why.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, UnreadableMessage> {
    let message: Value = serde_json::from_str(text)?;
    let Version { protocol } = Version::deserialize(&message)?;
    if protocol != i64::from(PROTOCOL) {
        return Err(UnreadableMessage::Protocol(protocol));
    }
    Ok(T::deserialize(message)?)
}

impl LeaseRequest {
    /// Checks what the types of the fields do not tell.
    ///
    /// # Errors
    /// Which field is wrong.
    pub fn check(&self) -> Result<(), String> {
        let refuse = |field: &str, what: &str| Err(format!("field \"{field}\" {what}"));
        if self.listed.len() > MAX_LISTED {
            return refuse("listed", &format!("must have at most {MAX_LISTED} ranges"));
        }
        match &self.assignee {
            None if self.lease.is_some() && self.nodes.is_none() => refuse("nodes", "is missing"),
            Some(own) if own.proof.keys.len() > KEYS => {
                refuse("assignee.keys", &format!("must have at most {KEYS} keys"))
            }
            Some(Assignee {
                max_outage: Some(outage),
                ..
            }) if !(0..=LONGEST_OUTAGE).contains(outage) => {
                refuse("assignee.max_outage", "is out of range")
            }
            _ => Ok(()),
        }
    }
}
