//! Findings of the ids themselves: their times, shards, layouts and versions.

use crate::adopt::audit::subject::Subject;
use crate::adopt::audit::{Finding, Severity};
use crate::adopt::catalog::default::IdKind;
use crate::pg::catalog::scan::sample::Value;
use crate::pg::machine::clock;
use crate::snowflake::settings;
use mint_core::adopt::evidence::{LARGE, Numbers, of_numbers};
use mint_core::clock::{duration_text, timestamp_text};
use mint_core::uuid::version;
use mint_core::{Layout, Micros, ObjectId, Parts, Uuid};
use std::collections::BTreeMap;

/// Clocks of servers that are in order differ by less.
const SLACK: Micros = 1_000_000;

/// Checks snowflakes against their layout.
pub fn check_snowflakes(subject: &Subject, layout: &Layout, found: &mut Vec<Finding>) {
    let mut numbers = subject.numbers();
    let small = numbers.iter().filter(|&&id| id < LARGE).count();
    numbers.retain(|&id| id >= LARGE);
    if small > 0 {
        let evidence = format!(
            "{} are below 2^40, as those of a counter are.",
            subject.share(small)
        );
        found.push(Finding::info("ids of a counter", evidence));
    }
    let decoded: Vec<(i64, Option<Parts>)> = numbers
        .iter()
        .map(|&id| (id, layout.decode(id).ok()))
        .collect();
    let strange = decoded.iter().filter(|(_, parts)| parts.is_none()).count();
    let mut is_of_another = true;
    if strange > 0 {
        let evidence = format!("{} cannot be of layout {layout}.", subject.share(strange));
        found.push(Finding::error("ids of another layout", evidence));
    } else if let Some(Numbers::Snowflake(other)) = of_numbers(&numbers, clock::now())
        && other.key() != layout.key()
        && !is_of_its_time(&decoded)
    {
        let evidence = format!("The ids look like layout {other}, and the layout is {layout}.");
        found.push(Finding::error("ids of another layout", evidence));
    } else {
        is_of_another = false;
    }
    check_nodes(subject, &decoded, found);
    // The times of ids of another layout mean nothing.
    if !is_of_another {
        check_future(subject, layout, &decoded, found);
    }
}

/// Returns whether the newest id is of the last month, and so most likely of the layout.
fn is_of_its_time(decoded: &[(i64, Option<Parts>)]) -> bool {
    const MONTH: Micros = 30 * 86_400_000_000;
    let newest = decoded
        .iter()
        .filter_map(|(_, parts)| parts.map(|parts| parts.at))
        .max();
    newest.is_some_and(|at| clock::now().saturating_sub(at).abs() < MONTH)
}

fn check_nodes(subject: &Subject, decoded: &[(i64, Option<Parts>)], found: &mut Vec<Finding>) {
    let Some(shard) = subject.generated.and_then(|generated| generated.shard) else {
        return;
    };
    let mut others: BTreeMap<u64, usize> = BTreeMap::new();
    for parts in decoded.iter().filter_map(|(_, parts)| *parts) {
        if parts.shard.cast_signed() != shard {
            *others.entry(parts.shard).or_default() += 1;
        }
    }
    if others.is_empty() {
        return;
    }
    let shards: Vec<String> = others.keys().take(5).map(u64::to_string).collect();
    let more = if others.len() > 5 { " and others" } else { "" };
    let evidence = format!(
        "{} are of shards {}{more}, and the default generates those of {shard}.",
        subject.share(others.values().sum()),
        shards.join(", ")
    );
    found.push(Finding::info("ids of other shards", evidence));
}

fn check_future(
    subject: &Subject,
    layout: &Layout,
    decoded: &[(i64, Option<Parts>)],
    found: &mut Vec<Finding>,
) {
    let limit = clock::now() + settings::policy().max_ahead + SLACK;
    let ahead: Vec<(i64, Micros)> = decoded
        .iter()
        .filter_map(|&(id, parts)| Some((id, parts?.at)))
        .filter(|&(_, at)| at > limit)
        .collect();
    let Some(&(id, at)) = ahead.iter().max() else {
        return;
    };
    let own = match subject.generated.and_then(|generated| generated.shard) {
        Some(shard) => ahead
            .iter()
            .filter(|&&(id, _)| {
                layout
                    .decode(id)
                    .is_ok_and(|parts| parts.shard.cast_signed() == shard)
            })
            .max()
            .copied(),
        None => Some((id, at)),
    };
    let evidence = format!(
        "{} are later than the clock. The latest, {id}, is of {}, {} ahead.",
        subject.share(ahead.len()),
        timestamp_text(at),
        duration_text(at.saturating_sub(clock::now()))
    );
    let finding = Finding::error("ids of the future", evidence);
    // Only ids of the default's own shard can be met by new ones, and no call starts a shard further ahead.
    let reach = settings::policy().max_jump;
    found.push(match own {
        Some((_, at)) if at.saturating_sub(clock::now()) > reach => finding,
        Some((id, _)) => finding.corrected_by(format!(
            "SELECT {0}.snowflake_start_above({id}, '{layout}'::{0}.snowflake_layout);",
            subject.home.schema
        )),
        None => Finding {
            severity: Severity::Warning,
            ..finding
        },
    });
}

/// Checks UUIDs: their versions against the default's, and the times of version 7.
pub fn check_uuids(subject: &Subject, found: &mut Vec<Finding>) {
    let id = |value: &Value| match value {
        Value::Uuid(bytes) => Some(Uuid::from_bytes(*bytes)),
        _ => None,
    };
    let ids: Vec<Uuid> = subject.ids.values.iter().filter_map(id).collect();
    if let Some(IdKind::Uuid(made)) = subject.generated.map(|generated| generated.kind) {
        let mut others: BTreeMap<Option<u8>, usize> = BTreeMap::new();
        for id in &ids {
            let its = version::version(id);
            if its != Some(made) {
                *others.entry(its).or_default() += 1;
            }
        }
        for (its, count) in others {
            let its = its.map_or_else(|| "no version".to_owned(), |its| format!("version {its}"));
            let evidence = format!(
                "{} are of {its}, and the default generates version {made}.",
                subject.share(count)
            );
            found.push(Finding::info("ids of another version", evidence));
        }
    }
    let times = ids.iter().filter(|id| version::version(id) == Some(7));
    check_times(subject, times.filter_map(version::time).collect(), found);
}

/// Checks the times of ObjectIDs.
pub fn check_objectids(subject: &Subject, found: &mut Vec<Finding>) {
    let time = |value: &Value| match value {
        Value::Bytes(bytes) => Some(ObjectId(*bytes).time()),
        _ => None,
    };
    check_times(
        subject,
        subject.ids.values.iter().filter_map(time).collect(),
        found,
    );
}

fn check_times(subject: &Subject, times: Vec<Micros>, found: &mut Vec<Finding>) {
    let limit = clock::now() + SLACK;
    let ahead = times.iter().filter(|&&at| at > limit);
    let (count, latest) = (ahead.clone().count(), ahead.max());
    if let Some(&latest) = latest {
        let evidence = format!(
            "{} are later than the clock. The latest is of {}.",
            subject.share(count),
            timestamp_text(latest)
        );
        found.push(Finding::warning("ids of the future", evidence));
    }
}
