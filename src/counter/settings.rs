//! The settings of segments and user sequences.

use crate::pg::backend::guc::value;
use crate::pg::shmem::size_setting::SizeSetting;
use mint_core::counter::section::MOST_SECTIONS;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};

/// How many sequences have their segments in shared memory.
pub static MAX_SEGMENTS: SizeSetting =
    SizeSetting::new(c"pg_mint.max_segments", c"pg_mint segments", 1_024);
/// How many sections of user sequences have their ceiling in shared memory.
pub static MAX_SECTIONS: SizeSetting =
    SizeSetting::new(c"pg_mint.max_sections", c"pg_mint sections", 4_096);
/// The memory for users in kB.
pub static USER_MEMORY: SizeSetting =
    SizeSetting::new(c"pg_mint.user_memory", c"pg_mint users", 65_536);

static SEGMENT_STEP: GucSetting<i32> = GucSetting::<i32>::new(2_000);
static SEGMENT_MAX_STEP: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);

/// Returns how many values are taken at once from a sequence with CACHE 1.
pub fn segment_step() -> u64 {
    u64::from(value(&SEGMENT_STEP).unsigned_abs())
}

/// Returns how far the step of a busy sequence grows.
pub fn segment_max_step() -> u64 {
    u64::from(value(&SEGMENT_MAX_STEP).unsigned_abs())
}

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    MAX_SEGMENTS.define(
        c"Sets how many sequences have their segments in shared memory.",
        c"192 bytes each, in sets of 64. Read at the first use after a start of the server. When all of a set are in use, the one that was filled longest ago is evicted, of the role with the most in the database with the most.",
        16,
        1_048_576,
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
        c"A step doubles when a segment lasts less than 15 minutes. 1 disables growth.",
        &SEGMENT_MAX_STEP,
        1,
        1_000_000,
        GucContext::Sighup,
        GucFlags::default(),
    );
    MAX_SECTIONS.define(
        c"Sets how many sections of user sequences have their ceiling in shared memory.",
        c"88 bytes each, in sets of 64. Read at the first use after a start of the server. When all of a set are in use, the one whose ceiling was raised longest ago is evicted, of the database with the most, and its users continue from its ceiling.",
        64,
        MOST_SECTIONS as i32,
        GucFlags::default(),
    );
    USER_MEMORY.define(
        c"Sets the shared memory for the users of user sequences.",
        c"8 bytes a user; a power of two is used. Read at the first use after a start of the server, and allocated as it is needed. When it is full, the least recently used users are evicted, and continue above every evicted user of their section.",
        1_024,
        1_073_741_824,
        GucFlags::UNIT_KB,
    );
}
