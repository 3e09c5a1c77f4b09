//! The generators of 64-bit ids.

use crate::pg::datum::timestamp::timestamp_or_report;
use crate::pg::error;
use crate::pg::error::{OrReport, ToReport, required};
use crate::pg::quick::quick;
use crate::snowflake::lane::open_ticks::Key;
use crate::snowflake::lane::{mint, open_ticks, session};
use crate::snowflake::layout::cache::Parsed;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use crate::snowflake::node::setting::Node;
use crate::snowflake::node::{grantor, setting};
use mint_core::{DEFAULT_LAYOUT, IdError, Layout, Run};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// Mints an id of a shard.
///
/// - **Unique** among all ids of this layout and shard on the server: all sessions, tables, databases.
/// - **Ordered**: strictly increasing in the order of minting, over all sessions.
/// - **Overflow**: a used-up sequence takes the next tick, up to `pg_mint.max_ahead` ahead of the
///   clock; beyond that the call waits for its tick. The end of the time field is an error (2200H).
/// - **Clock steps back**: continues from the last id, up to `max_ahead`; beyond that waits up to
///   `pg_mint.max_wait`, else an error at once (58000). A jump forward by more than
///   `pg_mint.max_jump` is an error (58000) until `mint.accept_clock()`.
/// - **Crash and restart**, **failover**: continues from the ceiling on disk, above all ids issued.
/// - **Standby**: refused during recovery (25006).
/// - **Read-only transaction**, **Parallel query**: mints.
#[pg_extern(sql = false)]
fn guarded_snowflake_next_id(shard: Option<i32>, layout: Option<SnowflakeLayout>) -> i64 {
    next_of_shard(shard, &required(layout, "layout").layout())
}

/// Mints an Instagram id of a shard; otherwise like `snowflake_next_id(shard, layout)`.
///
/// It is a function of its own, as the server reads the default of an argument from the catalogs whenever it plans a
/// call, even in each row of VALUES.
#[pg_extern(sql = false)]
fn guarded_snowflake_next_id_of_shard(shard: Option<i32>) -> i64 {
    next_of_shard(shard, &Parsed::Kept(DEFAULT_LAYOUT))
}

/// Mints an id of a shard.
fn next_of_shard(shard: Option<i32>, layout: &Parsed) -> i64 {
    let shard = required(shard, "shard");
    let of = layout.check_shard(shard.into()).or_report();
    let key = Key::Shard(shard.cast_unsigned());
    mint::next_id(layout, key, of, grantor::generation())
}

quick!(
    snowflake_next_id_of_shard_wrapper,
    pg_finfo_snowflake_next_id_of_shard_wrapper,
    guarded_snowflake_next_id_of_shard_wrapper,
    (shard: i32) =>
        open_ticks::next(DEFAULT_LAYOUT, Key::Shard(shard.cast_unsigned())),
        mint::next_tick(DEFAULT_LAYOUT, Key::Shard(shard.cast_unsigned()))
);

quick!(
    snowflake_next_id_wrapper,
    pg_finfo_snowflake_next_id_wrapper,
    guarded_snowflake_next_id_wrapper,
    // A negative shard is never kept.
    (shard: i32, layout: SnowflakeLayout) =>
        open_ticks::next(layout.recent_layout()?, Key::Shard(shard.cast_unsigned())),
        next_of_tick(layout, Key::Shard(shard.cast_unsigned()))
);

/// Mints as [`open_ticks::next`] or [`mint::next_tick`], if the former with the layout of the last call did not.
fn next_of_tick(layout: SnowflakeLayout, key: Key) -> Option<i64> {
    if let Some(layout) = layout.recent_layout() {
        return mint::next_tick(layout, key);
    }
    let layout = layout.kept_layout()?;
    open_ticks::next(layout, key).or_else(|| mint::next_tick(layout, key))
}

/// Mints an Instagram id of this server's node, `pg_mint.node`; otherwise like `snowflake_next_id(shard)`.
#[pg_extern(sql = false)]
fn guarded_snowflake_next_id_of_node() -> i64 {
    next_of_node(&Parsed::Kept(DEFAULT_LAYOUT))
}

quick!(
    snowflake_next_id_of_node_wrapper,
    pg_finfo_snowflake_next_id_of_node_wrapper,
    guarded_snowflake_next_id_of_node_wrapper,
    () => open_ticks::next(DEFAULT_LAYOUT, Key::Own),
        own_key().and_then(|own| mint::next_tick(DEFAULT_LAYOUT, own))
);

/// Mints an id of this server's node, `pg_mint.node`; otherwise like `snowflake_next_id(shard, layout)`.
#[pg_extern(sql = false)]
fn guarded_snowflake_next(layout: Option<SnowflakeLayout>) -> i64 {
    next_of_node(&required(layout, "layout").layout())
}

/// Mints an id of the server's own node.
fn next_of_node(layout: &Parsed) -> i64 {
    let generation = grantor::generation();
    mint::next_id(layout, Key::Own, own_shard(layout), generation)
}

quick!(
    snowflake_next_wrapper,
    pg_finfo_snowflake_next_wrapper,
    guarded_snowflake_next_wrapper,
    (layout: SnowflakeLayout) =>
        open_ticks::next(layout.recent_layout()?, Key::Own),
        own_key().and_then(|own| next_of_tick(layout, own))
);

/// Returns the key of the server's own node, unless a registry chooses the node: by the next tick it can be another
/// one, of which no setting of this session tells.
fn own_key() -> Option<Key> {
    let is_chosen = setting::node() == Node::Auto;
    (!is_chosen).then_some(Key::Own)
}

/// Returns the shard of the ids of `snowflake_next(layout)`, without generating one. If a registry chooses the node, it
/// is requested, as by `snowflake_next`.
#[pg_extern(sql = false)]
fn snowflake_own_shard(layout: SnowflakeLayout) -> i32 {
    // A shard has at most 31 bits.
    own_shard(&layout.layout()) as i32
}

/// Returns the shard of this server in a layout.
pub fn own_shard(layout: &Layout) -> u64 {
    match setting::node() {
        // A layout without a shard needs none to be set.
        _ if layout.shard.width == 0 => 0,
        Node::Fixed(shard) => check_own_node(layout, shard.into()),
        Node::Parts(parts) => node_of_own_parts(layout, parts),
        Node::Auto => grantor::node(layout),
        Node::Citus => check_own_node(layout, grantor::require_cluster()),
        Node::Unset if let Some(node) = grantor::node_of_cluster() => check_own_node(layout, node),
        Node::Unset => error::report(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "parameter \"pg_mint.node\" is not set",
        )
        .detail("Ids without a shard are generated as the node of the server.")
        .hint("Use ALTER SYSTEM SET pg_mint.node with a number that no other server uses, and SELECT pg_reload_conf(); or pass a shard.")
        .raise(),
    }
}

/// Raises an error unless the layout has the shard of the setting, which no argument gave.
#[inline]
fn check_own_node(layout: &Layout, shard: u64) -> u64 {
    if shard > layout.shard.max() {
        refuse_own_node(layout, shard);
    }
    shard
}

#[cold]
fn refuse_own_node(layout: &Layout, shard: u64) -> ! {
    error::report(
        PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
        format!("node {shard} is out of range for layout \"{layout}\""),
    )
    .hint(match setting::node() {
        Node::Fixed(_) => format!(
            "Set \"pg_mint.node\" to a number between 0 and {}.",
            layout.shard.max()
        ),
        _ => "Use a layout with more bits of the shard.".to_owned(),
    })
    .raise()
}

/// Returns the shard of the parts in the setting, which no argument gave.
fn node_of_own_parts(layout: &Layout, parts: [u32; 2]) -> u64 {
    let refuse = |error: IdError| -> ! {
        let hint = format!("Set \"pg_mint.node\" to a shard of layout \"{layout}\".");
        error.to_report().hint(hint).raise()
    };
    layout
        .shard_from_parts(&parts.map(i64::from))
        .unwrap_or_else(|error| refuse(error))
}

/// The most ids that one swap takes: enough to make the cost of the swap negligible, few enough to lose little when a
/// query stops early.
const CHUNK: u64 = 4_096;

/// Mints `count` ids of a shard, in ascending order, as they are fetched. Other sessions' ids can lie between them;
/// otherwise like `snowflake_next_id`.
#[pg_extern(sql = false)]
fn snowflake_next_ids(
    shard: Option<i32>,
    count: Option<i64>,
    layout: Option<SnowflakeLayout>,
) -> SetOfIterator<'static, i64> {
    let layout = *required(layout, "layout").layout();
    let shard = required(shard, "shard");
    let shard = layout.check_shard(shard.into()).or_report();
    let count = u64::try_from(required(count, "count")).unwrap_or_else(|_| {
        error::report(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            "count must not be negative",
        )
        .raise()
    });
    SetOfIterator::new(Chunks {
        layout,
        shard,
        left: count,
        run: Run { first: 0, count: 0 },
        generation: 0,
    })
}

/// Ids minted a run at a time.
struct Chunks {
    layout: Layout,
    shard: u64,
    /// Ids still to return.
    left: u64,
    /// Ids minted and not yet returned.
    run: Run,
    /// The [`mint::start_generation`] from before they were minted.
    generation: u64,
}

impl Iterator for Chunks {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        if self.run.count == 0 || self.generation != mint::start_generation() {
            (self.run, self.generation) =
                mint::next_run(&self.layout, self.shard, (self.left + 1).min(CHUNK));
        }
        let word = self.run.first;
        self.run = Run {
            first: word + 1,
            count: self.run.count - 1,
        };
        let id = self.layout.id(self.shard, word);
        session::set_last_id(id);
        Some(id)
    }
}

/// Lets a shard mint nothing at or below an id from now on, in any session: for a shard that moves here, and for ids
/// that were imported. Returns the timestamp of the last id of the shard; new ones are of that tick or later.
///
/// - **Crash and restart**, **failover**: a ceiling above the id is on disk when it returns, in this database.
/// - **Far ahead**: an id more than `pg_mint.max_ahead` ahead of the clock is an error (22023); for a superuser, and
///   without a registry, more than `pg_mint.max_jump`.
/// - **An older id** changes nothing.
/// - **Standby**: refused during recovery (25006).
#[pg_extern(sql = false)]
fn snowflake_start_above(id: i64, layout: SnowflakeLayout) -> TimestampWithTimeZone {
    let layout = *layout.layout();
    let (shard, word) = layout.shard_and_word(id).or_report();
    timestamp_or_report(mint::start_lane_above(&layout, shard, word))
}

/// Returns the id that this session minted last, as `lastval()` does. Ids minted by parallel workers do not count.
#[pg_extern(sql = false)]
fn snowflake_last_id() -> i64 {
    session::last_id().unwrap_or_else(|| {
        error::report(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "snowflake_last_id is not yet defined in this session",
        )
        .raise()
    })
}
