//! Nodes that a registry lends, so that no two servers mint as the same one.

use crate::pg::datum::text::DecodedText;
use crate::pg::error::{report, required};
use crate::registry::server::grant;
use crate::registry::server::request::{Answer, Asker, Grant, Nodes};
use mint_core::{Identity, LeaseTerm, LogPoint, Micros};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::Interval;
use pgrx::prelude::*;

/// Makes this database a registry of nodes, or changes its rules: how long a slice is, and how far a member's clock
/// may be from the registry's (a quarter of a slice, unless given). A new one grants nothing at first, for the time that
/// nodes can still be held that an earlier one has lent; `snowflake_end_quarantine()` ends that where there was none.
#[pg_extern(volatile, parallel_unsafe, cost = 1000)]
fn snowflake_create_registry(
    slice: default!(Option<Interval>, "'10 s'"),
    max_skew: default!(Option<Interval>, "NULL"),
) {
    const SECOND: Micros = 1_000_000;
    let slice = required(slice, "slice").as_micros();
    let length = Micros::try_from(slice).unwrap_or(Micros::MAX);
    if !(SECOND..=3_600 * SECOND).contains(&length) {
        refuse("slice must be from 1 s to 1 h");
    }
    let skew = max_skew.map(|skew| Micros::try_from(skew.as_micros()).unwrap_or(Micros::MAX));
    let skew = skew.unwrap_or(length / 4);
    if !(1_000..=length / 2).contains(&skew) {
        refuse("max_skew must be from 1 ms to half a slice");
    }
    grant::create(length, skew);
}

fn refuse(message: &str) -> ! {
    let code = Code::ERRCODE_INVALID_PARAMETER_VALUE;
    report(code, message.to_owned()).raise()
}

/// Keeps nodes for a server that does not ask, because its nodes are in its settings.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn snowflake_reserve_nodes(node_bits: i32, first_node: i64, last_node: i64, holder: DecodedText) {
    grant::reserve(Nodes::new(node_bits, first_node, last_node), holder.0);
}

/// Ends a reservation. Others can claim the nodes a slice later.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn snowflake_unreserve_nodes(node_bits: i32, first_node: i64, last_node: i64) {
    grant::unreserve(&Nodes::new(node_bits, first_node, last_node));
}

/// Lets the registry grant nothing but the renewal of slices that last, until all that it may have forgotten is past. It
/// does so by itself when it was started, promoted or restored.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn snowflake_quarantine_registry() {
    grant::quarantine(true);
}

/// Ends a quarantine early. **Only when nothing was forgotten**: else nodes are lent twice.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn snowflake_end_quarantine() {
    grant::quarantine(false);
}

/// The question of a member: for the slice of nodes that it names, or of any one (`first_node` NULL); with `claim`,
/// for more time. `clock` is the asking server's, in microseconds since 1970; what is `seen` is of an earlier answer.
///
/// One row always: with the slice, or with the reason why there is none. **Members call it, not people.**
#[pg_extern(volatile, parallel_unsafe, cost = 1000, security_definer)]
#[search_path(pg_catalog, pg_temp)]
#[allow(
    clippy::type_complexity,
    clippy::too_many_arguments,
    reason = "pgrx reads arguments and row type from here"
)]
fn snowflake_claim_nodes(
    claim: Option<i64>,
    slice_from: Option<i64>,
    slice_until: Option<i64>,
    node_bits: i32,
    first_node: Option<i64>,
    last_node: Option<i64>,
    holder: DecodedText,
    system: i64,
    clock: i64,
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
        name!(slice_from, Option<i64>),
        name!(slice_until, Option<i64>),
        name!(length, i64),
        name!(system, i64),
        name!(timeline, i64),
        name!(start, i64),
        name!(incarnation, i64),
        name!(log_position, i64),
        name!(denial, Option<DecodedText>),
    ),
> {
    let asker = Asker {
        holder: holder.0,
        system,
        clock,
        seen: seen_position.map(|position| LogPoint {
            identity: Identity {
                system: seen_system.unwrap_or(0).cast_unsigned(),
                timeline: seen_timeline.unwrap_or(0) as u32,
                start: seen_start.unwrap_or(0),
                incarnation: seen_incarnation.unwrap_or(0) as u32,
            },
            position: position.cast_unsigned(),
        }),
    };
    let nodes = first_node.map(|first| Nodes::new(node_bits, first, last_node.unwrap_or(first)));
    let answer = match (claim, nodes, slice_from, slice_until) {
        (None, nodes, ..) => grant::claim(node_bits, nodes, &asker),
        (Some(claim), Some(nodes), Some(from), Some(until)) => {
            grant::renew(claim, nodes, LeaseTerm { from, until }, &asker)
        }
        _ => refuse("a claim that goes on needs its nodes and its slice"),
    };
    let Answer {
        grant,
        length,
        seen,
        denial,
    } = answer;
    let of = |read: fn(&Grant) -> i64| grant.as_ref().map(read);
    TableIterator::once((
        of(|grant| grant.claim),
        of(|grant| *grant.nodes.range.start()),
        of(|grant| *grant.nodes.range.end()),
        of(|grant| grant.span.from),
        of(|grant| grant.span.until),
        length,
        seen.identity.system.cast_signed(),
        i64::from(seen.identity.timeline),
        seen.identity.start,
        i64::from(seen.identity.incarnation),
        seen.position.cast_signed(),
        denial.map(DecodedText),
    ))
}

/// The release_query of a member, which has minted nothing at or after `until`. False when there is no such claim.
/// **Members call it, not people.**
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000, security_definer)]
#[search_path(pg_catalog, pg_temp)]
fn snowflake_release_claim(claim: i64, until: i64) -> bool {
    grant::release(claim, until)
}

extension_sql_file!(
    "../../../sql/registry/server.sql",
    name = "registry_server",
    requires = [
        snowflake_create_registry, snowflake_reserve_nodes, snowflake_unreserve_nodes,
        snowflake_quarantine_registry, snowflake_end_quarantine, snowflake_claim_nodes,
        snowflake_release_claim
    ]
);

extension_sql_file!("../../../sql/registry/tables.sql", name = "registry_tables");
