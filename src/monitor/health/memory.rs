//! Checks of what is limited: slots in shared memory, and settings that limit them.

use crate::counter::segment::usage as segments;
use crate::counter::settings as counters;
use crate::counter::user::{sections, users};
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::shmem::reservation::{MORE, Usage, usage};
use crate::registry::member::usage as leases;
use crate::snowflake::lane::ceiling;
use crate::snowflake::settings as snowflake;

/// What happens when a table is full.
#[derive(Clone, Copy)]
pub enum Full {
    /// Calls fail, or share what is there.
    Refuses,
    /// The entry that was used least recently is evicted, which skips numbers.
    Evicts,
}

/// Returns whether the tables in shared memory are nearly full, but for that of lanes: see [`super::lanes`].
pub fn tables() -> [(&'static str, Finding); 5] {
    let wide = |(used, most): (usize, usize)| (used as u64, most as u64);
    let rows = [
        (
            "ceilings",
            "databases with a ceiling",
            wide(ceiling::used()),
            Full::Refuses,
            "Drop databases that are not needed: their ceilings are given to others.",
        ),
        (
            "segments",
            "sequences with segments",
            wide(segments::used()),
            Full::Evicts,
            "Increase \"pg_mint.max_segments\" and restart the server. Evicted segments skip values.",
        ),
        (
            "sections",
            "sections of user sequences",
            wide(sections::used()),
            Full::Evicts,
            "Increase \"pg_mint.max_sections\" and restart the server. Evicted sections skip numbers.",
        ),
        (
            "users",
            "users of user sequences",
            users::used(),
            Full::Evicts,
            "Increase \"pg_mint.user_memory\" and restart the server. Evicted users skip numbers.",
        ),
        (
            "lease_slots",
            "slots of leases",
            wide(leases::used()),
            Full::Refuses,
            "Restart the server: slots are not used again.",
        ),
    ];
    rows.map(|(check, what, used, full, hint)| (check, table(what, used, full, hint)))
}

pub fn table(what: &str, (used, most): (u64, u64), full: Full, hint: &'static str) -> Finding {
    const NEARLY: f64 = 80.0;
    let percent = 100.0 * used as f64 / most.max(1) as f64;
    let status = match full {
        Full::Refuses if percent >= 95.0 => Status::Critical,
        _ if percent >= NEARLY => Status::Warning,
        _ => Status::Ok,
    };
    let finding = Finding::ok(format!("{used} of {most} {what} are in use."));
    let finding = finding.measured(percent, NEARLY, "percent");
    finding.with(status, hint)
}

/// Returns whether there was too little shared memory.
pub fn memory() -> Finding {
    let segments: Vec<Usage> = usage().collect();
    let names = |lacks: fn(&Usage) -> bool| {
        let lacking = segments.iter().filter(|segment| lacks(segment));
        let names = lacking.map(|segment| format!("\"{}\"", segment.name.to_string_lossy()));
        names.collect::<Vec<_>>().join(", ")
    };
    let smaller = names(|segment| segment.size < segment.wanted);
    let (status, detail) = match (names(|segment| segment.is_refused), users::shortage()) {
        (refused, _) if !refused.is_empty() => (
            Status::Critical,
            format!("There was no memory for {refused}, and calls fail."),
        ),
        (_, Some(shortage)) => (
            Status::Warning,
            format!("{shortage}, so the least recently used ones are evicted."),
        ),
        _ if !smaller.is_empty() => (
            Status::Warning,
            format!("There was too little memory for all of {smaller}."),
        ),
        _ => (
            Status::Ok,
            "There was memory for all that was needed.".to_owned(),
        ),
    };
    let size: u64 = segments.iter().map(|segment| segment.size).sum();
    let all = size as f64 / 1_024.0 + users::grown() as f64;
    let mut finding = Finding::ok(detail).with(status, MORE);
    finding.value = Some(all.ceil());
    finding.unit = Some("kB");
    finding
}

/// Returns whether settings wait for a restart of the server.
pub fn settings() -> Finding {
    let waiting = [
        &snowflake::MAX_LANES,
        &counters::MAX_SEGMENTS,
        &counters::MAX_SECTIONS,
        &counters::USER_MEMORY,
    ];
    let names: Vec<String> = waiting
        .iter()
        .filter_map(|setting| setting.waits_for_restart())
        .map(|name| format!("\"{}\"", name.to_string_lossy()))
        .collect();
    let detail = match names.join(", ").as_str() {
        "" => "All settings are in effect.".to_owned(),
        names => format!("Changed since the memory was made: {names}."),
    };
    let finding = Finding::ok(detail).measured(names.len() as f64, 1.0, "settings");
    finding.with(
        Status::Warning.when(!names.is_empty()),
        "Restart the server.",
    )
}
