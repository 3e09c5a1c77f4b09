//! What a member requests of the registry, and what that answers: calls of a function there, by its exact type.

use crate::pg::catalog::spi::value;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::machine::{clock, host, server};
use crate::pg::worker::transaction::one_line;
use crate::registry::member::bounds;
use crate::registry::member::bounds::Asked;
use crate::registry::protocol;
use crate::registry::protocol::{Assignee, LeaseRequest, MAX_LISTED, Request, Seen, Term};
use crate::registry::settings;
use mint_core::{LeaseTerm, LogPoint, Micros};
use pgrx::spi::SpiTupleTable;
use std::ops::RangeInclusive;

/// The registry's answer.
pub struct Answer {
    /// The number of the lease; 0 when there is none.
    pub id: i64,
    pub nodes: RangeInclusive<u64>,
    pub span: LeaseTerm,
    /// The length of leases.
    pub length: Micros,
    /// The reason why nothing was granted.
    pub denial: Option<String>,
    /// Whether that is because no node is assigned to this server.
    pub is_unassigned: bool,
    /// Whether that is because another server uses the node that was assigned to this one.
    pub is_stranger: bool,
}

/// The only column of the registry's answers.
pub const ANSWER: &str = "answer pg_catalog.text";

/// Writes the query for a lease, of an assigned node by its assignee.
pub fn lease_query(asked: &Asked, assignee: Option<Assignee>) -> String {
    query(&Request::Lease(Box::new(LeaseRequest {
        node_bits: asked.width.cast_signed(),
        nodes: asked
            .nodes
            .map(|(first, last)| (first.cast_signed(), last.cast_signed())),
        listed: listed(),
        lease: asked
            .lease
            .map(|(id, LeaseTerm { from, until })| Term { id, from, until }),
        holder: name(),
        system: server::system_identifier().cast_signed(),
        clock: clock::now(),
        seen: asked.seen.map(Seen::from),
        assignee,
    })))
}

/// Returns the nodes that the settings list, as far as a request can tell them.
fn listed() -> Vec<(i64, i64)> {
    let nodes = settings::nodes().into_iter().take(MAX_LISTED);
    let bounds = nodes.map(RangeInclusive::into_inner);
    let signed = bounds.map(|(first, last)| (first.cast_signed(), last.cast_signed()));
    signed.collect()
}

/// Writes the query that releases a lease, under which all ids are before `used`.
pub fn release_query(id: i64, used: Micros) -> String {
    query(&Request::Release { id, until: used })
}

fn query(request: &Request) -> String {
    let request = sql::escaped(&protocol::write(request));
    format!("SELECT mint.registry_request({request}::pg_catalog.jsonb)::pg_catalog.text")
}

/// Returns the name of this server that views show: the setting `cluster_name`, or the machine and port.
fn name() -> String {
    server::cluster_name().unwrap_or_else(|| {
        let host = host::name();
        format!("{}:{}", String::from_utf8_lossy(&host), server::port())
    })
}

/// Reads a row of [`ANSWER`].
pub fn read(row: &SpiTupleTable<'_>) -> String {
    value::<DecodedText>(row, 1).map_or_else(String::new, |text| text.0)
}

/// Understands what was read, which answers what was asked. Returns also how much of the registry's history it tells.
///
/// # Errors
/// It is no answer that a registry may give.
pub fn understand(asked: &Asked, text: &str) -> Result<(Answer, Option<LogPoint>), String> {
    let answer = protocol::read_answer(text).ok_or("invalid response from the registry")?;
    bounds::check(asked, &answer, clock::now())?;
    let seen = answer.seen.map(LogPoint::from);
    let (first, last) = answer.nodes.unwrap_or_default();
    let (id, span) = answer
        .lease
        .map_or((0, LeaseTerm { from: 0, until: 0 }), |lease| {
            let (from, until) = (lease.from, lease.until);
            (lease.id, LeaseTerm { from, until })
        });
    let answer = Answer {
        id,
        nodes: first.unsigned_abs()..=last.unsigned_abs(),
        span,
        length: answer.length,
        denial: answer.denial.as_deref().map(one_line),
        is_unassigned: answer.is_unassigned,
        is_stranger: answer.is_stranger,
    };
    Ok((answer, seen))
}
