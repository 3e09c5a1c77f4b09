//! UUIDs from the server's clock, shared memory, random bits and settings. They work in recovery too: standbys draw
//! nodes, clock sequences and random bytes of their own.

use crate::pg::machine::{clock, random};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::uuid::node;
use mint_core::{Uuid, UuidLanes};

static STAMP: Stamp = Stamp::new(b'u', 2);
static LANES: NamedSegment<UuidLanes> = NamedSegment::new(c"pg_mint uuids", &STAMP, |lanes, _| {
    lanes.seed(random::bits());
});

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    LANES.register();
}

/// Returns the lanes in shared memory.
#[inline]
fn lanes() -> &'static UuidLanes {
    LANES.memory().head
}

/// Returns the lanes, for showing, if a session has made them.
pub fn made_lanes() -> Option<&'static UuidLanes> {
    LANES.if_made().map(|memory| memory.head)
}

/// Mints version 1.
#[inline]
pub fn v1() -> Uuid {
    lanes().v1(clock::now_exactly(), node::node())
}

/// Mints version 2; none when its local id is used up for now.
pub fn v2(domain: u8, local_id: u32) -> Option<Uuid> {
    let now = clock::now_exactly();
    lanes().v2(now, domain, local_id, node::node())
}

/// Mints version 6.
#[inline]
pub fn v6() -> Uuid {
    lanes().v6(clock::now_exactly(), node::node())
}

/// Mints version 7.
#[inline]
pub fn v7() -> Uuid {
    lanes().v7(clock::now_exactly(), random::bits())
}

/// Mints version 7, if this process has done so before.
#[inline]
pub fn next_v7() -> Option<Uuid> {
    let lanes = LANES.if_attached()?.head;
    Some(lanes.v7(clock::now_exactly(), random::seeded_bits()?))
}
