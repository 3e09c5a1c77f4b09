//! The messages between members and the registry: JSON, in which both ignore fields that they do not know. So the
//! protocol can grow while old and new servers live side by side.

use crate::pg::error::impossible;
use crate::pg::worker::transaction::one_line;
use mint_core::registry::ring::{Refusal, RingLease, RingRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The number of the protocol, which every message has. A new field that the other side can ignore does not change it.
pub const PROTOCOL: u32 = 1;

/// The request of a member.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MemberRequest {
    /// The name of the server that the registry shows.
    pub holder: String,
    #[serde(flatten)]
    pub ring: RingRequest,
}

/// The reply of the registry. The answer is a field, so that others can stand beside it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RegistryReply {
    pub answer: RegistryAnswer,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryAnswer {
    /// The lease, as it is now.
    Lease(RingLease),
    /// The reason why there is none.
    Refusal(Refusal),
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

/// The reason why a message cannot be read.
#[derive(Debug)]
pub enum UnreadableMessage {
    /// It has a protocol that this library does not know.
    Protocol(i64),
    /// A field is missing, has another type or is out of range.
    Malformed(String),
}

impl From<serde_json::Error> for UnreadableMessage {
    fn from(error: serde_json::Error) -> Self {
        // The error quotes the sender.
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
/// [`UnreadableMessage`] has the reason.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, UnreadableMessage> {
    let message: Value = serde_json::from_str(text)?;
    let Version { protocol } = Version::deserialize(&message)?;
    if protocol != i64::from(PROTOCOL) {
        return Err(UnreadableMessage::Protocol(protocol));
    }
    Ok(T::deserialize(message)?)
}
