//! Tickets: numbers of several servers that never meet, as Flickr's ticket servers issue them.

use super::Regclass;
use super::segments::{create, drop_sequence, range, rows};
use crate::pg::errors::report;
use crate::pg::sequence::{Lock, Sequence};
use crate::pg::varlena::Words;
use crate::pg::{naming, rights, segment_session, segments};
use mint_core::values::first_of_series;
use pgrx::prelude::*;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Makes the tickets of one of `servers` servers: a sequence of the numbers `server`, `server + servers` and
/// so on above `above`, in 32 or 64 bits.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn ticket_create(
    name: Words,
    server: default!(i32, 1),
    servers: default!(i32, 1),
    bits: default!(i32, 64),
    above: default!(i64, 0),
) -> Regclass {
    let max = match bits {
        32 => i64::from(i32::MAX),
        64 => i64::MAX,
        _ => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "bits must be 32 or 64".to_owned(),
            None,
            None,
        ),
    };
    let start = start(server, servers, above);
    create(
        &name.0,
        &format!("INCREMENT {servers} MINVALUE 1 MAXVALUE {max} START {start}"),
    )
}

/// Where the series of a server begins.
fn start(server: i32, servers: i32, above: i64) -> i64 {
    let refuse = |message: String, hint: &str| -> ! {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            message,
            None,
            (!hint.is_empty()).then(|| hint.to_owned()),
        )
    };
    if servers < 1 {
        refuse("servers must be at least 1".to_owned(), "");
    }
    if !(1..=servers).contains(&server) {
        refuse(
            format!("server must be from 1 to {servers}"),
            "Each server has a number of its own.",
        );
    }
    if above < 0 {
        refuse("above must not be negative".to_owned(), "");
    }
    first_of_series(server.into(), servers.into(), above)
        .unwrap_or_else(|| refuse(format!("there is no ticket above {above}"), ""))
}

/// The next ticket of a sequence.
///
/// - **Unique** among all servers whose tickets were made with the same number of servers; else as
///   `segment_next`.
/// - **Ordered**, **Overflow**, **Crash and restart**, **Standby**, **Read-only transaction**, **Parallel
///   query**: as `segment_next`. Tickets of different servers are in no order.
#[pg_extern(volatile, strict, parallel_safe, cost = 1)]
fn ticket_next(ticket: Regclass) -> i64 {
    segments::next_ticket(ticket.0)
}

/// The next `count` tickets in a row: the range from the first to the last. Of n servers, every nth number
/// of the range is a ticket of this one, from the first on.
#[pg_extern(volatile, strict, parallel_safe, cost = 1)]
fn ticket_next_range(ticket: Regclass, count: i64) -> pgrx::datum::Range<i64> {
    range(segments::next_tickets(ticket.0, rows(count)))
}

/// The ticket that this session drew last, or the first of a range, as LAST_INSERT_ID(). What parallel
/// workers drew is not seen; DISCARD forgets it. Who may not look at the tickets now is refused, as `currval()` does.
#[pg_extern(volatile, strict, parallel_restricted, cost = 1)]
fn ticket_last(ticket: Regclass) -> i64 {
    let sequence = Sequence::open(ticket.0, Lock::Write).unwrap_or_else(|| refuse_gone(ticket));
    let any_of = pg_sys::ACL_USAGE | pg_sys::ACL_SELECT;
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    rights::demand(ticket.0, &sequence.name(), any_of, kind);
    segment_session::last_ticket(ticket.0).unwrap_or_else(|| {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "no ticket of \"{}\" has been drawn yet in this session",
                sequence.name()
            ),
            None,
            None,
        )
    })
}

fn refuse_gone(ticket: Regclass) -> ! {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("relation with OID {} does not exist", ticket.0),
        None,
        None,
    )
}

/// Changes the number of servers, or which one this is: the new series begins above `above`, which must be
/// the same for all servers and at least the greatest that any of them has taken. Returns the first ticket.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn ticket_change(ticket: Regclass, server: i32, servers: i32, above: i64) -> i64 {
    let start = start(server, servers, above);
    // Before the lock, which would keep others waiting. Altering it asks for its owner.
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    let name = naming::name_of(ticket.0);
    rights::demand(ticket.0, &name, pg_sys::ACL_UPDATE, kind);
    let sequence = Sequence::open_until_commit(ticket.0).unwrap_or_else(|| refuse_gone(ticket));
    let row = sequence.row();
    if row.is_called && row.last_value > above {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("above must be at least {}", row.last_value),
            Some(format!(
                "This server has taken tickets of \"{}\" up to there.",
                sequence.name()
            )),
            Some("Give the greatest last_value of all servers to each of them.".to_owned()),
        );
    }
    drop(sequence);
    let name = naming::exact_name_of(ticket.0);
    naming::run(&format!(
        "ALTER SEQUENCE {name} INCREMENT {servers} START {start} RESTART"
    ));
    start
}

/// Drops the tickets. Their owner can.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn ticket_drop(ticket: Regclass) {
    drop_sequence(ticket);
}
