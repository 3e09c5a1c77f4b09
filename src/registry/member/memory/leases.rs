//! The leases of nodes that this server holds, in shared memory only. So a copy of the data directory holds none.
//!
//! Sessions ([`crate::registry::member::session`]) say which leases they need, and read those that are held. One background
//! worker ([`crate::registry::member::worker`]) requests them from the registry, so that only the first statement waits for
//! the network.

use crate::pg::machine::clock;
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::pg::worker::mailbox::{Mailbox, WorkerKind};
use crate::registry::member::memory::assigned::AssignedMemory;
use crate::registry::member::memory::slot::{History, LeaseSlot, SLOTS};
use crate::registry::member::trouble::Troubles;
use crate::registry::settings;
use crate::statistics::Wait;
use mint_core::Micros;
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// What sessions and the worker share. Zeroed at first.
///
/// - `widths`, `any_widths`: a bit for each width of which sessions need leases: of nodes by number, and of any node.
/// - `needed_at`: for each width, when a session has needed a lease that it did not have, by the clock since boot.
/// - `requests`: what sessions request of the worker.
/// - `seen`: how much of the registry's history this server has seen. Written by the worker.
/// - `settings`: the key of the settings that the worker uses.
/// - `released`: 1 from the release of all leases until a session needs one again.
/// - `any`: for each width, the slot of the node that the registry chose, plus 1.
/// - `assigned`: of the nodes that are assigned to this server. Written by the worker.
/// - `troubles`: why requests failed last, each for itself. Written by the worker.
#[repr(C)]
pub struct LeasesHead {
    pub(in crate::registry::member) requests: Mailbox,
    widths: AtomicU64,
    any_widths: AtomicU64,
    needed_at: [AtomicI64; MAX_SHARD_BITS as usize + 1],
    pub(in crate::registry::member) seen: History,
    settings: AtomicU64,
    released: AtomicU32,
    any: [AtomicU32; MAX_SHARD_BITS as usize + 1],
    pub(in crate::registry::member) assigned: AssignedMemory,
    slots: [LeaseSlot; SLOTS],
    pub(in crate::registry::member) troubles: Troubles,
}

static STAMP: Stamp = Stamp::new(b'r', 3);
static LEASES: NamedSegment<LeasesHead> = NamedSegment::new(c"pg_mint leases", &STAMP, |_, _| ());

/// Returns the memory. The first call of this process makes or attaches it.
#[inline]
pub(in crate::registry::member) fn memory() -> &'static LeasesHead {
    LEASES.memory().head
}

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    LEASES.register();
}

/// Returns whether a session has made the memory.
pub fn made() -> bool {
    LEASES.made().is_some()
}

/// The worker that sends requests to the registry.
pub(in crate::registry::member) static WORKER: WorkerKind = WorkerKind {
    name: "pg_mint registry",
    function: "pg_mint_member",
    argument: 0,
    event: Wait::Lease.event(),
};

/// The failure when all slots are used, which are never reused.
pub const NO_ROOM: &str = "all 1024 lease slots have been used since the server was started";

/// Returns every slot that is used.
pub fn slots() -> impl Iterator<Item = &'static LeaseSlot> {
    let slots = &memory().slots;
    slots.iter().take_while(|slot| slot.is_used())
}

/// Returns the slots that this process can use: of the registry that its settings name.
pub fn usable_slots() -> impl Iterator<Item = &'static LeaseSlot> {
    let key = settings::registry_key();
    slots().filter(move |slot| slot.registry() == key)
}

/// Returns the slot of these nodes, or an empty one that it gives to them; none when there is no room. **For the
/// worker.**
pub fn slot_for(width: u32, nodes: &RangeInclusive<u64>) -> Option<&'static LeaseSlot> {
    let is_theirs = |slot: &&LeaseSlot| slot.width() == width && slot.nodes() == *nodes;
    if let Some(slot) = usable_slots().find(is_theirs) {
        return Some(slot);
    }
    let slot = memory().slots.get(slots().count())?;
    slot.publish(settings::registry_key(), width, nodes);
    Some(slot)
}

/// Returns whether there is an empty slot. **For the worker.**
pub fn has_room() -> bool {
    slots().count() < SLOTS
}

/// Returns the slot of the node that the registry chose for a width.
pub fn any_slot(width: u32) -> Option<&'static LeaseSlot> {
    let index = index_of_any(width).checked_sub(1)?;
    let slot = memory().slots.get(index as usize)?;
    (slot.registry() == settings::registry_key()).then_some(slot)
}

/// Returns the index of that slot, plus 1; 0 when there is none.
#[inline]
pub(in crate::registry::member) fn index_of_any(width: u32) -> u32 {
    let index = memory().any.get(width as usize);
    index.map_or(0, |index| index.load(Ordering::Acquire))
}

/// Makes this the slot of the node that the registry chose. **For the worker.**
pub fn set_any_slot(width: u32, slot: &'static LeaseSlot) {
    let index = slots().position(|other| ptr::eq(other, slot));
    if let (Some(index), Some(any)) = (index, memory().any.get(width as usize)) {
        any.store(index as u32 + 1, Ordering::Release);
    }
}

/// Forgets which slot that is: sessions wait until another one is chosen. **For the worker.**
pub fn forget_any_slot(width: u32) {
    if let Some(any) = memory().any.get(width as usize) {
        any.store(0, Ordering::Release);
    }
}

/// Tells the worker that sessions need leases of nodes of this width, by number.
pub(in crate::registry::member) fn want(width: u32) {
    want_in(&memory().widths, width);
}

/// Tells the worker that sessions need the lease of any node of this width.
pub(in crate::registry::member) fn want_any(width: u32) {
    want_in(&memory().any_widths, width);
}

fn want_in(widths: &AtomicU64, width: u32) {
    // Before the bit: see `forget_refused`.
    if let Some(at) = memory().needed_at.get(width as usize) {
        at.store(clock::up(), Ordering::Release);
    }
    widths.fetch_or(1 << width, Ordering::AcqRel);
}

/// Forgets the widths of which this server holds no lease, and no session has needed one since `since`: any role may ask once
/// for what no registry grants. **For the worker.**
pub fn forget_refused(since: Micros) {
    let head = memory();
    let (widths, any_widths) = wanted();
    let all = head.needed_at.iter().enumerate();
    for (width, at) in all.map(|(width, at)| (width as u32, at)) {
        let is_old = || at.load(Ordering::Acquire) < since;
        let is_held = |slot: &LeaseSlot| slot.width() == width && slot.id().is_some();
        if (widths | any_widths) >> width & 1 == 0 || !is_old() || usable_slots().any(is_held) {
            continue;
        }
        for wanted in [&head.widths, &head.any_widths] {
            let before = wanted.fetch_and(!(1 << width), Ordering::AcqRel);
            // A session has needed one meanwhile, whose bit this could have cleared.
            if !is_old() {
                wanted.fetch_or(before & 1 << width, Ordering::AcqRel);
            }
        }
    }
}

/// Returns why the last requests failed, if any did.
pub fn note() -> Option<String> {
    memory().requests.note()
}

/// Returns which widths sessions need: a bit for each, by number and with any node. **For the worker.**
pub fn wanted() -> (u64, u64) {
    let head = memory();
    (
        head.widths.load(Ordering::Acquire),
        head.any_widths.load(Ordering::Acquire),
    )
}

/// Returns whether all leases are to be released. **For the worker.**
pub fn is_released() -> bool {
    memory().released.load(Ordering::Acquire) != 0
}

/// Ends the release of all leases, as a session needs one.
pub(in crate::registry::member) fn end_release() {
    memory().released.store(0, Ordering::Release);
}

/// Releases all leases, until a session needs one again. Returns how many there were.
pub fn release() -> i64 {
    let head = memory();
    let count = || slots().filter(|slot| slot.id().is_some()).count();
    let held = count();
    if held > 0 {
        head.released.store(1, Ordering::Release);
        head.requests.wait_for(&WORKER, || true, || None::<()>);
    }
    held.saturating_sub(count()) as i64
}

/// Returns whether the worker uses the settings of this process.
pub(in crate::registry::member) fn has_settings() -> bool {
    memory().settings.load(Ordering::Acquire) == settings::settings_key()
}

/// Publishes that the worker uses the settings as they are. **For the worker**, before it reads requests.
pub fn publish_settings() {
    let settings = &memory().settings;
    settings.store(settings::settings_key(), Ordering::Release);
}

/// Starts the next worker, if there is room for it; otherwise the next session that needs a lease does. **For the worker**, when
/// it has left.
pub fn start_worker() {
    memory().requests.wake_if_possible(&WORKER);
}
