//! The registry of nodes in SQL: its administrator's functions, and those that members call.

use crate::pg::datum::json::JsonText;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{report, required, sentence};
use crate::registry::protocol;
use crate::registry::protocol::{
    LeaseAnswer, LeaseRequest, PROTOCOL, ReleaseAnswer, Request, Term, Unreadable,
};
use crate::registry::server::grant;
use crate::registry::server::request::{Answer, Member, Nodes};
use mint_core::{LeaseTerm, LogPoint, Micros};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::Interval;
use pgrx::prelude::*;

/// Makes this database a registry of nodes, or changes its rules: the length of leases, and how far a member's clock
/// may be from the registry's (a quarter of a lease, unless given). A new registry grants nothing at first, for as long
/// as leases of an earlier one may last; `registry_end_quarantine()` ends that where there was none.
#[pg_extern(schema = "mint", volatile, parallel_unsafe, cost = 1000)]
fn registry_create(
    lease: default!(Option<Interval>, "'10 s'"),
    max_skew: default!(Option<Interval>, "NULL"),
) {
    const SECOND: Micros = 1_000_000;
    let micros = |span: Interval| Micros::try_from(span.as_micros()).unwrap_or(Micros::MAX);
    let length = micros(required(lease, "lease"));
    if !(SECOND..=3_600 * SECOND).contains(&length) {
        refuse("lease must be between 1 s and 1 h");
    }
    let skew = max_skew.map_or(length / 4, micros);
    if !(1_000..=length / 2).contains(&skew) {
        refuse("max_skew must be between 1 ms and half of lease");
    }
    grant::create(length, skew);
}

/// Drops the registry of this database. Its leases and reservations are forgotten, so none may be in force.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_drop() {
    grant::drop();
}

fn refuse(message: &str) -> ! {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).raise()
}

/// Reserves nodes for a server that makes no requests, because its nodes are in its settings.
#[pg_extern(schema = "mint", volatile, parallel_unsafe, cost = 1000)]
fn registry_reserve(
    node_bits: Option<i32>,
    first_node: Option<i64>,
    last_node: Option<i64>,
    holder: Option<DecodedText>,
) {
    let nodes = Nodes::new(
        required(node_bits, "node_bits"),
        required(first_node, "first_node"),
        required(last_node, "last_node"),
    );
    let DecodedText(holder) = required(holder, "holder");
    if holder.is_empty() {
        refuse("holder must not be empty");
    }
    grant::reserve(nodes, holder);
}

/// Ends a reservation. Others can get the nodes one length of a lease later.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_unreserve(node_bits: i32, first_node: i64, last_node: i64) {
    grant::unreserve(&Nodes::new(node_bits, first_node, last_node));
}

/// Begins a quarantine: the registry only renews leases that last, until all that it may have forgotten is past. It
/// does so by itself when it was started, promoted or restored.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_begin_quarantine() {
    grant::begin_quarantine();
}

/// Ends a quarantine early. **Only when nothing was forgotten**: else two servers get the same nodes.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_end_quarantine() {
    grant::end_quarantine();
}

/// Answers a request of a member: for a lease, its renewal or its release. See [`protocol`]. **For members, not for
/// people.**
///
/// # Errors
/// 0A000 when the registry does not know the protocol, 22023 when it cannot read the request.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_request(request: JsonText) -> JsonText {
    let request = protocol::read_request(&request.0).unwrap_or_else(|why| refuse_request(why));
    JsonText(match request {
        Request::Lease(asked) => protocol::write(&lease(asked)),
        Request::Release { id, until } => protocol::write(&ReleaseAnswer {
            released: grant::release(id, until),
        }),
    })
}

fn lease(asked: LeaseRequest) -> LeaseAnswer {
    let member = Member {
        name: asked.holder,
        system: asked.system,
        clock: asked.clock,
        seen: asked.seen.map(LogPoint::from),
    };
    let width = asked.node_bits;
    let nodes = asked
        .nodes
        .map(|(first, last)| Nodes::new(width, first, last));
    match (asked.lease, nodes) {
        (Some(Term { id, from, until }), Some(nodes)) => {
            grant::renew(id, nodes, LeaseTerm { from, until }, &member)
        }
        (_, nodes) => grant::grant(width, nodes, &member),
    }
    .into()
}

#[cold]
fn refuse_request(why: Unreadable) -> ! {
    match why {
        Unreadable::Protocol(number) => report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("unsupported registry protocol {number}"),
        )
        .detail(format!("The registry supports protocol {PROTOCOL}."))
        .hint(if number < i64::from(PROTOCOL) {
            "Update pg_mint on the member."
        } else {
            "Update pg_mint on the registry before updating its members."
        }),
        Unreadable::Malformed(why) => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "invalid request to the registry",
        )
        .detail(sentence(&why)),
    }
    .raise()
}

impl From<Answer> for LeaseAnswer {
    fn from(answer: Answer) -> Self {
        let lease = answer.lease.as_ref();
        let nodes = lease.map(|lease| lease.nodes.range.clone().into_inner());
        Self {
            nodes,
            lease: lease.map(|lease| Term {
                id: lease.id,
                from: lease.span.from,
                until: lease.span.until,
            }),
            length: answer.length,
            seen: answer.seen.into(),
            denial: answer.denial,
        }
    }
}

extension_sql_file!(
    "../../../sql/registry/server.sql",
    name = "registry_server",
    requires = [
        registry_create, registry_drop, registry_reserve, registry_unreserve,
        registry_begin_quarantine, registry_end_quarantine, registry_request
    ]
);
