//! Checks of the tables in shared memory, and of the settings that limit them.

use crate::counter::settings::{MAX_SECTIONS, MAX_SEGMENTS, USER_MEMORY};
use crate::counter::user::users;
use crate::monitor::health::defaults::{self, Defaults};
use crate::monitor::health::finding::{Finding, Status};
use crate::monitor::stats;
use crate::pg::shmem::reservation::{MORE, Usage, usage};
use crate::snowflake::lane::usage::LanesUsage;
use crate::snowflake::settings::MAX_LANES;
use std::ffi::CStr;

/// Returns whether there is too little memory, or a table is nearly full.
pub fn memory(all: &LanesUsage, defaults: &Defaults) -> Finding {
    // In the order of the statistics. Calls fail where there is no setting; other tables evict, or lanes are shared.
    const TABLES: [(&str, &str); 6] = [
        ("lanes", "max_lanes"),
        ("ceilings", ""),
        ("segments", "max_segments"),
        ("sections", "max_sections"),
        ("users", "user_memory"),
        ("leases", ""),
    ];
    let mut found = Vec::from_iter(shortage());
    for ((what, setting), [used, most]) in TABLES.into_iter().zip(stats::used()) {
        let status = match 100 * used / most.max(1) {
            ..80 => continue,
            95.. if setting.is_empty() => Status::Critical,
            _ => Status::Warning,
        };
        let mut detail = format!("{used} of {most} {what} are in use.");
        if what == "lanes" {
            detail.push_str(&sharing(all, defaults, used >= most));
        }
        let hint = match setting {
            _ if what == "leases" => "Restart the server.".to_owned(),
            "" => "Drop databases that are not needed, and restart the server.".to_owned(),
            _ => format!("Increase \"pg_mint.{setting}\" and restart the server."),
        };
        found.push(Finding::new(status, detail, hint));
    }
    found.into_iter().reduce(Finding::and).unwrap_or_else(|| {
        let bytes: u64 = usage().map(|segment| segment.size).sum();
        let size = bytes.div_ceil(1_024) + users::grown_kb() as u64;
        let detail = format!("There was memory for all that was needed: {size} kB.");
        Finding::ok(detail)
    })
}

/// Returns the layout with the most lanes, and if the table is full, columns whose ids have no lane of their own.
fn sharing(all: &LanesUsage, defaults: &Defaults, is_full: bool) -> String {
    let most = all.layouts.values().max_by_key(|(_, own)| own.len());
    let most = most.map_or_else(String::new, |(layout, own)| {
        format!(" Layout \"{layout}\" has {} of them.", own.len())
    });
    let named = defaults::name(&defaults.all, |default| {
        let own = all.layouts.get(&default.layout.key());
        let has_own = own.is_some_and(|(_, own)| match default.generated_shard() {
            Some(shard) => own.contains(&shard),
            None => !own.is_empty(),
        });
        (is_full && !has_own).then(|| "shares a lane with other shards of its layout".to_owned())
    });
    format!("{most} {named}")
}

/// Returns whether there was too little shared memory.
fn shortage() -> Option<Finding> {
    let lacking = |lacks: fn(&Usage) -> bool| {
        let all = usage().filter(lacks);
        quoted(all.map(|segment| segment.name))
    };
    if let Some(refused) = lacking(|segment| segment.is_refused) {
        let detail = format!("There was no memory for {refused}, and calls fail.");
        return Some(Finding::new(Status::Critical, detail, MORE));
    }
    let smaller = lacking(|segment| segment.size < segment.wanted);
    let detail = match users::shortage() {
        Some(shortage) => format!("{shortage}, so the least recently used ones are evicted."),
        None => format!("There was too little memory for all of {}.", smaller?),
    };
    Some(Finding::new(Status::Warning, detail, MORE))
}

/// Quotes names, if there are any.
fn quoted(names: impl Iterator<Item = &'static CStr>) -> Option<String> {
    let names: Vec<_> = names.map(|name| format!("{name:?}")).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns whether settings wait for a restart of the server.
pub fn settings() -> Finding {
    let all = [&MAX_LANES, &MAX_SEGMENTS, &MAX_SECTIONS, &USER_MEMORY];
    let Some(names) = quoted(all.iter().filter_map(|one| one.waits_for_restart())) else {
        return Finding::ok("All settings are in effect.");
    };
    let detail = format!("Changed since the memory was made: {names}.");
    Finding::new(Status::Warning, detail, "Restart the server.")
}
