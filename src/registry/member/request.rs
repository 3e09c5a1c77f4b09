//! What a member requests of the registry, and what that answers: calls of a function there, by its exact type.

use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use crate::pg::machine::{clock, host, server};
use crate::pg::worker::dblink::value;
use crate::registry::member::leases;
use crate::registry::protocol;
use crate::registry::protocol::{LeaseAnswer, LeaseRequest, MAX_LISTED, Request, Seen, Term};
use crate::registry::settings;
use mint_core::{Lease, LeaseTerm, LogPoint, Micros};
use pgrx::PgSqlErrorCode as Code;
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
}

/// The only column of the registry's answers.
pub const ANSWER: &str = "answer pg_catalog.text";

/// Writes the query for a new lease of these nodes, or of any node; or for the renewal of a lease.
pub fn lease_query(
    renewed: Option<(i64, &Lease)>,
    width: u32,
    wanted: Option<(u64, u64)>,
) -> String {
    query(&Request::Lease(LeaseRequest {
        node_bits: width.cast_signed(),
        nodes: wanted.map(|(first, last)| (first.cast_signed(), last.cast_signed())),
        listed: listed(),
        lease: renewed.map(|(id, lease)| Term {
            id,
            from: lease.from(),
            until: lease.until(),
        }),
        holder: name(),
        system: server::system_identifier().cast_signed(),
        clock: clock::now(),
        seen: leases::seen().get().map(Seen::from),
    }))
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

/// Reads a row of [`ANSWER`] to [`lease_query`].
pub fn read(row: &SpiTupleTable<'_>) -> (Answer, Option<LogPoint>) {
    let text = value::<DecodedText>(row, 1).map_or_else(String::new, |text| text.0);
    let answer: LeaseAnswer = protocol::read_answer(&text).unwrap_or_else(|| {
        report(
            Code::ERRCODE_PROTOCOL_VIOLATION,
            "invalid response from the registry",
        )
        .raise()
    });
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
        denial: answer.denial,
    };
    (answer, seen)
}
