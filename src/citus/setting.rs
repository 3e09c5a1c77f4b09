//! The shards beside its group that are a Citus node's own: the setting `pg_mint.own_shards`.

use crate::pg::backend::guc::{ParsedGuc, define_parsed};
use crate::pg::backend::local::Cached;
use crate::pg::error::{impossible, sentence};
use crate::snowflake::node::grantor;
use mint_core::parse_nodes;
use pgrx::{GucContext, GucSetting};
use std::ffi::CString;
use std::ops::RangeInclusive;
use std::rc::Rc;

static OWN_SHARDS: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// Cleared when the setting is assigned.
static LISTED: Cached<Vec<RangeInclusive<u64>>> = Cached::new();

/// The value of `pg_mint.own_shards`.
#[derive(Default)]
struct OwnShards(Vec<RangeInclusive<u64>>);

/// Returns the listed range that has a shard.
pub fn range_of(shard: u64) -> Option<RangeInclusive<u64>> {
    listed()
        .iter()
        .find(|range| range.contains(&shard))
        .cloned()
}

/// Returns whether any shard is listed.
pub fn is_set() -> bool {
    !listed().is_empty()
}

/// Returns whether a value of the setting lists a shard that this one lists.
pub fn overlaps(other: &str) -> bool {
    let OwnShards(others) = OwnShards::parse(other).unwrap_or_default();
    let meets = |own: &RangeInclusive<u64>, other: &RangeInclusive<u64>| {
        own.start() <= other.end() && other.start() <= own.end()
    };
    listed()
        .iter()
        .any(|own| others.iter().any(|other| meets(own, other)))
}

fn listed() -> Rc<Vec<RangeInclusive<u64>>> {
    LISTED.get_or(|| {
        let text = OWN_SHARDS.get().unwrap_or_default();
        // Checked when the setting was assigned.
        let parsed = OwnShards::parse(&text.to_string_lossy());
        parsed
            .unwrap_or_else(|_| impossible("value of pg_mint.own_shards"))
            .0
    })
}

impl ParsedGuc for OwnShards {
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("all") {
            return Ok(Self(vec![0..=u64::MAX]));
        }
        parse_nodes(text)
            .map(Self)
            .map_err(|error| sentence(&error.to_string()))
    }

    fn assign(self) {
        LISTED.clear();
        grantor::changed();
    }
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    define_parsed::<OwnShards>(
        c"pg_mint.own_shards",
        c"Sets the shards that only this node of a Citus cluster generates ids of.",
        c"Shards and ranges of shards, like 5, 100-163, or \"all\". Its group is always its own. No effect on a server that is no node of a Citus cluster.",
        &OWN_SHARDS,
        GucContext::Suset,
    );
}
