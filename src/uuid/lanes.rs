//! UUIDs with what the server lends: clock, shared memory, randomness and settings.
//! They work in recovery too: standbys draw nodes, clock sequences and random bytes of their own.

use crate::pg::machine::{clock, random};
use crate::pg::shmem::{NamedSegment, Stamp};
use crate::uuid::node;
use mint_core::{Instants, Uuid};

static STAMP: Stamp = Stamp::new(b'u', 1);
static INSTANTS: NamedSegment<Instants> =
    NamedSegment::new(c"pg_mint uuids", &STAMP, |instants, _| {
        instants.seed([random::bits(), random::bits()]);
    });

/// The words in shared memory that keep UUIDs and ObjectIDs apart and in order.
#[inline]
pub fn instants() -> &'static Instants {
    INSTANTS.memory().head
}

/// Mints version 1.
#[inline]
pub fn v1() -> Uuid {
    instants().v1(clock::now_nanos(), node::node())
}

/// Mints version 2; none when its local id is used up for now.
pub fn v2(domain: u8, local_id: u32) -> Option<Uuid> {
    let now = clock::now_nanos();
    instants().v2(now, domain, local_id, node::node())
}

/// Mints version 6.
#[inline]
pub fn v6() -> Uuid {
    instants().v6(clock::now_nanos(), node::node())
}

/// Mints version 7.
#[inline]
pub fn v7() -> Uuid {
    instants().v7(clock::now_nanos(), random::bits())
}
