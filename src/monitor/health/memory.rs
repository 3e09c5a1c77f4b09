//! Checks of what is limited: slots in shared memory, and values of sequences.

use crate::counter::segment::usage as segments;
use crate::counter::settings as counters;
use crate::counter::user::{sections, users};
use crate::monitor::health::finding::{Finding, Status};
use crate::pg::catalog::sql;
use crate::pg::size_setting::waits_for_restart;
use crate::registry::member::usage as leases;
use crate::snowflake::lane::{ceiling, lanes};
use crate::snowflake::settings as snowflake;

/// What happens when a table is full.
#[derive(Clone, Copy)]
enum Full {
    /// Calls fail, or share what is there.
    Refuses,
    /// The entry that was used least recently is evicted, which skips numbers.
    Evicts,
}

/// Whether the tables in shared memory are nearly full.
pub fn tables() -> [Finding; 6] {
    let wide = |(used, most): (usize, usize)| (used as u64, most as u64);
    let (used, most) = lanes::used();
    [
        table(
            ("lanes", "lanes"),
            (used.into(), most.into()),
            Full::Refuses,
            "Increase \"pg_mint.max_lanes\" and restart the server. Further nodes share one lane of their layout.",
        ),
        table(
            ("ceilings", "databases with a ceiling"),
            wide(ceiling::used()),
            Full::Refuses,
            "Drop databases that are not needed: their ceilings are given to others.",
        ),
        table(
            ("segments", "sequences with segments"),
            wide(segments::used()),
            Full::Evicts,
            "Increase \"pg_mint.max_segments\" and restart the server. Evicted segments skip values.",
        ),
        table(
            ("sections", "sections of user sequences"),
            wide(sections::used()),
            Full::Evicts,
            "Increase \"pg_mint.max_sections\" and restart the server. Evicted sections skip numbers.",
        ),
        table(
            ("users", "users of user sequences"),
            users::used(),
            Full::Evicts,
            "Increase \"pg_mint.user_memory\" and restart the server. Evicted users skip numbers.",
        ),
        table(
            ("lease_slots", "slots of leases"),
            wide(leases::used()),
            Full::Refuses,
            "Restart the server: slots are not used again.",
        ),
    ]
}

fn table(
    (check, what): (&'static str, &'static str),
    (used, most): (u64, u64),
    full: Full,
    hint: &'static str,
) -> Finding {
    const NEARLY: f64 = 80.0;
    let percent = 100.0 * used as f64 / most.max(1) as f64;
    let status = match full {
        Full::Refuses if percent >= 95.0 => Status::Critical,
        _ if percent >= NEARLY => Status::Warning,
        _ => Status::Ok,
    };
    let finding = Finding::ok(check, format!("{used} of {most} {what} are in use."));
    let finding = finding.measured(percent, NEARLY, "percent");
    finding.with(status, hint)
}

/// Whether a sequence of this database is near its end, of those that are drawn from in segments.
pub fn sequences() -> Finding {
    const CHECK: &str = "sequences";
    let Some((sequence, percent)) = segments::fullest() else {
        return Finding::ok(
            CHECK,
            "No sequence of this database was drawn from in segments.",
        );
    };
    let status = match percent {
        99.. => Status::Critical,
        90.. => Status::Warning,
        _ => Status::Ok,
    };
    let detail = format!(
        "Of the values of sequence \"{}\", {percent} percent were taken.",
        sql::name_of(sequence)
    );
    let finding = Finding::ok(CHECK, detail).measured(percent.into(), 90.0, "percent");
    finding.with(
        status,
        "Increase MAXVALUE of the sequence, or convert the column to bigint: see mint.inventory().",
    )
}

/// Whether settings wait for a restart of the server.
pub fn settings() -> Finding {
    let waiting = [
        waits_for_restart::<snowflake::MaxLanes>(),
        waits_for_restart::<counters::MaxSegments>(),
        waits_for_restart::<counters::MaxSections>(),
        waits_for_restart::<counters::UserMemory>(),
    ];
    let names = waiting.into_iter().flatten();
    let names: Vec<String> = names
        .map(|name| format!("\"{}\"", name.to_string_lossy()))
        .collect();
    let (detail, status) = if names.is_empty() {
        ("All settings are in effect.".to_owned(), Status::Ok)
    } else {
        let detail = format!("Changed since the memory was made: {}.", names.join(", "));
        (detail, Status::Warning)
    };
    let finding = Finding::ok("settings", detail).measured(names.len() as f64, 1.0, "settings");
    finding.with(status, "Restart the server.")
}
