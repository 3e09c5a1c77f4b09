//! The settings `pg_mint.*`.

use super::{nodes, uuid_node};
use mint_core::{Micros, Policy};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};

static MAX_AHEAD: GucSetting<i32> = GucSetting::<i32>::new(2_000);
static MAX_WAIT: GucSetting<i32> = GucSetting::<i32>::new(5_000);
static MAX_JUMP: GucSetting<i32> = GucSetting::<i32>::new(3_600);
static MAX_LANES: GucSetting<i32> = GucSetting::<i32>::new(8_192);
static WINDOW: GucSetting<i32> = GucSetting::<i32>::new(500);
static RESERVE: GucSetting<i32> = GucSetting::<i32>::new(1);
static MAX_SEGMENTS: GucSetting<i32> = GucSetting::<i32>::new(1_024);
static SEGMENT_STEP: GucSetting<i32> = GucSetting::<i32>::new(2_000);
static MAX_SECTIONS: GucSetting<i32> = GucSetting::<i32>::new(4_096);
static USER_MEMORY: GucSetting<i32> = GucSetting::<i32>::new(65_536);
static SEGMENT_MAX_STEP: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);

/// The value of a setting, for the way of every id: `GucSetting::get` asks each time which thread
/// it runs on.
#[inline]
fn value(setting: &GucSetting<i32>) -> i32 {
    // SAFETY: an integer that the server writes only between statements of this one thread.
    unsafe { *setting.as_ptr() }
}

/// How minting deals with time.
#[inline]
pub fn policy() -> Policy {
    Policy {
        max_ahead: Micros::from(value(&MAX_AHEAD)) * 1_000,
        max_wait: Micros::from(value(&MAX_WAIT)) * 1_000,
        max_jump: Micros::from(value(&MAX_JUMP)) * 1_000_000,
        window: window(),
    }
}

/// How far a ceiling is raised at once.
#[inline]
pub fn window() -> Micros {
    Micros::from(value(&WINDOW)) * 1_000
}

/// How many lanes of their own the nodes may have, when the shared memory is made.
pub fn max_lanes() -> u32 {
    MAX_LANES.get().unsigned_abs()
}

/// How many ids a session takes at once.
#[inline]
pub fn reserve() -> u64 {
    u64::from(value(&RESERVE).unsigned_abs())
}

/// How many sequences have their segments in shared memory, when it is made.
pub fn max_segments() -> u32 {
    MAX_SEGMENTS.get().unsigned_abs()
}

/// How many sections of user sequences shared memory has room for, when it is made.
pub fn max_sections() -> u32 {
    MAX_SECTIONS.get().unsigned_abs()
}

/// How much memory the users have, in bytes, when it is made.
pub fn user_memory() -> usize {
    USER_MEMORY.get().unsigned_abs() as usize * 1_024
}

/// How many values are taken at once from a sequence that does not say it itself.
pub fn segment_step() -> u64 {
    u64::from(value(&SEGMENT_STEP).unsigned_abs())
}

/// How far the step of a busy sequence grows.
pub fn segment_max_step() -> u64 {
    u64::from(value(&SEGMENT_MAX_STEP).unsigned_abs())
}

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    GucRegistry::define_int_guc(
        c"pg_mint.max_ahead",
        c"Sets how far ids may run ahead of the clock.",
        c"Time is borrowed when a tick's sequence is used up or the clock steps back. 0 borrows nothing.",
        &MAX_AHEAD,
        0,
        60_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_wait",
        c"Sets how long a call waits for the clock to catch up with ids already minted.",
        c"A call that would have to wait longer fails at once. Waits for a layout's own rate are not limited.",
        &MAX_WAIT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_jump",
        c"Sets how far the clock may jump forward before minting stops.",
        c"A larger jump must be confirmed with pg_mint_accept_clock().",
        &MAX_JUMP,
        1,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.ceiling_window",
        c"Sets how far the durable ceiling is raised at once.",
        c"It is written when half of this is used up. After a crash ids go on from the ceiling, up to one and a half times this ahead.",
        &WINDOW,
        100,
        10_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_lanes",
        c"Sets how many pairs of layout and node have a lane of their own.",
        c"128 to 256 bytes of shared memory each. Read at the first use after a start of the server. Further nodes share one lane of their layout.",
        &MAX_LANES,
        16,
        1_048_576,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.reserve",
        c"Sets how many ids a session takes from a lane at once.",
        c"More than 1 helps on machines with many cores; ids of different sessions are then in order only from tick to tick.",
        &RESERVE,
        1,
        4_096,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_segments",
        c"Sets how many sequences have their segments in shared memory.",
        c"192 bytes each. Read at the first use after a start of the server. Beyond it the database that has the most loses the rest of the one that it used longest ago.",
        &MAX_SEGMENTS,
        16,
        1_048_576,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.segment_step",
        c"Sets how many values are taken at once from a sequence with CACHE 1.",
        c"A sequence with another CACHE is drawn from by steps of that. After a crash up to two steps are skipped.",
        &SEGMENT_STEP,
        1,
        1_000_000,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.segment_max_step",
        c"Sets how far the step of a busy sequence grows.",
        c"A step doubles when a segment lasts less than 15 minutes. 1 lets no step grow.",
        &SEGMENT_MAX_STEP,
        1,
        1_000_000,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.max_sections",
        c"Sets how many sections of user sequences have their ceiling in shared memory.",
        c"88 bytes each. Read at the first use after a start of the server. Beyond it the database that has the most loses the one that it raised longest ago, whose users continue from its ceiling.",
        &MAX_SECTIONS,
        64,
        super::sections::MOST,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_mint.user_memory",
        c"Sets the shared memory for the users of user sequences.",
        c"8 bytes a user; a power of two is used. Read at the first use after a start of the server, and allocated as it is needed. Beyond it users who were not used for long go on from where any evicted user of their section stood.",
        &USER_MEMORY,
        1_024,
        1_073_741_824,
        GucContext::Sighup,
        GucFlags::UNIT_KB,
    );
    nodes::init();
    uuid_node::init();
    // SAFETY: the name is a constant string; called in the postmaster or a backend, as it must be.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pg_mint".as_ptr()) };
}
