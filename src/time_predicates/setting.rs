//! The setting that switches derived bounds on and off.

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};

static TIME_PREDICATES: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Returns whether bounds are derived.
pub fn is_on() -> bool {
    TIME_PREDICATES.get()
}

/// Defines the setting. Called once, when the library is loaded.
pub fn init() {
    GucRegistry::define_bool_guc(
        c"pg_mint.time_predicates",
        c"Lets conditions on the time of an id use indexes and partitions of the id.",
        c"The planner makes bounds of the id of a condition such as snowflake_time(id) >= now() - '1 day'.",
        &TIME_PREDICATES,
        GucContext::Userset,
        GucFlags::EXPLAIN,
    );
}
