//! Reset of a ceiling that a clock far ahead has raised.

use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence;
use crate::pg::sequence::Lock;
use crate::snowflake::lane::ceiling::{CeilingPage, attach, open};
use crate::snowflake::lane::{lanes, server_ceiling};
use crate::snowflake::settings;
use mint_core::clock::{duration_text, timestamp_text};
use mint_core::{Micros, Page};
use pgrx::PgSqlErrorCode as Code;

/// Sets this database's ceiling to `wanted`, or as near as is safe while sessions mint: not below ids that they can
/// issue before they see it. Returns the new ceiling.
pub fn reset(wanted: Micros) -> Micros {
    let mut page = attach(open(Lock::Alone));
    if wanted == Micros::MAX {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "ceiling cannot be infinity",
        )
        .raise();
    }
    let policy = settings::policy();
    if let Some(by) = lanes::surplus().filter(|&by| by > policy.max_jump) {
        refuse_jump(by);
    }
    let value = wanted.max(clock::now() + policy.max_ahead);
    refuse_below_lanes(value);
    set(&mut page, value);
    // A session can have advanced a lane under the old bounds since the first check: they cover it again first.
    let issued = lanes::issued_lanes().map(|(.., at)| at);
    if let Some(last) = issued.filter(|&at| at >= value).max() {
        set(&mut page, last.saturating_add(settings::window()));
        refuse_below_lanes(value);
    }
    server_ceiling::reset(value);
    value
}

fn set(page: &mut CeilingPage, value: Micros) {
    let Ok((_, position)) = page.update(|_| Some(value));
    sequence::flush(position);
    page.reset_bounds(value);
}

#[cold]
#[track_caller]
fn refuse_jump(by: Micros) -> ! {
    let by = duration_text(by);
    report(
        Code::ERRCODE_SYSTEM_ERROR,
        format!("system clock jumped forward by {by}"),
    )
    .detail("The ceiling would be ahead of the clock once that is corrected.")
    .hint("If the clock is correct, use mint.accept_clock() as a superuser. Otherwise, correct the clock.")
    .raise();
}

#[track_caller]
fn refuse_below_lanes(value: Micros) {
    if let Some(lane) = describe_lane_beyond(value) {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot reset ceiling below ids generated since the server started",
        )
        .detail(lane)
        .hint("Correct the system clock, restart the server, and reset the ceiling before any id is generated.")
        .raise();
    }
}

/// Describes a lane that has issued ids of `limit` or later, if there is one.
fn describe_lane_beyond(limit: Micros) -> Option<String> {
    let (lane, layout, at) = lanes::issued_lanes().find(|&(_, _, at)| at >= limit)?;
    let shard = lane
        .shard()
        .map_or_else(String::new, |shard| format!(", shard {shard}"));
    Some(format!(
        "Ids of layout \"{layout}\"{shard} were generated up to {}.",
        timestamp_text(at)
    ))
}
