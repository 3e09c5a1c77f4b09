//! Tickets: numbers of several servers that never collide, as Flickr's ticket servers issue them.

use crate::counter::common::{check_count, create, range_row};
use crate::counter::segment::functions::check_step;
use crate::counter::segment::{draw, source};
use crate::pg::catalog::{binding, privilege, relation, sql};
use crate::pg::charset;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{report, required};
use crate::pg::sequence::{Lock, Sequence};
use mint_core::counter::sequence::first_of_series;
use pgrx::PgSqlErrorCode as Code;
use pgrx::prelude::*;

/// Creates the tickets of one of `servers` servers: a sequence of the numbers `server`, `server + servers` and so on
/// above `above`, in 32 or 64 bits. Its MINVALUE is `server`, so that the definition shows whose tickets they are. Its
/// values are taken in steps of `step`, its CACHE, or in steps that adapt to the load.
#[pg_extern(sql = false)]
fn ticket_create(
    name: Option<DecodedText>,
    server: Option<i32>,
    servers: Option<i32>,
    bits: Option<i32>,
    above: Option<AnyNumeric>,
    step: Option<i64>,
) -> Regclass {
    let DecodedText(name) = required(name, "name");
    let (server, servers) = (required(server, "server"), required(servers, "servers"));
    let (bits, above) = (required(bits, "bits"), bigint(required(above, "above")));
    let max = match bits {
        32 => i64::from(i32::MAX),
        64 => i64::MAX,
        _ => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "bits must be 32 or 64",
        )
        .raise(),
    };
    let start = first_ticket(server, servers, above, max);
    step.iter().copied().for_each(check_step);
    let cache = step.unwrap_or(1);
    create(
        &name,
        &format!(
            "INCREMENT {servers} MINVALUE {server} MAXVALUE {max} START {start} CACHE {cache}"
        ),
    )
}

/// Returns `above` as a bigint. It is taken as numeric, the type of a number that is an id of an unsigned column.
fn bigint(above: AnyNumeric) -> i64 {
    i64::try_from(above).unwrap_or_else(|_| {
        report(
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            "above is out of range for type bigint",
        )
        .detail(format!("Tickets must be at most {}.", i64::MAX))
        .hint("Keep greater unsigned ids in a column of type numeric, and start the tickets below them.")
        .raise()
    })
}

/// Returns the first ticket of a server above `above` in a sequence up to `max`, and checks the arguments.
fn first_ticket(server: i32, servers: i32, above: i64, max: i64) -> i64 {
    let refuse = |message: String, hint: &str| -> ! {
        report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
            .hint_if((!hint.is_empty()).then(|| hint.to_owned()))
            .raise()
    };
    if servers < 1 {
        refuse("servers must be at least 1".to_owned(), "");
    }
    if !(1..=servers).contains(&server) {
        refuse(
            format!("server must be between 1 and {servers}"),
            "Give each server a number of its own.",
        );
    }
    if above < 0 {
        refuse("above must not be negative".to_owned(), "");
    }
    let first = first_of_series(server.into(), servers.into(), above);
    first.filter(|&first| first <= max).unwrap_or_else(|| {
        report(
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            format!("first ticket above {above} is out of range"),
        )
        .detail(format!("Tickets of the sequence must be at most {max}."))
        .hint_if((max < i64::MAX).then(|| "Use tickets of 64 bits.".to_owned()))
        .raise()
    })
}

/// Returns the next ticket of a sequence.
///
/// - **Unique** among all servers whose tickets were made with the same number of servers; otherwise like
///   `segment_next`.
/// - **Ordered**, **Overflow**, **Crash and restart**, **Standby**, **Read-only transaction**, **Parallel
///   query**: as `segment_next`. Tickets of different servers are in no order.
#[pg_extern(sql = false)]
fn ticket_next(ticket: Regclass) -> i64 {
    draw::next(ticket.0)
}

/// Returns the next `count` tickets in a row: the first, the last, and the step from one to the next, which is the
/// number of servers.
#[pg_extern(sql = false)]
fn ticket_next_range(
    ticket: Regclass,
    count: i64,
) -> TableIterator<'static, (name!(first, i64), name!(last, i64), name!(step, i64))> {
    range_row(draw::next_range(ticket.0, check_count(count)))
}

/// Returns the ticket that this session drew last, or the first of a range, as LAST_INSERT_ID(). Tickets that parallel
/// workers drew do not count; DISCARD forgets the last one. A role without the privilege to read the tickets is
/// refused, as by `currval()`.
#[pg_extern(sql = false)]
fn ticket_last(ticket: Regclass) -> i64 {
    draw::last(ticket.0, "ticket_last")
}

/// Returns the ticket that any session drew last; NULL before the first. Without tickets in the memory of this server, as
/// after a restart and on a standby, it is the sequence's own last value: no ticket above it was issued. A role without
/// the privilege to read the tickets is refused.
#[pg_extern(sql = false)]
fn ticket_current(ticket: Regclass) -> Option<i64> {
    draw::current(ticket.0)
}

/// Changes the number of servers, or the number of this server: the new series begins above `above`, which must be the
/// same for all servers and at least the greatest that any of them has taken. Returns the first ticket.
#[pg_extern(sql = false)]
fn ticket_alter(ticket: Regclass, server: i32, servers: i32, above: i64) -> i64 {
    demand_owner(ticket.0);
    let sequence = Sequence::open_until_commit(ticket.0).unwrap_or_else(|| sql::missing(ticket.0));
    let (rules, _) = sequence.definition();
    source::refuse_change("alter", ticket.0, &sequence, &rules);
    let start = first_ticket(server, servers, above, rules.max);
    let row = sequence.row();
    if row.is_called && row.last_value > above {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("above must be at least {}", row.last_value),
        )
        .detail(format!(
            "This server has taken tickets of sequence \"{}\" up to {}.",
            sequence.name(),
            row.last_value
        ))
        .hint("Use the greatest last_value of all servers on each server.")
        .raise();
    }
    drop(sequence);
    let name = sql::exact_name_of(ticket.0);
    let alter = format!(
        "ALTER SEQUENCE {name} INCREMENT {servers} MINVALUE {server} START {start} RESTART"
    );
    sql::run(&alter);
    let altered = Sequence::open(ticket.0, Lock::Read).map(|sequence| sequence.definition().0);
    if altered.is_none_or(|rules| (rules.increment, rules.min) != (servers.into(), server.into())) {
        binding::refuse();
    }
    start
}

/// Raises the server's own error unless the caller owns the tickets: before a lock that would block other sessions.
fn demand_owner(ticket: pg_sys::Oid) {
    let owner = relation::owner(ticket).unwrap_or_else(|| sql::missing(ticket));
    let name = relation::name(ticket).unwrap_or_default();
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    privilege::require_ownership(kind, &charset::c_string(&name), owner);
}
