//! Checks of the server: problems, imminent ones too, and remedies.
//!
//! They run in any session, during recovery, and while the registry is away. They read existing memory and pages that
//! no session has locked: they make no memory, wait for no lock that another session can hold for long, and do not talk
//! to the registry. A state that any role can cause alone is never critical.

mod citus;
mod clock;
mod defaults;
mod ends;
mod finding;
mod memory;
mod node;
mod registry;
mod server;

use crate::monitor::health::defaults::Defaults;
use crate::monitor::health::server::Facts;
use crate::pg::datum::text::DecodedText;
use crate::snowflake::lane::usage::LanesUsage;
use pgrx::prelude::*;

/// Returns one row for each check: its name, whether it is ok, a warning or critical, the detail, and the hint.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn health() -> TableIterator<
    'static,
    (
        name!(check_name, &'static str),
        name!(status, &'static str),
        name!(detail, DecodedText),
        name!(hint, Option<DecodedText>),
    ),
> {
    let (facts, lanes, defaults) = (Facts::read(), LanesUsage::read(), Defaults::read());
    let all = [
        ("clock", clock::clock(&lanes)),
        ("ceiling", clock::ceiling()),
        ("layouts", ends::layouts(&lanes, &defaults)),
        ("memory", memory::memory(&lanes, &defaults)),
        ("sequences", ends::sequences()),
        ("settings", memory::settings()),
        ("registry", registry::registry(&defaults)),
        ("node", node::node(facts.as_ref(), &defaults)),
        ("citus", citus::citus(&defaults)),
        ("workers", server::workers()),
        ("versions", server::versions(facts.as_ref())),
    ];
    TableIterator::new(all.into_iter().map(|(check, finding)| {
        let status = ["ok", "warning", "critical"][finding.status as usize];
        let (detail, hint) = (finding.detail, finding.hint.map(on_one_line));
        (check, status, on_one_line(detail), hint)
    }))
}

/// Escapes control characters, which names of users can have.
fn on_one_line(text: String) -> DecodedText {
    let escaped = |sign: char| match sign.is_control() {
        true => sign.escape_default().to_string(),
        false => sign.to_string(),
    };
    DecodedText(text.trim().chars().map(escaped).collect())
}
