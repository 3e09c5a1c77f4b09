//! The registry of nodes in SQL: its administrator's functions, and those that members call.

use crate::pg::datum::text::DecodedText;
use crate::pg::error::{report, required};
use crate::registry::identity;
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
        refuse("lease must be from 1 s to 1 h");
    }
    let skew = max_skew.map_or(length / 4, micros);
    if !(1_000..=length / 2).contains(&skew) {
        refuse("max_skew must be from 1 ms to half a lease");
    }
    grant::create(length, skew);
}

fn refuse(message: &str) -> ! {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).raise()
}

/// Reserves nodes for a server that makes no requests, because its nodes are in its settings.
#[pg_extern(schema = "mint", volatile, strict, parallel_unsafe, cost = 1000)]
fn registry_reserve(node_bits: i32, first_node: i64, last_node: i64, holder: DecodedText) {
    grant::reserve(Nodes::new(node_bits, first_node, last_node), holder.0);
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

/// Grants a new lease of these nodes, or of any node (`first_node` NULL); with `claim`, renews that lease. `clock` is
/// the member's, in microseconds since 1970; the `seen_` arguments are from an earlier answer.
///
/// Always returns one row: the lease, or the reason why there is none. **For members, not for people.**
///
/// # Errors
/// 22004 when an argument is NULL that may not be.
#[pg_extern(
    schema = "mint",
    volatile,
    parallel_unsafe,
    cost = 1000,
    security_definer
)]
#[search_path(pg_catalog, pg_temp)]
#[allow(
    clippy::type_complexity,
    clippy::too_many_arguments,
    reason = "pgrx reads arguments and row type from here"
)]
fn snowflake_claim_nodes(
    claim: Option<i64>,
    lease_from: Option<i64>,
    lease_until: Option<i64>,
    node_bits: Option<i32>,
    first_node: Option<i64>,
    last_node: Option<i64>,
    holder: Option<DecodedText>,
    system: Option<i64>,
    clock: Option<i64>,
    seen_system: Option<i64>,
    seen_timeline: Option<i64>,
    seen_start: Option<i64>,
    seen_incarnation: Option<i64>,
    seen_position: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(claim, Option<i64>),
        name!(first_node, Option<i64>),
        name!(last_node, Option<i64>),
        name!(lease_from, Option<i64>),
        name!(lease_until, Option<i64>),
        name!(length, i64),
        name!(system, i64),
        name!(timeline, i64),
        name!(start, i64),
        name!(incarnation, i64),
        name!(log_position, i64),
        name!(denial, Option<DecodedText>),
    ),
> {
    let seen = [seen_system, seen_timeline, seen_start, seen_incarnation];
    let member = Member {
        name: required(holder, "holder").0,
        system: required(system, "system"),
        clock: required(clock, "clock"),
        seen: seen_position.map(|position| LogPoint {
            identity: identity::from_numbers(seen.map(Option::unwrap_or_default)),
            position: position.cast_unsigned(),
        }),
    };
    let width = required(node_bits, "node_bits");
    let nodes = first_node.map(|first| Nodes::new(width, first, last_node.unwrap_or(first)));
    TableIterator::once(row(match (claim, nodes, lease_from, lease_until) {
        (None, nodes, ..) => grant::grant(width, nodes, &member),
        (Some(id), Some(nodes), Some(from), Some(until)) => {
            grant::renew(id, nodes, LeaseTerm { from, until }, &member)
        }
        _ => refuse("a claim that goes on needs its nodes and its lease"),
    }))
}

/// The columns of an answer.
type Row = (
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    Option<DecodedText>,
);

fn row(answer: Answer) -> Row {
    let lease = answer.lease.as_ref();
    let [system, timeline, start, incarnation] = identity::to_numbers(answer.seen.identity);
    (
        lease.map(|lease| lease.id),
        lease.map(|lease| *lease.nodes.range.start()),
        lease.map(|lease| *lease.nodes.range.end()),
        lease.map(|lease| lease.span.from),
        lease.map(|lease| lease.span.until),
        answer.length,
        system,
        timeline,
        start,
        incarnation,
        answer.seen.position.cast_signed(),
        answer.denial.map(DecodedText),
    )
}

/// Ends a lease, under which the member has minted nothing at or after `until`. False when there is no such lease.
/// **For members, not for people.**
#[pg_extern(
    schema = "mint",
    volatile,
    strict,
    parallel_unsafe,
    cost = 1000,
    security_definer
)]
#[search_path(pg_catalog, pg_temp)]
fn snowflake_release_claim(claim: i64, until: i64) -> bool {
    grant::release(claim, until)
}

extension_sql_file!(
    "../../../sql/registry/server.sql",
    name = "registry_server",
    requires = [
        registry_create, registry_reserve, registry_unreserve, registry_begin_quarantine,
        registry_end_quarantine, snowflake_claim_nodes, snowflake_release_claim
    ]
);

extension_sql_file!("../../../sql/registry/tables.sql", name = "registry_tables");
