//! The state of a session: ids taken and not yet issued, and the last id.

use crate::pg::backend::discard::on_discard;
use crate::pg::backend::local::Local;
use crate::snowflake::node::grantor;
use mint_core::{Lane, Run};
use std::ptr;

/// Ids taken at once and issued one by one, direct-mapped by lane.
static RESERVED: [Local<Option<(&Lane, Run)>>; 64] = [const { Local::new(None) }; 64];

/// The [`crate::snowflake::lane::mint::start_generation`] that this session noticed last.
static GENERATION: Local<u64> = Local::new(0);

/// The id that was minted last; [`NO_ID`] before the first.
static LAST_ID: Local<i64> = Local::new(NO_ID);

/// No id is negative.
const NO_ID: i64 = -1;

/// Registers callbacks. Called once, when the library is loaded.
pub fn init() {
    on_discard(|| LAST_ID.set(NO_ID));
    // Reserved ids were taken under the old settings.
    grantor::on_change(drop_reserved);
}

fn drop_reserved() {
    RESERVED.iter().for_each(|slot| slot.set(None));
}

/// Drops all reserved ids if a lane, perhaps theirs, was started above an id since they were taken. `generation` was
/// read before ids are taken.
#[inline]
pub fn notice_generation(generation: u64) {
    if GENERATION.get() != generation {
        drop_reserved();
        GENERATION.set(generation);
    }
}

fn slot(lane: &Lane) -> &'static Local<Option<(&'static Lane, Run)>> {
    &RESERVED[ptr::from_ref(lane).addr() / size_of::<Lane>() % RESERVED.len()]
}

/// Returns the remaining ids of the session's reservation on a lane.
pub fn reservation(lane: &Lane) -> Option<Run> {
    let (owner, run) = slot(lane).get()?;
    ptr::eq(owner, lane).then_some(run)
}

/// Replaces the reservation. Remaining ids of another lane in the slot are lost, like those of a past tick.
pub fn reserve(lane: &'static Lane, run: Option<Run>) {
    slot(lane).set(run.map(|run| (lane, run)));
}

/// Sets the id that was minted last.
#[inline]
pub fn set_last_id(id: i64) {
    LAST_ID.set(id);
}

/// Returns the id that was minted last, since the session began or DISCARD.
pub fn last_id() -> Option<i64> {
    Some(LAST_ID.get()).filter(|&id| id != NO_ID)
}
