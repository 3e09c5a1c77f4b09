//! The shards whose ids only this server generates, although others evaluate the same statements: the setting
//! `pg_mint.own_shards` of a Citus node, and of a server with a registry.

use crate::pg::backend::guc::{ParsedGuc, define_parsed};
use crate::pg::backend::local::Cached;
use crate::pg::error::{impossible, sentence};
use crate::snowflake::node::grantor;
use mint_core::parse_shards;
use pgrx::{GucContext, GucSetting};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::ops::RangeInclusive;
use std::rc::Rc;

static OWN_SHARDS: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// The parsed setting, cleared when the setting is assigned.
static LISTED: Cached<Vec<RangeInclusive<u64>>> = Cached::new();

/// The value of `pg_mint.own_shards`.
#[derive(Default)]
struct OwnShards(Vec<RangeInclusive<u64>>);

/// Returns the listed range that has a shard, without the groups of other nodes, which generate ids of them.
pub fn range_of(shard: u64, others: &BTreeSet<u64>) -> Option<RangeInclusive<u64>> {
    if others.contains(&shard) {
        return None;
    }
    let listed = listed_shards();
    let listed = listed.iter().find(|range| range.contains(&shard))?;
    let below = others.range(..shard).next_back();
    let above = others.range(shard..).next();
    let first = below.map_or(*listed.start(), |&group| (group + 1).max(*listed.start()));
    let last = above.map_or(*listed.end(), |&group| (group - 1).min(*listed.end()));
    Some(first..=last)
}

/// Returns whether any shard is listed.
pub fn is_set() -> bool {
    !listed_shards().is_empty()
}

/// Returns whether two values of the setting list the same shard; never for a text that is not valid.
pub fn overlap(one: &str, other: &str) -> bool {
    let [OwnShards(one), OwnShards(other)] =
        [one, other].map(|text| OwnShards::parse(text).unwrap_or_default());
    let meets = |one: &RangeInclusive<u64>, other: &RangeInclusive<u64>| {
        one.start() <= other.end() && other.start() <= one.end()
    };
    one.iter()
        .any(|one| other.iter().any(|other| meets(one, other)))
}

fn listed_shards() -> Rc<Vec<RangeInclusive<u64>>> {
    LISTED.get_or(|| {
        let text = OWN_SHARDS.get().unwrap_or_default();
        // The text was checked when the setting was assigned.
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
        parse_shards(text)
            .map(Self)
            .map_err(|error| sentence(&error.to_string()))
    }

    fn assign(self) {
        LISTED.clear();
        grantor::drop_cached();
    }
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    define_parsed::<OwnShards>(
        c"pg_mint.own_shards",
        c"Sets the shards that only this server generates ids of.",
        c"Shards and ranges of shards, like 5, 100-163, or \"all\". Applies on a node of a Citus cluster, but for the groups of other nodes, and on a server with a registry, to shards below those that it leases.",
        &OWN_SHARDS,
        GucContext::Sighup,
    );
}
