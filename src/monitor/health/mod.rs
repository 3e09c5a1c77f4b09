//! Checks of the server: what is wrong, or about to be, and what to do about it.
//!
//! They run in any session, during recovery, and while the registry is away. They read memory that is there and pages
//! that no session has locked: they make no memory, wait for no lock that another session can hold for long, and do
//! not talk to the registry.

mod citus;
mod clock;
mod defaults;
pub mod finding;
mod lanes;
mod memory;
mod node;
mod registry;
mod sequences;
mod server;

use crate::monitor::health::defaults::Defaults;
use crate::monitor::health::finding::Finding;
use crate::pg::datum::text::DecodedText;
use pgrx::prelude::*;

/// Returns one row for each check: its name, whether it is ok, a warning or critical, what was measured, from which value on it is
/// a warning, what that means, and what to do about it.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn health() -> TableIterator<
    'static,
    (
        name!(check_name, &'static str),
        name!(status, &'static str),
        name!(value, Option<f64>),
        name!(threshold, Option<f64>),
        name!(unit, Option<&'static str>),
        name!(detail, DecodedText),
        name!(hint, Option<DecodedText>),
    ),
> {
    TableIterator::new(findings().into_iter().map(|(check, finding)| {
        let Finding {
            status,
            value,
            threshold,
            unit,
            detail,
            hint,
        } = finding;
        let hint = hint.filter(|_| status != finding::Status::Ok);
        (
            check,
            status.name(),
            value,
            threshold,
            unit,
            DecodedText(on_one_line(&detail)),
            hint.map(|hint| DecodedText(hint.into_owned())),
        )
    }))
}

/// Escapes control characters, which names of users can have.
fn on_one_line(detail: &str) -> String {
    let escaped = |sign: char| match sign.is_control() {
        true => sign.escape_default().to_string(),
        false => sign.to_string(),
    };
    detail.chars().map(escaped).collect()
}

fn findings() -> Vec<(&'static str, Finding)> {
    let facts = server::Facts::read();
    let facts = facts.as_ref();
    let lanes = lanes::Lanes::read();
    let defaults = Defaults::read();
    let mut all = vec![
        ("clock", clock::clock(&lanes)),
        ("ceiling", clock::ceiling()),
        ("capacity", clock::capacity(&lanes)),
        ("layouts", lanes::layouts(&lanes, &defaults)),
        ("lanes", lanes::slots(&lanes, &defaults)),
    ];
    all.extend(memory::tables());
    all.extend([
        ("memory", memory::memory()),
        ("sequences", sequences::sequences()),
        ("settings", memory::settings()),
        ("registry", registry::registry(&defaults)),
        ("node", node::node(facts, &defaults)),
        ("citus", citus::citus(&defaults)),
        ("workers", server::workers()),
        ("versions", server::versions(facts)),
    ]);
    all
}
