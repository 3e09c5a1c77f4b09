//! What a member requests of the registry, and what that answers: calls of a function there, by its exact type.

use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::machine::{clock, host, server};
use crate::pg::worker::transaction::one_line;
use crate::registry::member::bounds;
use crate::registry::member::memory::leases;
use crate::registry::member::trouble::Task;
use crate::registry::protocol;
use crate::registry::protocol::{
    Assignee, LeaseAnswer, LeaseRequest, MAX_LISTED, NumberedTerm, Request,
};
use crate::registry::settings;
use mint_core::Micros;
use std::ops::RangeInclusive;

/// The only column of the registry's answers.
pub const ANSWER: &str = "answer pg_catalog.text";

/// Returns the request for a new lease, or for the renewal of one; of an assigned node by its assignee.
pub fn request(
    (width, nodes): Task,
    lease: Option<NumberedTerm>,
    assignee: Option<Assignee>,
) -> LeaseRequest {
    let listed = settings::nodes().into_iter().take(MAX_LISTED);
    LeaseRequest {
        node_bits: width.cast_signed(),
        nodes: nodes.map(signed),
        listed: listed.map(RangeInclusive::into_inner).map(signed).collect(),
        lease,
        holder: name(),
        system: server::system_identifier().cast_signed(),
        clock: clock::now(),
        seen: leases::memory().seen.get(),
        assignee,
    }
}

fn signed((first, last): (u64, u64)) -> (i64, i64) {
    (first.cast_signed(), last.cast_signed())
}

/// Writes the query for a lease, with the time of now: it might have taken long to connect.
pub fn lease_query(request: &LeaseRequest) -> String {
    query(&Request::Lease(Box::new(LeaseRequest {
        clock: clock::now(),
        ..request.clone()
    })))
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
pub fn read(row: &Row<'_>) -> String {
    row.get::<DecodedText>(1)
        .map_or_else(String::new, |text| text.0)
}

/// Understands what was read, which answers what was asked.
///
/// # Errors
/// It is no answer that a registry can give.
pub fn understand(asked: &LeaseRequest, text: &str) -> Result<LeaseAnswer, String> {
    let answer: LeaseAnswer =
        protocol::read(text).map_err(|_| "invalid response from the registry")?;
    bounds::check(asked, &answer, clock::now())?;
    Ok(LeaseAnswer {
        denial: answer.denial.as_deref().map(one_line),
        ..answer
    })
}
