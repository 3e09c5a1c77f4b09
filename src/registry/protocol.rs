//! What members and the registry say to each other: JSON, in which both ignore fields that they do not know. So the
//! protocol can grow while old and new servers live side by side.

use crate::registry::fields::Fields;
use crate::registry::identity;
use mint_core::registry::assigned_rules::{KEYS, Key, Proof};
use mint_core::{LogPoint, Micros};
use serde::{Deserialize, Serialize};

/// The number of the protocol, which every message has. A new field that the other side may ignore does not change it.
pub const PROTOCOL: u32 = 1;

/// The most ranges of nodes that a member can tell that it lists.
pub const MAX_LISTED: usize = 64;

/// What a member asks.
#[derive(Debug, Serialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// A new lease, or the renewal of one.
    Lease(Box<LeaseRequest>),
    /// The end of a lease, under which the member has minted nothing at or after `until`.
    Release { id: i64, until: Micros },
}

/// A request for a new lease, or for the renewal of one. All times are in microseconds since 1970.
#[derive(Debug, Serialize)]
pub struct LeaseRequest {
    /// The width of the nodes in bits.
    pub node_bits: i32,
    /// The first node and the last; none means any node.
    pub nodes: Option<(i64, i64)>,
    /// The first and the last of all nodes that the member's settings list, which nobody gets who takes any.
    pub listed: Vec<(i64, i64)>,
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
    /// Of a member that requests the node which was assigned to it; none of others.
    pub assignee: Option<Assignee>,
}

/// The longest limit of [`Assignee::max_outage`]: as many seconds as a setting has.
const LONGEST_OUTAGE: Micros = i32::MAX as Micros * 1_000_000;

/// A member that requests the node which was assigned to it.
#[derive(Debug, Clone, Serialize)]
pub struct Assignee {
    /// Its machine and its directory, for people.
    pub place: String,
    /// For how long it uses the node without the registry; none means without a limit.
    pub max_outage: Option<Micros>,
    /// [`Proof::origin`].
    pub origin: i64,
    /// [`Proof::instance`].
    pub instance: i64,
    /// [`Proof::keys`]: the counter and the number of each.
    pub keys: Vec<(i64, i64)>,
    /// [`Proof::next`].
    pub next: Option<(i64, i64)>,
}

impl Assignee {
    /// Returns what shows that the node is the member's own.
    pub fn proof(&self) -> Proof {
        let key = |&(counter, number): &(i64, i64)| Key { counter, number };
        Proof {
            origin: self.origin,
            keys: self.keys.iter().map(key).collect(),
            next: self.next.as_ref().map(key),
            instance: self.instance,
        }
    }
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
    /// Its first node and its last: some of those that were requested, or all.
    pub nodes: Option<(i64, i64)>,
    /// The length of leases.
    pub length: Micros,
    /// None where the registry has not looked at its own state. Else a member learns it, also from a denial.
    pub seen: Option<Seen>,
    /// The reason why nothing is granted.
    pub denial: Option<String>,
    /// Whether that is because no node is assigned to the member.
    #[serde(default)]
    pub is_unassigned: bool,
    /// Whether that is because another server uses the node that was the member's: it must stop.
    #[serde(default)]
    pub is_stranger: bool,
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

/// Why a message cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It is of a protocol that this library does not know.
    Protocol(i64),
    /// It lacks something, or something is of another type.
    Malformed(String),
}

impl From<String> for Unreadable {
    fn from(why: String) -> Self {
        Self::Malformed(why)
    }
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

/// Reads a request.
///
/// # Errors
/// [`Unreadable`] says why.
pub fn read_request(text: &str) -> Result<Request, Unreadable> {
    // A jsonb is well-formed, but may have numbers and depths that are not read.
    let message = serde_json::from_str(text);
    let message = message
        .map_err(|_| "the request is nested too deeply, or a number is out of range".to_owned())?;
    let fields = Fields::of(&message)?;
    let protocol = fields.integer("protocol")?;
    if protocol != i64::from(PROTOCOL) {
        return Err(Unreadable::Protocol(protocol));
    }
    Ok(match fields.text("request")? {
        "lease" => Request::Lease(Box::new(LeaseRequest::of(&fields)?)),
        "release" => Request::Release {
            id: fields.integer("id")?,
            until: fields.integer("until")?,
        },
        _ => Err(fields.refusal("request", "must be \"lease\" or \"release\""))?,
    })
}

impl LeaseRequest {
    fn of(fields: &Fields<'_>) -> Result<Self, String> {
        let term = |fields: Fields<'_>| {
            Ok::<_, String>(Term {
                id: fields.integer("id")?,
                from: fields.integer("from")?,
                until: fields.integer("until")?,
            })
        };
        let seen = |fields: Fields<'_>| {
            Ok::<_, String>(Seen {
                system: fields.integer("system")?,
                timeline: fields.integer("timeline")?,
                start: fields.integer("start")?,
                incarnation: fields.integer("incarnation")?,
                position: fields.integer("position")?,
            })
        };
        let assignee = |fields: Fields<'_>| {
            Ok::<_, String>(Assignee {
                place: fields.text("place")?.to_owned(),
                max_outage: fields.optional_integer("max_outage")?,
                origin: fields.integer("origin")?,
                instance: fields.integer("instance")?,
                keys: fields.ranges("keys", KEYS)?,
                next: fields.range("next")?,
            })
        };
        let request = Self {
            node_bits: fields.integer("node_bits")?,
            nodes: fields.range("nodes")?,
            listed: fields.ranges("listed", MAX_LISTED)?,
            lease: fields.object("lease")?.map(term).transpose()?,
            holder: fields.text("holder")?.to_owned(),
            system: fields.integer("system")?,
            clock: fields.integer("clock")?,
            seen: fields.object("seen")?.map(seen).transpose()?,
            assignee: fields.object("assignee")?.map(assignee).transpose()?,
        };
        let outage = request.assignee.as_ref().and_then(|own| own.max_outage);
        if outage.is_some_and(|outage| !(0..=LONGEST_OUTAGE).contains(&outage)) {
            return Err(fields.refusal("assignee.max_outage", "is out of range"));
        }
        match (&request.lease, request.nodes) {
            (Some(_), None) if request.assignee.is_none() => {
                Err(fields.refusal("nodes", "is missing"))
            }
            _ => Ok(request),
        }
    }
}

/// Reads the answer to a request for a lease; none if it is not one of this protocol.
pub fn read_answer(text: &str) -> Option<LeaseAnswer> {
    let Version { protocol } = serde_json::from_str(text).ok()?;
    let answer = (protocol == PROTOCOL).then(|| serde_json::from_str(text).ok());
    answer.flatten()
}

/// The part of a message that all protocols have.
#[derive(Deserialize)]
struct Version {
    protocol: u32,
}
