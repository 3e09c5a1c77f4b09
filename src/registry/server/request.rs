//! What members ask the registry, and what it answers.

use crate::pg::error::report;
use crate::pg::machine::server;
use mint_core::clock::timestamp_text;
use mint_core::{Denial, Identity, Micros, Registry, Seen, Span};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// Nodes of a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// In bits.
    pub width: u32,
    /// Which.
    pub range: RangeInclusive<i64>,
}

impl Nodes {
    /// Checks what a caller gave.
    pub fn new(width: i32, first: i64, last: i64) -> Self {
        let nodes = Self::of_width(width);
        if first < 0 || last < first || last > *nodes.range.end() {
            report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{first} to {last} are not nodes of {width} bits"),
            )
            .detail(format!("They are 0 to {}.", nodes.range.end()))
            .raise();
        }
        Self {
            range: first..=last,
            ..nodes
        }
    }

    /// All of a width.
    pub fn of_width(width: i32) -> Self {
        match u32::try_from(width) {
            Ok(width @ 0..=62) => Self {
                width,
                range: 0..=(1 << width) - 1,
            },
            _ => report(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "the width of a node must be from 0 to 62 bits",
            )
            .raise(),
        }
    }

    /// As messages say that others have them.
    pub fn held_by(&self, holder: &str) -> String {
        let verb = if self.range.start() == self.range.end() {
            "is"
        } else {
            "are"
        };
        format!("{} {verb} held by {holder}", self.describe())
    }

    /// As messages say it.
    pub fn describe(&self) -> String {
        let (first, last, width) = (self.range.start(), self.range.end(), self.width);
        if first == last {
            format!("node {first} of {width} bits")
        } else {
            format!("nodes {first} to {last} of {width} bits")
        }
    }
}

/// The member that asks, and how much of the registry's history it has seen.
pub struct Asker {
    /// What people call it.
    pub holder: String,
    /// Of its database system.
    pub system: i64,
    /// What its clock shows.
    pub clock: Micros,
    pub seen: Option<Seen>,
}

/// What the registry says.
pub struct Answer {
    /// What is granted. A renewal that is denied for a time has its old slice here.
    pub grant: Option<Grant>,
    /// How long slices are.
    pub length: Micros,
    /// Where the registry stands.
    pub seen: Seen,
    /// Why nothing is granted.
    pub denial: Option<String>,
}

/// Nodes that are lent.
pub struct Grant {
    /// Its number.
    pub claim: i64,
    pub nodes: Nodes,
    pub span: Span,
}

/// The identity of this server, and where its log ends.
pub fn here() -> Seen {
    Seen {
        identity: Identity {
            system: server::system_identifier(),
            timeline: server::timeline(),
            start: server::start(),
            incarnation: 0,
        },
        position: server::log_end(),
    }
}

/// A denial in words.
pub fn words(registry: &Registry, denial: Denial) -> String {
    let seconds = |span: Micros| format!("{:.1} s", span as f64 / 1e6);
    match denial {
        Denial::Skew { ahead } => format!(
            "the clock of this server is {} {} that of the registry, which bears {}",
            seconds(ahead.saturating_abs()),
            if ahead < 0 { "behind" } else { "ahead of" },
            seconds(registry.max_skew)
        ),
        Denial::Quarantine { left } => format!(
            "the registry may have forgotten what it granted, and grants nothing for another {}",
            seconds(left)
        ),
        Denial::Lost => "the registry does not know of the claim any more".to_owned(),
        Denial::Held { until } => format!(
            "the clock of the registry is behind what it has granted, up to {}",
            timestamp_text(until)
        ),
    }
}
