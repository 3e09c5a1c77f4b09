//! The registry of nodes in SQL: its administrator's functions, and those that members call.

use crate::pg::backend::recovery;
use crate::pg::catalog::privilege;
use crate::pg::datum::json::{JsonArgument, JsonText};
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::pg::error::{report, required, sentence};
use crate::pg::worker::visitor;
use crate::registry::protocol;
use crate::registry::protocol::{
    LeaseAnswer, LeaseRequest, NumberedTerm, PROTOCOL, ReleaseAnswer, Request, UnreadableMessage,
};
use crate::registry::server::answer::{Limits, Requester, printable};
use crate::registry::server::commit_deadline;
use crate::registry::server::nodes::{NodeRange, multirange};
use crate::registry::server::{admin, assign, grant};
use mint_core::Micros;
use mint_core::registry::lease_rules::{
    LARGEST_SKEW, LONGEST_LEASE, LONGEST_RESTART, SHORTEST_LEASE,
};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::Interval;
use pgrx::prelude::*;

/// Makes this database a registry of nodes, or changes its rules: the length of leases, how far a member's clock can be
/// from the registry's (2.5 s, or a quarter of a shorter lease, by default), and how many leases and nodes one login
/// can hold. A new registry grants nothing at first, for as long as leases of an earlier one can last;
/// `registry_end_quarantine()` ends that where there was none.
#[pg_extern(sql = false)]
fn registry_create(
    lease: Option<Interval>,
    max_skew: Option<Interval>,
    leases_per_login: Option<i64>,
    nodes_per_login: Option<i64>,
) {
    const DEFAULT_SKEW: Micros = 2_500_000;
    let micros = |span: Interval| Micros::try_from(span.as_micros()).unwrap_or(Micros::MAX);
    let length = micros(required(lease, "lease"));
    if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&length) {
        let [shortest, longest] = [SHORTEST_LEASE, LONGEST_LEASE].map(|span| span as f64 / 1e6);
        refuse(&format!(
            "lease must be between {shortest} s and {longest} s"
        ));
    }
    let max_skew = max_skew.map_or(DEFAULT_SKEW.min(length / 4), micros);
    let largest = LARGEST_SKEW.min(length / 2);
    if !(1_000..=largest).contains(&max_skew) {
        let largest = largest as f64 / 1e6;
        refuse(&format!("max_skew must be between 1 ms and {largest} s"));
    }
    let limit = |limit: Option<i64>, name: &str| {
        let limit = required(limit, name);
        if limit < 1 {
            refuse(&format!("{name} must be at least 1"));
        }
        limit
    };
    let limits = Limits {
        leases: limit(leases_per_login, "leases_per_login"),
        nodes: limit(nodes_per_login, "nodes_per_login"),
    };
    admin::create(length, max_skew, limits);
}

/// Drops the registry of this database. Its leases and reservations are forgotten, so none must be in force.
#[pg_extern(sql = false)]
fn registry_drop() {
    admin::drop();
}

fn refuse(message: &str) -> ! {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).raise()
}

/// Reserves nodes for a server that makes no requests, because its nodes are in its settings.
#[pg_extern(sql = false)]
fn registry_reserve(
    node_bits: Option<i32>,
    first_node: Option<i64>,
    last_node: Option<i64>,
    holder: Option<DecodedText>,
) {
    let nodes = NodeRange::new(
        required(node_bits, "node_bits"),
        required(first_node, "first_node"),
        required(last_node, "last_node"),
    );
    let DecodedText(holder) = required(holder, "holder");
    if holder.is_empty() {
        refuse("holder must not be empty");
    }
    admin::reserve(nodes, &holder);
}

/// Ends a reservation. Others can get the nodes one quarantine later: the server may have minted ahead.
#[pg_extern(sql = false)]
fn registry_unreserve(node_bits: i32, first_node: i64, last_node: i64) {
    admin::unreserve(&NodeRange::new(node_bits, first_node, last_node));
}

/// Assigns any free node, or this one, to a holder for good: the server of that name, with `pg_mint.node` = 'assigned'.
/// Returns the node, and the same at the next call. With `moved`, the server that had the node is gone, or has lost its
/// file: the next one of that name gets it, when the last lease has ended.
#[pg_extern(sql = false)]
fn registry_assign(
    node_bits: Option<i32>,
    holder: Option<DecodedText>,
    node: Option<i64>,
    moved: Option<bool>,
) -> i64 {
    let node_bits = required(node_bits, "node_bits");
    let holder = required(holder, "holder").0;
    let moved = required(moved, "moved");
    NodeRange::of_width(node_bits);
    if holder.is_empty() {
        refuse("holder must not be empty");
    }
    let node = node.map(|node| NodeRange::new(node_bits, node, node));
    assign::assign(node_bits, &holder, node, moved)
}

/// Takes the node away from its holder. Returns when others can get it: the server can mint as that node until then, as
/// it might not be able to reach the registry. If that is never, the node stays reserved.
#[pg_extern(sql = false)]
fn registry_unassign(node_bits: i32, holder: DecodedText) -> Option<TimestampWithTimeZone> {
    NodeRange::of_width(node_bits);
    assign::unassign(node_bits, &holder.0)
}

/// Evicts a holder: it cannot renew its leases, and nobody gets their nodes before they would have ended. Returns the
/// number of leases.
#[pg_extern(sql = false)]
fn registry_evict(holder: DecodedText) -> i64 {
    admin::evict_holder(&holder.0)
}

/// Does the same as `registry_evict(holder)`, for the holders of any of these nodes.
#[pg_extern(sql = false)]
fn registry_evict_nodes(node_bits: i32, first_node: i64, last_node: i64) -> i64 {
    admin::evict_nodes(&NodeRange::new(node_bits, first_node, last_node))
}

/// Begins a quarantine: the registry only renews leases that last, until all that it can have forgotten is past. It
/// does so by itself when it was started, promoted or restored.
#[pg_extern(sql = false)]
fn registry_begin_quarantine() {
    admin::begin_quarantine();
}

/// Ends a quarantine early. **Only when nothing was forgotten**: else two servers get the same nodes.
#[pg_extern(sql = false)]
fn registry_end_quarantine() {
    admin::end_quarantine();
}

/// Lets the registry grant nodes by its clock, which was far ahead and is correct now, after a quarantine; nodes that were leased
/// then only if it ends their leases. **Then ids of that time can repeat** when the clock comes to it. Returns how many
/// leases those are.
#[pg_extern(sql = false)]
fn registry_accept_clock(end_leases: bool) -> i64 {
    admin::accept_clock(end_leases)
}

/// Lets the registry continue without a quarantine after the next start of its server, if that is within this time and
/// nothing else has changed. Returns until when. **Not for a copy of the server that takes its place**: see the page on
/// several servers.
#[pg_extern(sql = false)]
fn registry_prepare_restart(within: Option<Interval>) -> Option<TimestampWithTimeZone> {
    let within = required(within, "within").as_micros();
    let within = Micros::try_from(within).unwrap_or(Micros::MAX);
    if !(1..=LONGEST_RESTART).contains(&within) {
        refuse("within must be greater than zero and at most 1 hour");
    }
    timestamp(admin::prepare_restart(within))
}

/// Answers a request of a member: for a lease, its renewal or its release. See [`protocol`]. **For members, not for
/// people.**
///
/// # Errors
/// 57P03 on a standby, 0A000 when the registry does not know the protocol, 22023 when it cannot read the request, 25001 in a transaction block.
#[pg_extern(sql = false)]
fn registry_request(request: JsonArgument) -> JsonText {
    /// Milliseconds. The registry's row stays locked from the answer to the commit.
    const COMMIT_WITHIN: i32 = 300;
    if recovery::is_in_progress() {
        refuse_standby();
    }
    commit_deadline::refuse_block(c"mint.registry_request()");
    let request = protocol::read(&request.0).unwrap_or_else(|why| refuse_request(why));
    let answer = JsonText(match request {
        Request::Lease(asked) => {
            let checked = asked.check().map_err(UnreadableMessage::Malformed);
            checked.unwrap_or_else(|why| refuse_request(why));
            protocol::write(&lease(&asked))
        }
        Request::Release { id, until } => protocol::write(&ReleaseAnswer {
            released: grant::release(id, until),
        }),
    });
    commit_deadline::commit_within(COMMIT_WITHIN);
    visitor::leave_when_stopping();
    answer
}

fn lease(asked: &LeaseRequest) -> LeaseAnswer {
    let login = privilege::name_of(privilege::session_user().into());
    let member = Requester {
        name: printable(&asked.holder),
        login: Some(login),
        system: asked.system,
        clock: asked.clock,
        listed: multirange(&asked.listed),
        seen: asked.seen,
    };
    let width = asked.node_bits;
    if let Some(assignee) = &asked.assignee {
        let told = asked.lease.map(|lease| lease.term);
        return assign::lease(width, assignee, told, &member);
    }
    let nodes = asked
        .nodes
        .map(|(first, last)| NodeRange::new(width, first, last));
    match (asked.lease, nodes) {
        (Some(NumberedTerm { id, term }), Some(nodes)) => grant::renew(id, nodes, term, &member),
        (_, nodes) => grant::grant(width, nodes, &member),
    }
}

/// Refuses on a standby, which grants nothing. Members take that for no answer: its code is that of a server that starts.
#[cold]
fn refuse_standby() -> ! {
    report(
        Code::ERRCODE_CANNOT_CONNECT_NOW,
        "registry of nodes is on a standby server",
    )
    .hint("Lead the foreign server to the primary server, or promote this one.")
    .raise()
}

#[cold]
fn refuse_request(why: UnreadableMessage) -> ! {
    match why {
        UnreadableMessage::Protocol(number) => report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("unsupported registry protocol {number}"),
        )
        .detail(format!("The registry supports protocol {PROTOCOL}."))
        .hint(if number < i64::from(PROTOCOL) {
            "Update pg_mint on the member."
        } else {
            "Update pg_mint on the registry before updating its members."
        }),
        UnreadableMessage::Malformed(why) => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "invalid request to the registry",
        )
        .detail(sentence(&why)),
    }
    .raise()
}
