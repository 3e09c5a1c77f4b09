//! Checks of the lanes, and of the layouts that they are of.
//!
//! Any role may make lanes, of any layout. So what is critical is that of the defaults of columns: see [`super::defaults`].

use crate::monitor::health::defaults::{Default, Defaults, by_owner};
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
pub fn slots(all: &Lanes, defaults: &Defaults) -> Finding {
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
    let sharing = defaults.all.iter();
    let sharing = sharing.filter(|default| used >= most && !all.has_own(default));
    let owners = by_owner(sharing);
    for (default, further) in owners.iter().take(SHOWN) {
        let column = &default.column;
        let _ = write!(
            finding.detail,
            " Ids of {column} share a lane with other shards of their layout."
        );
        if *further > 0 {
            let _ = write!(
                finding.detail,
                " So do those of {further} more columns of this role."
            );
        }
    }
    if let Some(further) = more(owners.len()) {
        let _ = write!(
            finding.detail,
            " So do those of columns of {further} more roles."
        );
    }
    if let Some(left_out) = &defaults.left_out {
        let _ = write!(finding.detail, " {left_out}");
    }
    finding
}

fn more(count: usize) -> Option<usize> {
    count.checked_sub(SHOWN).filter(|&further| further > 0)
}

const DAY: Micros = 86_400_000_000;
const SOON: Micros = 365 * DAY;
const VERY_SOON: Micros = 30 * DAY;

/// Returns whether layouts end soon: those of defaults, and those from which ids were generated, which any role can do.
pub fn layouts(lanes: &Lanes, defaults: &Defaults) -> Finding {
    let own = defaults.all.iter();
    let own = own.filter_map(|default| Some((default.layout.end()?, default)));
    let mut own: Vec<(Micros, &Default)> = own.collect();
    own.sort_by_cached_key(|&(end, _)| urgency(end));
    let keys: HashSet<LayoutKey> = defaults.all.iter().map(|own| own.layout.key()).collect();
    let others = lanes.uses.iter().filter(|(key, _)| !keys.contains(key));
    let mut ends: Vec<(Micros, &Layout)> = others
        .filter_map(|(_, of_layout)| Some((of_layout.layout.end()?, &of_layout.layout)))
        .collect();
    ends.sort_by_cached_key(|&(end, _)| urgency(end));
    let (first_own, first_other) = (own.first(), ends.first());
    let status = status(first_own.map(|&(end, _)| end))
        .max(status(first_other.map(|&(end, _)| end)).min(Status::Warning));
    let first = match (first_own, first_other) {
        (Some(&(own, _)), Some(&(other, _))) if ahead(own) >= SOON => own.min(other),
        (Some(&(own, _)), _) => own,
        (None, Some(&(other, _))) => other,
        (None, None) => {
            let detail = "No ids were generated since the server started.".to_owned();
            return Finding::ok(defaults.left_out.clone().unwrap_or(detail));
        }
    };
    let mut sentences = Vec::new();
    let is_shown = |end: Micros| ahead(end) < SOON || end == first;
    let shown = own.iter().filter(|&&(end, _)| is_shown(end));
    let owners = by_owner(shown.map(|&(_, default)| default));
    for (default, further) in owners.iter().take(SHOWN) {
        let (layout, column) = (&default.layout, &default.column);
        sentences.push(format!("Layout \"{layout}\" of {column} {}.", when(layout)));
        if *further > 0 {
            sentences.push(format!(
                "{further} more columns of this role have such layouts."
            ));
        }
    }
    if let Some(further) = more(owners.len()) {
        sentences.push(format!("{further} more roles have such columns."));
    }
    let shown = ends.iter().filter(|&&(end, _)| is_shown(end));
    sentences.extend(shown.take(SHOWN).map(|(_, layout)| {
        format!(
            "Layout \"{layout}\", which no default of this database has, {}.",
            when(layout)
        )
    }));
    sentences.extend(defaults.left_out.clone());
    let finding = Finding::ok(sentences.join(" "));
    let days = |span: Micros| seconds(span) / 86_400.0;
    let finding = finding.measured(days(ahead(first)), days(SOON), "days");
    finding.with(
        status,
        "Convert the ids to a layout that lasts longer, as snowflake_convert() does.",
    )
}

fn when(layout: &Layout) -> String {
    let end = layout.end().unwrap_or(Micros::MAX);
    let ends = if ahead(end) > 0 { "ends" } else { "ended" };
    format!("{ends} at {}", timestamp_text(end))
}

/// Returns by what to sort ends: critical ones first, and of these the next first. What has ended follows, the last first: it
/// fails already, and a role can make any number of them.
fn urgency(end: Micros) -> (Reverse<Status>, bool, Micros) {
    let left = ahead(end);
    (Reverse(status(Some(end))), left <= 0, left.saturating_abs())
}

fn status(end: Option<Micros>) -> Status {
    match end.map(ahead) {
        Some(..VERY_SOON) => Status::Critical,
        Some(..SOON) => Status::Warning,
        _ => Status::Ok,
    }
}
