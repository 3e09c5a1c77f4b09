//! ObjectIDs from the server's clock, shared memory, and the name of this machine.

use crate::pg::backend::local::Local;
use crate::pg::machine::{clock, host, random, server};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use mint_core::{ObjectId, ObjectIdLane, objectid};

static STAMP: Stamp = Stamp::new(b'o', 3);
static LANE: NamedSegment<ObjectIdLane> =
    NamedSegment::new(c"pg_mint objectids", &STAMP, |lane, _| {
        lane.seed(random::bits());
    });

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    LANE.register();
}

/// Returns the lane in shared memory.
#[inline]
fn lane() -> &'static ObjectIdLane {
    LANE.memory().head
}

/// Returns the lane, for showing, if a session has made it.
pub fn made_lane() -> Option<&'static ObjectIdLane> {
    LANE.if_made().map(|memory| memory.head)
}

/// Mints an ObjectID; none after the end of its time.
#[inline]
pub fn objectid() -> Option<ObjectId> {
    lane().objectid(clock::now_exactly())
}

/// Mints an ObjectID if this process has attached the lane; none after the end of its time.
#[inline]
pub fn next_objectid() -> Option<ObjectId> {
    LANE.if_attached()?.head.objectid(clock::now_exactly())
}

/// Mints an ObjectID of machine and process; none after the end of its time.
pub fn objectid_legacy() -> Option<ObjectId> {
    /// This machine, as old ObjectIDs show it, once it is known.
    static MACHINE: Local<Option<[u8; 3]>> = Local::new(None);
    let machine = MACHINE.get().unwrap_or_else(|| {
        let machine = objectid::legacy_machine(&host::name());
        MACHINE.set(Some(machine));
        machine
    });
    lane().objectid_legacy(clock::now_exactly(), machine, server::process_id() as u16)
}
