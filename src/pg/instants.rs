//! UUIDs and ObjectIDs with what the server lends: clock, shared memory, randomness and settings.
//! They work in recovery too: standbys draw nodes, clock sequences and random bytes of their own.

use super::shmem::{Idea, Stamp};
use super::{clock, random, uuid_node};
use mint_core::{Instants, ObjectId, Uuid, objectid};
use pgrx::pg_sys;
use std::ptr;

static STAMP: Stamp = Stamp::new(b'u', 1);
static INSTANTS: Idea<Instants> = Idea::new(c"pg_mint uuids", &STAMP, |instants, _| {
    instants.seed([random::bits(), random::bits()]);
});

#[inline]
fn instants() -> &'static Instants {
    INSTANTS.memory().head
}

/// Mints version 1.
#[inline]
pub fn v1() -> Uuid {
    instants().v1(clock::now_nanos(), uuid_node::node())
}

/// Mints version 2; none when its local id is used up for now.
pub fn v2(domain: u8, local_id: u32) -> Option<Uuid> {
    let now = clock::now_nanos();
    instants().v2(now, domain, local_id, uuid_node::node())
}

/// Mints version 6.
#[inline]
pub fn v6() -> Uuid {
    instants().v6(clock::now_nanos(), uuid_node::node())
}

/// Mints version 7.
#[inline]
pub fn v7() -> Uuid {
    instants().v7(clock::now_nanos(), random::bits())
}

/// Mints an ObjectID; none after the end of its time.
#[inline]
pub fn objectid() -> Option<ObjectId> {
    instants().objectid(clock::now_nanos())
}

/// This machine, as old ObjectIDs show it, once it is known.
static mut MACHINE: Option<[u8; 3]> = None;

/// Mints an ObjectID of machine and process; none after the end of its time.
pub fn objectid_legacy() -> Option<ObjectId> {
    // SAFETY: a backend is one thread.
    let machine = unsafe { *(*ptr::addr_of_mut!(MACHINE)).get_or_insert_with(machine) };
    // SAFETY: a plain integer, set when the process begins.
    let pid = unsafe { pg_sys::MyProcPid } as u16;
    let now = clock::now_nanos();
    instants().objectid_legacy(now, machine, pid)
}

fn machine() -> [u8; 3] {
    let mut host = [0_u8; 256];
    // SAFETY: writes at most as many bytes. Should it fail, all such machines look alike.
    unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len()) };
    let length = host.iter().position(|&byte| byte == 0);
    objectid::legacy_machine(&host[..length.unwrap_or(host.len())])
}
