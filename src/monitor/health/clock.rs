//! Checks of the clock, and of what was issued ahead of it.

use crate::monitor::health::finding::{Finding, Status, seconds};
use crate::monitor::health::lanes::Lanes;
use crate::pg::backend::{guc, recovery};
use crate::pg::machine::clock::ahead;
use crate::pg::sequence::Sequence;
use crate::snowflake::lane::ceiling as ceilings;
use crate::snowflake::lane::ceiling::Row;
use crate::snowflake::lane::lanes;
use crate::snowflake::settings;
use mint_core::clock::{duration_text, timestamp_text};
use mint_core::{Lane, Micros};
use std::cmp::Reverse;

fn describe(lane: &Lane) -> String {
    let layout = lane
        .layout()
        .map_or_else(String::new, |layout| layout.to_string());
    match lane.shard() {
        Some(shard) => format!("layout \"{layout}\", shard {shard}"),
        None => format!("layout \"{layout}\", shared lane"),
    }
}

/// The most other databases that the check names.
const SHOWN: usize = 3;

/// Returns whether the clock has jumped, or is behind what was issued.
pub fn clock(lanes: &Lanes) -> Finding {
    jump().unwrap_or_else(|| behind(lanes))
}

/// Returns a jump forward that was not confirmed: calls fail as soon as their lane is to move along with the clock.
fn jump() -> Option<Finding> {
    let most = settings::policy().max_jump;
    let by = lanes::surplus().filter(|&by| by > most)?;
    let detail = format!(
        "The clock has jumped forward by {}, so calls for snowflakes fail.",
        duration_text(by)
    );
    let finding = Finding::ok(detail).measured(seconds(by), seconds(most), "seconds");
    Some(finding.with(
        Status::Critical,
        "Correct the clock of this machine. If it is right, use mint.accept_clock() as a superuser.",
    ))
}

/// Returns from how far ahead of the clock on ids are not as they should be.
fn late() -> Micros {
    let policy = settings::policy();
    // Ids ahead by the whole of it are as they should be.
    policy.max_ahead + policy.window + 100_000
}

/// Returns what is furthest ahead: the ceiling of the server, if nothing else is `late`. Before the first call since the start of
/// the server, only that says it.
fn or_server(own: Option<(Micros, String)>, late: Micros) -> Option<(Micros, String)> {
    let server = ahead(ceilings::server_floor());
    match &own {
        Some((behind, _)) if *behind > late => own,
        _ if server > late => Some((server, "the ceiling of the server".to_owned())),
        _ => own,
    }
}

/// Returns whether the clock is behind what was issued: the lanes, and the ceilings that earlier runs of the server have left. The
/// owner of a database may write its ceiling, which is a warning at most in another one.
fn behind(lanes: &Lanes) -> Finding {
    let late = late();
    let floor = |row: Row| {
        let what = format!("the ceiling of database \"{}\"", row.database);
        (ahead(row.floor), what)
    };
    let (own, others): (Vec<Row>, Vec<Row>) =
        ceilings::rows().into_iter().partition(|row| row.is_own);
    // A standby has its ceiling on the page only.
    let page = ceilings::own_page().filter(|(_, written)| written.is_none());
    let page = page.and_then(|(oid, _)| Sequence::peek(oid));
    let page = page.map(|row| {
        (
            ahead(row.last_value),
            "the ceiling of this database".to_owned(),
        )
    });
    let lane = lanes.furthest.map(|(ahead, lane)| {
        let what = format!("the last id of a lane ({})", describe(lane));
        (ahead, what)
    });
    let own = own.into_iter().map(floor).chain(page).chain(lane);
    let own = own.max_by_key(|&(behind, _)| behind);
    let own = or_server(own, late);
    let mut others: Vec<(Micros, String)> = others.into_iter().map(floor).collect();
    others.sort_unstable_by_key(|&(behind, _)| Reverse(behind));
    let late_others = others.iter().filter(|&&(behind, _)| behind > late).count();
    let status = match own {
        Some((behind, _)) if behind > late + guc::max_wait() => Status::Critical,
        Some((behind, _)) if behind > late => Status::Warning,
        _ => Status::Warning.when(late_others > 0),
    };
    others.truncate(match &own {
        Some(_) => late_others.min(SHOWN),
        None => late_others.clamp(1, SHOWN),
    });
    let shown: Vec<(Micros, String)> = own.into_iter().chain(others).collect();
    let Some(&(first, _)) = shown
        .iter()
        .find(|&&(behind, _)| behind > late)
        .or(shown.first())
    else {
        return Finding::ok("No ids were generated since the server started.");
    };
    let behind = shown.iter().filter(|&&(behind, _)| behind > 0);
    let behind = behind
        .map(|(behind, what)| format!("The clock is {} behind {what}.", duration_text(*behind)));
    let mut sentences: Vec<String> = behind.collect();
    if sentences.is_empty() {
        sentences.push("The clock is ahead of all ids that were generated.".to_owned());
    }
    if let Some(further) = late_others.checked_sub(SHOWN).filter(|&count| count > 0) {
        sentences.push(format!(
            "So it is behind those of {further} more databases."
        ));
    }
    let finding = Finding::ok(sentences.join(" "));
    let finding = finding.measured(seconds(first.max(0)), seconds(late), "seconds");
    finding.with(
        status,
        "Correct the clock of this machine. If it is right, a clock that was ahead has left ids or a ceiling in the future: see mint.reset_ceiling(timestamptz).",
    )
}

/// Returns whether the page of this database's ceiling is below what was written to it.
pub fn ceiling() -> Finding {
    if recovery::is_in_progress() {
        return Finding::ok("This server is a standby: the ceiling is that of its primary.");
    }
    // The value in memory first: the page is never below it, unless somebody has set it back.
    let Some((oid, Some(written))) = ceilings::own_page() else {
        return Finding::ok("No ids were generated in this database since the server started.");
    };
    let Some(row) = Sequence::peek(oid) else {
        return Finding::ok("Sequence \"mint.time_ceiling\" is locked by another transaction.");
    };
    let short = written.saturating_sub(row.last_value).max(0);
    let detail = format!(
        "The ceiling on the page is {}; {} was written.",
        timestamp_text(row.last_value),
        timestamp_text(written)
    );
    let finding = Finding::ok(detail).measured(seconds(short), 0.000_001, "seconds");
    finding.with(
        Status::Critical.when(short > 0),
        "Generate an id in this database, which raises the ceiling again, before the server is stopped. Do not modify sequence \"mint.time_ceiling\".",
    )
}

/// Returns whether lanes run so far ahead of the clock that calls will soon wait.
pub fn capacity(lanes: &Lanes) -> Finding {
    let policy = settings::policy();
    if policy.max_ahead == 0 {
        return Finding::ok("Ids never run ahead of the clock, as \"pg_mint.max_ahead\" is 0.");
    }
    let own = ceilings::rows().into_iter().find(|row| row.is_own);
    let floor = own.map_or(0, |row| ahead(row.floor));
    let Some((ahead, lane)) = lanes.furthest else {
        return Finding::ok("No ids were generated since the server started.");
    };
    let threshold = policy.max_ahead / 5 * 4;
    // A clock that was set back, or a ceiling in the future, carries a lane that far, too.
    let is_of_use = ahead <= late() && floor <= 0;
    let detail = match ahead {
        ..=0 => "No lane is ahead of the clock.".to_owned(),
        _ => format!(
            "A lane is {} ahead of the clock ({}).",
            duration_text(ahead),
            describe(lane)
        ),
    };
    let finding = Finding::ok(detail);
    let finding = finding.measured(seconds(ahead.max(0)), seconds(threshold), "seconds");
    finding.with(
        Status::Warning.when(ahead >= threshold && is_of_use),
        "Use more shards, or a layout with more bits of sequence.",
    )
}
