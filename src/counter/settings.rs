//! The settings of segments and user sequences.

use crate::pg::backend::guc::value;
use crate::pg::size_setting;
use crate::pg::size_setting::SizeSetting;
use mint_core::counter::section::MOST_SECTIONS;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use std::ffi::CStr;

/// The segments of shared memory that have the segments of sequences, the sections, and the users.
pub const SEGMENTS: &CStr = c"pg_mint segments";
pub const SECTIONS: &CStr = c"pg_mint sections";
pub const USERS: &CStr = c"pg_mint users";

static MAX_SEGMENTS: GucSetting<i32> = GucSetting::<i32>::new(1_024);
static SEGMENT_STEP: GucSetting<i32> = GucSetting::<i32>::new(2_000);
static MAX_SECTIONS: GucSetting<i32> = GucSetting::<i32>::new(4_096);
static USER_MEMORY: GucSetting<i32> = GucSetting::<i32>::new(65_536);
static SEGMENT_MAX_STEP: GucSetting<i32> = GucSetting::<i32>::new(1_000_000);

/// Returns how many sequences shared memory has room for, when it is created.
pub fn max_segments() -> u32 {
    MAX_SEGMENTS.get().unsigned_abs()
}

/// Returns how many sections of user sequences shared memory has room for, when it is created.
pub fn max_sections() -> u32 {
    MAX_SECTIONS.get().unsigned_abs()
}

/// Returns the size of the memory for users in bytes, when it is created.
pub fn user_memory() -> usize {
    USER_MEMORY.get().unsigned_abs() as usize * 1_024
}

/// Returns how many values are taken at once from a sequence with CACHE 1.
pub fn segment_step() -> u64 {
    u64::from(value(&SEGMENT_STEP).unsigned_abs())
}

/// Returns how far the step of a busy sequence grows.
pub fn segment_max_step() -> u64 {
    u64::from(value(&SEGMENT_MAX_STEP).unsigned_abs())
}

pub struct MaxSegments;

impl SizeSetting for MaxSegments {
    const NAME: &'static CStr = c"pg_mint.max_segments";
    const SEGMENT: &'static CStr = SEGMENTS;

    fn setting() -> &'static GucSetting<i32> {
        &MAX_SEGMENTS
    }
}

pub struct MaxSections;

impl SizeSetting for MaxSections {
    const NAME: &'static CStr = c"pg_mint.max_sections";
    const SEGMENT: &'static CStr = SECTIONS;

    fn setting() -> &'static GucSetting<i32> {
        &MAX_SECTIONS
    }
}

pub struct UserMemory;

impl SizeSetting for UserMemory {
    const NAME: &'static CStr = c"pg_mint.user_memory";
    const SEGMENT: &'static CStr = USERS;

    fn setting() -> &'static GucSetting<i32> {
        &USER_MEMORY
    }
}

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    size_setting::define::<MaxSegments>(
        c"Sets how many sequences have their segments in shared memory.",
        c"192 bytes each. Read at the first use after a start of the server. When all are in use, the least recently used one of the database with the most is evicted.",
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
    size_setting::define::<MaxSections>(
        c"Sets how many sections of user sequences have their ceiling in shared memory.",
        c"88 bytes each. Read at the first use after a start of the server. When all are in use, the least recently used one of the database with the most is evicted, and its users continue from its ceiling.",
        64,
        MOST_SECTIONS as i32,
        GucFlags::default(),
    );
    size_setting::define::<UserMemory>(
        c"Sets the shared memory for the users of user sequences.",
        c"8 bytes a user; a power of two is used. Read at the first use after a start of the server, and allocated as it is needed. When it is full, the least recently used users are evicted, and continue above every evicted user of their section.",
        1_024,
        1_073_741_824,
        GucFlags::UNIT_KB,
    );
}
