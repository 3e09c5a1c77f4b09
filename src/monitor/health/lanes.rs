//! Checks of the lanes, and of the layouts that they are of.
//!
//! Any role may make lanes, of any layout. So what is critical is that of the defaults of columns: see [`super::defaults`].

use crate::monitor::health::defaults::Default;
use crate::monitor::health::finding::{Finding, Status, seconds};
use crate::monitor::health::memory::{Full, table};
use crate::pg::machine::clock::{ahead, now};
use crate::snowflake::lane::lanes;
use crate::snowflake::node::setting::{Node, node as node_setting};
use mint_core::clock::timestamp_text;
use mint_core::snowflake::layout::LayoutKey;
use mint_core::{Lane, Layout, Micros};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The most layouts or columns that a check names.
const SHOWN: usize = 3;

/// The lanes of a layout.
struct Use {
    layout: Layout,
    /// The shards with a lane of their own.
    shards: HashSet<u64>,
}

/// What the checks have to know of the lanes.
pub struct Lanes {
    /// The lane whose last id is the furthest ahead of the clock, and how far.
    pub furthest: Option<(Micros, &'static Lane)>,
    uses: HashMap<LayoutKey, Use>,
}

impl Lanes {
    pub fn read() -> Self {
        let now = now();
        // Thousands of lanes have few layouts, and reading a layout takes longer than all the rest.
        let mut layouts = HashMap::new();
        let mut uses: HashMap<LayoutKey, Use> = HashMap::new();
        let mut furthest = None;
        for lane in lanes::made_lanes() {
            let layout: &Option<Layout> = layouts
                .entry(lane.layout_bytes())
                .or_insert_with(|| lane.layout());
            let Some(layout) = *layout else {
                continue;
            };
            let of_layout = uses.entry(layout.key()).or_insert_with(|| Use {
                layout,
                shards: HashSet::new(),
            });
            of_layout.shards.extend(lane.shard());
            let start = layout.tick_start(lane.last() >> layout.seq.width);
            let ahead = start.map(|start| start.saturating_sub(now));
            if let Some(ahead) = ahead
                && furthest.is_none_or(|(most, _)| ahead > most)
            {
                furthest = Some((ahead, lane));
            }
        }
        Self { furthest, uses }
    }

    /// Returns whether ids of a default have a lane of their own, or those of a default without a shard can have.
    fn has_own(&self, default: &Default) -> bool {
        let shard = default.shard.or_else(|| match node_setting() {
            Node::Fixed(node) => Some(node.into()),
            _ => None,
        });
        self.uses
            .get(&default.layout.key())
            .is_some_and(|of_layout| match shard.map(i64::cast_unsigned) {
                Some(node) => of_layout.shards.contains(&node),
                None => !of_layout.shards.is_empty(),
            })
    }
}

/// Returns whether the table of lanes is nearly full. Ids of further shards share one lane of their layout then. They are as unique, and
/// any role can fill the table, so this is never critical: the columns whose ids share a lane are named.
pub fn slots(all: &Lanes, defaults: &[Default]) -> Finding {
    let (used, most) = lanes::used();
    let mut finding = table(
        "lanes",
        (used.into(), most.into()),
        Full::Evicts,
        "Increase \"pg_mint.max_lanes\" and restart the server. Further shards share one lane of their layout.",
    );
    if finding.status == Status::Ok {
        return finding;
    }
    let mut counts: Vec<(usize, &Layout)> = all
        .uses
        .values()
        .map(|of_layout| (of_layout.shards.len(), &of_layout.layout))
        .collect();
    counts.sort_unstable_by_key(|&(count, _)| Reverse(count));
    finding.detail.pop();
    for (place, (count, layout)) in counts.iter().take(SHOWN).enumerate() {
        let sign = if place == 0 { ':' } else { ',' };
        let _ = write!(finding.detail, "{sign} {count} of layout \"{layout}\"");
    }
    finding.detail.push('.');
    let sharing: Vec<&Default> = defaults
        .iter()
        .filter(|default| used >= most && !all.has_own(default))
        .collect();
    for default in sharing.iter().take(SHOWN) {
        let column = &default.column;
        let _ = write!(
            finding.detail,
            " Ids of {column} share a lane with other shards of their layout."
        );
    }
    if let Some(further) = further(sharing.len()) {
        let _ = write!(finding.detail, " So do those of {further} more columns.");
    }
    finding
}

fn further(count: usize) -> Option<usize> {
    count.checked_sub(SHOWN).filter(|&further| further > 0)
}

const DAY: Micros = 86_400_000_000;
const SOON: Micros = 365 * DAY;
const VERY_SOON: Micros = 30 * DAY;

/// Returns whether layouts end soon: those of defaults, and those from which ids were generated, which any role can do.
pub fn layouts(lanes: &Lanes, defaults: &[Default]) -> Finding {
    let mut own: Vec<(Micros, &Default)> = defaults
        .iter()
        .filter_map(|default| Some((default.layout.end()?, default)))
        .collect();
    own.sort_unstable_by_key(|&(end, _)| end);
    let keys: HashSet<LayoutKey> = defaults.iter().map(|own| own.layout.key()).collect();
    let others = lanes.uses.iter().filter(|(key, _)| !keys.contains(key));
    let mut ends: Vec<(Micros, &Layout)> = others
        .filter_map(|(_, of_layout)| Some((of_layout.layout.end()?, &of_layout.layout)))
        .collect();
    ends.sort_unstable_by_key(|&(end, _)| end);
    let (first_own, first_other) = (own.first(), ends.first());
    let status = status(first_own.map(|&(end, _)| end))
        .max(status(first_other.map(|&(end, _)| end)).min(Status::Warning));
    let first = match (first_own, first_other) {
        (Some(&(own, _)), Some(&(other, _))) if ahead(own) >= SOON => own.min(other),
        (Some(&(own, _)), _) => own,
        (None, Some(&(other, _))) => other,
        (None, None) => {
            return Finding::ok("No ids were generated since the server started.");
        }
    };
    let mut text = String::new();
    let is_shown = |end: Micros| ahead(end) < SOON || end == first;
    for (end, default) in own.iter().filter(|&&(end, _)| is_shown(end)).take(SHOWN) {
        let (layout, at, column) = (default.layout, timestamp_text(*end), &default.column);
        let _ = write!(text, "Layout \"{layout}\" of {column} ends at {at}. ");
    }
    for (end, layout) in ends.iter().filter(|&&(end, _)| is_shown(end)).take(SHOWN) {
        let at = timestamp_text(*end);
        let _ = write!(
            text,
            "Layout \"{layout}\", which no default of this database has, ends at {at}. "
        );
    }
    let finding = Finding::ok(text.trim_end());
    let days = |span: Micros| seconds(span) / 86_400.0;
    let finding = finding.measured(days(ahead(first)), days(SOON), "days");
    finding.with(
        status,
        "Convert the ids to a layout that lasts longer, as snowflake_convert() does.",
    )
}

fn status(end: Option<Micros>) -> Status {
    match end.map(ahead) {
        Some(..VERY_SOON) => Status::Critical,
        Some(..SOON) => Status::Warning,
        _ => Status::Ok,
    }
}
