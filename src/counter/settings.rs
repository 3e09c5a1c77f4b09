//! The settings of segments and user sequences.

use crate::pg::shmem::size_setting::SizeSetting;
use mint_core::counter::section::MOST_SECTIONS;
use pgrx::GucFlags;

/// The number of sequences that have their segments in shared memory.
pub static MAX_SEGMENTS: SizeSetting =
    SizeSetting::new(c"pg_mint.max_segments", c"pg_mint segments", 1_024);
/// The number of sections of user sequences that have their ceiling in shared memory.
pub static MAX_SECTIONS: SizeSetting =
    SizeSetting::new(c"pg_mint.max_sections", c"pg_mint sections", 4_096);
/// The memory for users in kB.
pub static USER_MEMORY: SizeSetting =
    SizeSetting::new(c"pg_mint.user_memory", c"pg_mint users", 65_536);

/// Defines the settings. Called once, when the library is loaded.
pub fn init() {
    MAX_SEGMENTS.define(
        c"Sets how many sequences have their segments in shared memory.",
        c"192 bytes each, in sets of 64. Read at the first use after a start of the server. When all of a set are in use, the one that was filled longest ago is evicted, of the role with the most in the database with the most.",
        16,
        1_048_576,
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
