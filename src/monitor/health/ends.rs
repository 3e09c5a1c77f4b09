//! Checks of layouts that end, and of sequences that are drawn from in segments.

use crate::counter::segment::usage::{Drawn, nearly_drawn};
use crate::monitor::health::defaults::{self, Defaults};
use crate::monitor::health::finding::{Finding, Status, one_of_each};
use crate::pg::catalog::{privilege, sql};
use crate::pg::machine::clock::ahead;
use crate::snowflake::lane::usage::LanesUsage;
use mint_core::{Layout, Micros, clock::DAY, clock::timestamp_text};
use std::{cmp::Reverse, collections::HashSet};

fn status(layout: &Layout) -> Status {
    match layout.end().map(ahead) {
        Some(left) if left < 30 * DAY => Status::Critical,
        Some(left) => Status::Warning.when(left < 365 * DAY),
        None => Status::Ok,
    }
}

/// Returns a key to sort layouts by: critical ones first, and of these the next to end first. Ended ones follow, the
/// last first: they fail already, and a role can make any number of them.
fn urgency(layout: &Layout) -> (Reverse<Status>, bool, Micros) {
    let left = layout.end().map_or(Micros::MAX, ahead);
    (Reverse(status(layout)), left <= 0, left.saturating_abs())
}

/// Describes a layout that ends soon.
fn describe(layout: &Layout) -> Option<String> {
    let end = layout.end().filter(|_| status(layout) != Status::Ok)?;
    let ends = if ahead(end) > 0 { "ends" } else { "ended" };
    let end = timestamp_text(end);
    Some(format!("has layout \"{layout}\", which {ends} at {end}"))
}

/// Returns whether layouts end soon: those of defaults, and the next to end of other lanes, which any role can make.
pub fn layouts(lanes: &LanesUsage, defaults: &Defaults) -> Finding {
    let mut own: Vec<_> = defaults.all.iter().collect();
    own.sort_by_cached_key(|own| urgency(&own.layout));
    let keys: HashSet<_> = own.iter().map(|own| own.layout.key()).collect();
    let others = lanes.layouts.values().map(|(layout, _)| layout);
    let others = others.filter(|layout| !keys.contains(&layout.key()));
    let other = others.min_by_key(|layout| urgency(layout));
    let of_own = own.first().map_or(Status::Ok, |own| status(&own.layout));
    let of_other = other.map_or(Status::Ok, status).min(Status::Warning);
    let own = defaults::name(own, |own| describe(&own.layout));
    let other = other.and_then(describe).map_or_else(String::new, |text| {
        format!("No default of this database {text}, and ids were generated.")
    });
    let detail = format!("{own} {other} {}", defaults.left_out);
    if detail.trim().is_empty() {
        return Finding::ok("No layout in use ends within a year.");
    }
    let hint = "Change the ids to a layout that lasts longer, by snowflake_encode(). All columns are in mint.id_columns.";
    let partial = Status::Warning.when(!defaults.left_out.is_empty());
    Finding::new(partial.max(of_own).max(of_other), detail, hint)
}

/// Judges a sequence. If it has fewer values than a smallint, it is a toy that any role with a schema can make.
fn status_of(drawn: &Drawn) -> Status {
    let is_at_end = drawn.percent >= 99 && drawn.values >= 32_767;
    Status::Warning.max(Status::Critical.when(is_at_end || drawn.is_troubled && drawn.left == 0))
}

/// Returns whether sequences of this database with segments are near their ends, or lack one of another server.
pub fn sequences() -> Finding {
    let mut all = nearly_drawn(90);
    all.sort_by_key(|drawn| Reverse((status_of(drawn), drawn.percent)));
    let Some(worst) = all.first() else {
        return Finding::ok("No sequence with segments is near its end.");
    };
    let detail = one_of_each(all.iter().map(|drawn| {
        let sequence = sql::name_of(drawn.sequence);
        let role = privilege::name_of(drawn.owner);
        let says = match drawn.is_troubled {
            true => "lacks a segment of its foreign server".to_owned(),
            false => format!("has used {} percent of its values", drawn.percent),
        };
        let text = format!("Sequence \"{sequence}\" of role \"{role}\" {says}");
        (drawn.owner, text, 1)
    }));
    let hint = "See trouble in mint.segments, or increase MAXVALUE, or change the column to bigint: see mint.id_columns.";
    Finding::new(status_of(worst), detail, hint)
}
