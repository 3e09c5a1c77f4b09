//! The id to inspect, and one answer.

use crate::clock::{DAY, Micros};
use crate::objectid::ObjectId;
use ::uuid::Uuid;

/// An id of an unknown format.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Any text. Spaces around it are ignored.
    Text(&'a [u8]),
    /// A number.
    Number(i64),
    /// A UUID, or 16 bytes that are stored as one.
    Uuid(Uuid),
    /// An ObjectID.
    ObjectId(ObjectId),
}

impl<'a> Input<'a> {
    /// Returns the input without spaces around a text.
    pub(super) fn trimmed(&self) -> Input<'a> {
        match *self {
            Input::Text(text) => Input::Text(text.trim_ascii()),
            other => other,
        }
    }

    /// Returns the text, if it is one.
    pub(super) fn text(&self) -> Option<&'a [u8]> {
        match *self {
            Input::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, also that of a text of decimal digits without signs or zeros in front.
    pub(super) fn number(&self) -> Option<i64> {
        match *self {
            Input::Number(number) => Some(number),
            Input::Text(text) => {
                let number: i64 = str::from_utf8(text).ok()?.parse().ok()?;
                (number.to_string().as_bytes() == text).then_some(number)
            }
            _ => None,
        }
    }
}

/// The facts that are known besides the id.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The time now.
    pub now: Micros,
    /// The nodes of the caller's snowflakes; empty if they are not known.
    pub nodes: &'a [i64],
}

/// 2005-01-01T00:00:00Z. Ids with a time are rarely older.
pub(super) const OLDEST: Micros = 1_104_537_600_000_000;

/// The weight of a time that no id of today has.
const WRONG_TIME: f64 = 0.01;
/// The weight of a node that is not the caller's.
const WRONG_NODE: f64 = 0.1;
/// The weight of "none of these", and of a number that is only a number.
pub(super) const NONE_OF_THESE: f64 = 0.05;
/// The weight of an id that none of its format's generators makes, though the format allows it.
const ODD: f64 = 0.01;

impl Context<'_> {
    /// Returns whether a time is between 2005 and tomorrow.
    #[must_use]
    pub fn is_plausible(&self, at: Micros) -> bool {
        (OLDEST..=self.now.saturating_add(DAY)).contains(&at)
    }

    /// Returns whether a time is plausible for an id that counts from an epoch of its own. Small numbers look like its
    /// first days, so a month counts as too early.
    pub(super) fn is_plausible_since(&self, epoch: Micros, at: Micros) -> bool {
        self.is_plausible(at) && at >= epoch.saturating_add(30 * DAY)
    }
}

/// A part of an id that has no column of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// Numbers, as the parts of a split node.
    Numbers(Vec<i64>),
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.to_owned())
    }
}

impl From<i64> for Part {
    fn from(number: i64) -> Part {
        Part::Number(number)
    }
}

/// One format that an id can have, and its content by that format.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The format: the name of a family.
    pub format: &'static str,
    /// The layout of a snowflake, the version of a UUID, the unit of a time.
    pub version: Option<String>,
    /// When the id was made.
    pub time: Option<Micros>,
    /// The origin of the id: the node of a snowflake, the address in a UUID, the random bytes of an ObjectID.
    pub node: Option<String>,
    /// The count within the time.
    pub sequence: Option<i64>,
    /// Everything else.
    pub parts: Vec<(&'static str, Part)>,
    /// The id as its format writes it.
    pub canonical: String,
    /// The likelihood of this reading, from 0 to 1. All readings of an id and "none of these" make 1.
    pub likelihood: f64,
    /// The surprise of the id in its format beside that in a common one, in bits.
    pub(super) surprise: f64,
}

impl Reading {
    /// Begins a reading that no fact speaks against.
    pub(super) fn new(format: &'static str, canonical: impl Into<String>) -> Self {
        Self {
            format,
            version: None,
            time: None,
            node: None,
            sequence: None,
            parts: Vec::new(),
            canonical: canonical.into(),
            likelihood: 1.0,
            surprise: 0.0,
        }
    }

    /// Returns the reading of a text that says nothing about its id, if it can be one of a format.
    pub(super) fn if_text(
        format: &'static str,
        id: &Input<'_>,
        can_be: impl Fn(&[u8]) -> bool,
    ) -> Vec<Self> {
        let text = id.text().filter(|text| can_be(text));
        let read = |text| Self::new(format, String::from_utf8_lossy(text)).saying_nothing();
        text.map(read).into_iter().collect()
    }

    /// Sets the version of the nil or the max id, which has no time.
    pub(super) fn constant(self, is_nil: bool) -> Self {
        self.version(if is_nil { "nil" } else { "max" })
    }

    /// Sets the version.
    pub(super) fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets the time, and weighs whether it is plausible.
    pub(super) fn time(mut self, at: Micros, is_plausible: bool) -> Self {
        self.time = Some(at);
        if !is_plausible {
            self.likelihood *= WRONG_TIME;
        }
        self
    }

    /// Sets the node, if the id has one.
    pub(super) fn node(mut self, node: Option<String>) -> Self {
        self.node = node;
        self
    }

    /// Sets the node of a server, and weighs whether it is one of the caller's.
    pub(super) fn server_node(mut self, node: i64, context: &Context<'_>) -> Self {
        if !context.nodes.is_empty() && !context.nodes.contains(&node) {
            self.likelihood *= WRONG_NODE;
        }
        self.node(Some(node.to_string()))
    }

    /// Weighs that the id has no node, although the caller's ids have one.
    pub(super) fn without_node(mut self, context: &Context<'_>) -> Self {
        if !context.nodes.is_empty() {
            self.likelihood *= WRONG_NODE;
        }
        self
    }

    /// Returns the weight among all readings.
    pub(super) fn weight(&self) -> f64 {
        self.likelihood * (-self.surprise).exp2()
    }

    /// Adds to the surprise.
    pub(super) fn surprising(mut self, bits: f64) -> Self {
        self.surprise += bits;
        self
    }

    /// Sets the sequence.
    pub(super) fn sequence(mut self, sequence: i64) -> Self {
        self.sequence = Some(sequence);
        self
    }

    /// Adds a part.
    pub(super) fn part(mut self, name: &'static str, part: impl Into<Part>) -> Self {
        self.parts.push((name, part.into()));
        self
    }

    /// Returns whether the reading has that part.
    pub(super) fn has_part(&self, name: &str, part: &str) -> bool {
        self.parts.contains(&(name, part.into()))
    }

    /// Weighs that the format says nothing about the id.
    pub(super) fn saying_nothing(mut self) -> Self {
        self.likelihood *= NONE_OF_THESE;
        self
    }

    /// Weighs that no generator of the format makes such an id.
    pub(super) fn odd(mut self) -> Self {
        self.likelihood *= ODD;
        self
    }

    /// Returns whether no fact but a node speaks against the reading.
    pub(super) fn is_worth_showing(&self) -> bool {
        self.likelihood >= WRONG_NODE
    }

    /// Returns whether no fact speaks against the reading.
    pub(super) fn is_plausible(&self) -> bool {
        self.likelihood >= 1.0
    }
}
