//! Settings of ids of 64 bits.

use crate::pg::backend::guc::{Watcher, define_watched_int, max_wait, value};
use crate::pg::shmem::size_setting::SizeSetting;
use crate::snowflake::node::grantor;
use mint_core::{Micros, Policy};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};

/// The number of pairs of layout and shard that can have a lane of their own.
pub static MAX_LANES: SizeSetting = SizeSetting::new(c"pg_mint.max_lanes", c"pg_mint lanes", 8_192);

static MAX_AHEAD: GucSetting<i32> = GucSetting::<i32>::new(2_000);
/// The largest value of `pg_mint.max_ahead`.
const MOST_AHEAD: i32 = 60_000;
static MAX_JUMP: GucSetting<i32> = GucSetting::<i32>::new(3_600);
static WINDOW: GucSetting<i32> = GucSetting::<i32>::new(500);
/// The largest value of `pg_mint.ceiling_window`.
const MOST_WINDOW: i32 = 10_000;
static SESSION_CACHE: GucSetting<i32> = GucSetting::<i32>::new(1);

/// The values that were cached under the old settings.
struct Cache;

impl Watcher for Cache {
    fn on_assign() {
        grantor::drop_cached();
    }
}

/// Returns how far ids can run ahead of the clock at any setting.
pub fn most_ahead() -> Micros {
    Micros::from(MOST_AHEAD) * 1_000
}

/// Returns how far a session raises a ceiling at any setting.
pub fn most_window() -> Micros {
    Micros::from(MOST_WINDOW) * 1_000
}

/// Returns the limits of minting.
#[inline]
pub fn policy() -> Policy {
    Policy {
        max_ahead: Micros::from(value(&MAX_AHEAD)) * 1_000,
        max_wait: max_wait(),
        max_jump: Micros::from(value(&MAX_JUMP)) * 1_000_000,
        window: window(),
    }
}

/// Returns how far a session raises a ceiling.
#[inline]
pub fn window() -> Micros {
    Micros::from(value(&WINDOW)) * 1_000
}

/// Returns how many pairs of layout and shard can have a lane of their own. Read when the shared memory is made.
pub fn max_lanes() -> u32 {
    MAX_LANES.value().unsigned_abs()
}

/// Returns how many ids a session takes at once.
#[inline]
pub fn session_cache() -> u64 {
    u64::from(value(&SESSION_CACHE).unsigned_abs())
}

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    define_watched_int::<Cache>(
        c"pg_mint.max_ahead",
        (
            c"Sets how far ids can run ahead of the clock.",
            c"They run ahead when a tick's sequence is used up or the clock steps back. 0: they never do.",
        ),
        &MAX_AHEAD,
        0..=MOST_AHEAD,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_jump",
        c"Sets how far the clock can jump forward before id generation stops.",
        c"A larger jump must be confirmed with mint.accept_clock().",
        &MAX_JUMP,
        1,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.ceiling_window",
        c"Sets how far the durable ceiling is raised each time.",
        c"It is written when half of this is used up. After a crash ids continue from the ceiling, up to one and a half times this ahead.",
        &WINDOW,
        100,
        MOST_WINDOW,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    MAX_LANES.define(
        c"Sets how many pairs of layout and shard have their own lane.",
        c"128 to 256 bytes of shared memory each. Read at the first use after a start of the server. Further shards share one lane of their layout.",
        16,
        1_048_576,
        GucFlags::default(),
    );
    define_watched_int::<Cache>(
        c"pg_mint.session_cache",
        (
            c"Sets how many ids a session takes from a lane at once.",
            c"More than 1 helps on machines with many cores; ids of different sessions are then in order only from tick to tick.",
        ),
        &SESSION_CACHE,
        1..=4_096,
        GucFlags::default(),
    );
}
