//! Checks of the clock, and of the ceilings above the issued ids.

use crate::monitor::health::finding::{Finding, Status};
use crate::pg::backend::{guc, recovery};
use crate::pg::{machine::clock::ahead, sequence::Sequence};
use crate::snowflake::lane::{ceiling as ceilings, lanes, usage::LanesUsage};
use crate::snowflake::settings;
use mint_core::{Micros, clock::duration_text, clock::timestamp_text};
use std::cmp::Reverse;

/// Returns whether the clock has jumped or is behind issued ids, or a lane is so far ahead of it that calls will soon
/// wait. The owner of a database may write its ceiling, so that is a warning at most in other databases.
pub fn clock(lanes: &LanesUsage) -> Finding {
    const SHOWN: usize = 3;
    let policy = settings::policy();
    if let Some(by) = lanes::surplus().filter(|&by| by > policy.max_jump) {
        let by = duration_text(by);
        let detail = format!("The clock has jumped forward by {by}, so calls for snowflakes fail.");
        let hint = "Correct the clock of this machine. If it is right, use mint.accept_clock() as a superuser.";
        return Finding::new(Status::Critical, detail, hint);
    }
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for row in ceilings::rows() {
        let all = if row.is_own { &mut own } else { &mut others };
        let what = format!("the ceiling of database \"{}\"", row.database);
        all.push((ahead(row.floor), what));
    }
    // A ceiling in the future carries a lane that far.
    let is_carried = own.iter().any(|&(by, _)| by > 0);
    // Before the first call since the start of the server, and on a standby, only the page has it.
    if let Some((oid, None)) = ceilings::own_page()
        && let Some(row) = Sequence::peek(oid)
    {
        let what = "the ceiling of this database".to_owned();
        own.push((ahead(row.last_value), what));
    }
    let lane = lanes.furthest.map(|(by, layout, shard)| {
        let shard = shard.map_or_else(|| "shared lane".to_owned(), |it| format!("shard {it}"));
        let what = format!("the last id of a lane (layout \"{layout}\", {shard})");
        (by, what)
    });
    own.extend(lane.clone());
    own.sort_by_key(|&(by, _)| Reverse(by));
    others.sort_by_key(|&(by, _)| Reverse(by));
    let server = ahead(ceilings::server_floor());
    own.push((server, "the ceiling of the server".to_owned()));
    // Ids that are ahead by all of this are normal.
    let late = policy.max_ahead + policy.window + 100_000;
    let is_late = |&(by, _): &(Micros, String)| by > late;
    let own = own.into_iter().find(is_late);
    let status = match own {
        Some((by, _)) if by > late + guc::max_wait() => Status::Critical,
        _ => Status::Warning,
    };
    others.retain(is_late);
    let further = others.len().saturating_sub(SHOWN);
    let more = format!("So it is behind those of {further} more databases.");
    let shown = own.into_iter().chain(others.into_iter().take(SHOWN));
    let shown = shown.map(describe).chain((further > 0).then_some(more));
    let shown = shown.collect::<Vec<_>>().join(" ");
    if !shown.is_empty() {
        let hint = "Correct the clock of this machine. If it is right, a clock that was ahead has left ids or a ceiling in the future: see mint.reset_ceiling(timestamptz).";
        return Finding::new(status, shown, hint);
    }
    let Some(lane) = lane.filter(|&(by, _)| by > 0) else {
        return Finding::ok("The clock is ahead of all ids that were generated.");
    };
    let is_near = policy.max_ahead > 0 && lane.0 >= policy.max_ahead / 5 * 4;
    let status = Status::Warning.when(is_near && !is_carried);
    let hint = "Use more shards, or a layout with more bits of sequence: a lane can be ahead of the clock by \"pg_mint.max_ahead\".";
    Finding::new(status, describe(lane), hint)
}

fn describe((by, what): (Micros, String)) -> String {
    format!("The clock is {} behind {what}.", duration_text(by))
}

/// Returns whether the file of the server's ceiling can be read and written, and the page of the database still has the
/// value that was written to it.
pub fn ceiling() -> Finding {
    if let Some((detail, hint)) = ceilings::file_trouble() {
        return Finding::new(Status::Critical, detail, hint);
    }
    if recovery::is_in_progress() {
        return Finding::ok("This server is a standby: the ceiling is that of its primary.");
    }
    // Read the value in memory first: the page is never below it, unless somebody has set it back.
    let Some((oid, Some(written))) = ceilings::own_page() else {
        return Finding::ok("No ids were generated in this database since the server started.");
    };
    let Some(row) = Sequence::peek(oid) else {
        return Finding::ok("Sequence \"mint.time_ceiling\" is locked by another transaction.");
    };
    let status = Status::Critical.when(row.last_value < written);
    let [page, known] = [row.last_value, written].map(timestamp_text);
    let detail = format!("The ceiling on the page is {page}; {known} was written.");
    let hint = "Generate an id in this database, which raises the ceiling again, before the server is stopped. Do not modify sequence \"mint.time_ceiling\".";
    Finding::new(status, detail, hint)
}
