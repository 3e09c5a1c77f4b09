//! The lanes, for an administrator. This never makes the memory.

use crate::pg::machine::clock::ahead;
use crate::snowflake::lane::lanes;
use mint_core::snowflake::layout::LayoutKey;
use mint_core::{Layout, Micros};
use std::collections::{HashMap, HashSet};

/// The lanes from which ids were generated since the server started.
#[derive(Default)]
pub struct LanesUsage {
    /// The lead over the clock of the lane that is furthest ahead; its layout, and its shard unless it is shared.
    pub furthest: Option<(Micros, Layout, Option<u64>)>,
    /// The layouts, each with the shards that have a lane of their own.
    pub layouts: HashMap<LayoutKey, (Layout, HashSet<u64>)>,
}

impl LanesUsage {
    /// Reads the lanes.
    pub fn read() -> Self {
        let mut all = Self::default();
        // Thousands of lanes have few layouts, and reading a layout takes longer than the rest.
        let mut known = HashMap::new();
        for lane in lanes::made_lanes() {
            let layout = known.entry(lane.layout_bytes());
            let Some(layout) = *layout.or_insert_with(|| lane.layout()) else {
                continue;
            };
            let shard = lane.shard();
            let own = all.layouts.entry(layout.key());
            let (_, shards) = own.or_insert_with(|| (layout, HashSet::new()));
            shards.extend(shard);
            let last = layout.tick_start(lane.last() >> layout.seq.width);
            let last = last.map(|at| (ahead(at), layout, shard));
            let both = all.furthest.into_iter().chain(last);
            all.furthest = both.max_by_key(|&(ahead, ..)| ahead);
        }
        all
    }
}
