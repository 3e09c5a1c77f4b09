//! The leases of this server, in memory that no copy of the data directory has. Sessions note the widths of which they
//! need a node, and read the leases that are held. One background worker ([`crate::registry::member::worker`]) requests
//! them from the registry, so that only the first statement waits for the network.

use crate::pg::machine::clock;
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::pg::worker::mailbox::{Mailbox, WorkerKind};
use crate::pg::worker::note::Note;
use crate::registry::settings;
use crate::statistics::Wait;
use mint_core::Lease;
use mint_core::Micros;
use mint_core::registry::ring::RingLease;
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The most leases in shared memory, of all that were ever granted to this run of the server.
pub const SLOTS: usize = 1_024;

/// The number of widths of shards.
pub const WIDTHS: usize = MAX_SHARD_BITS as usize + 1;

/// A node of one width, and the lease of it at one registry.
///
/// - `registry`, `node`: written before `state` shows the slot, immutable then. A slot is never reused.
/// - `state`: 0 in zeroed memory, which is an empty slot; in a used slot the width, plus 1. Written once.
/// - `lease`: atomic, by the core's protocol.
/// - `number`: that of the lease; 0 when none is held. The worker writes this and the rest, which views show.
#[repr(C, align(64))]
pub struct LeaseSlot {
    state: AtomicU32,
    /// The key of the settings by which the registry was found: [`settings::registry_key`].
    registry: AtomicU64,
    node: AtomicU64,
    lease: Lease,
    number: AtomicI64,
    granted: AtomicI64,
}

/// The memory that sessions and the worker share. Zeroed at first.
///
/// - `widths`: a bit for each width of which sessions need a node.
/// - `released`: 1 from the release of all leases until a session needs one again.
/// - `was_auto`: 1 if the server's node was "auto" when the worker read the settings last.
/// - `registry`: the key of the settings that the worker uses.
/// - `chosen`: for each width, the slot of the node that the registry chose, plus 1.
/// - `proposed`: for each width, the number of a lease that was requested, and not answered yet.
/// - `troubles`: why requests failed last. The worker writes the last five.
#[repr(C)]
pub struct LeasesHead {
    pub(super) requests: Mailbox,
    widths: AtomicU64,
    released: AtomicU32,
    was_auto: AtomicU32,
    registry: AtomicU64,
    chosen: [AtomicU32; WIDTHS],
    pub(super) proposed: [AtomicI64; WIDTHS],
    slots: [LeaseSlot; SLOTS],
    pub(super) troubles: Note<8_192>,
}

static STAMP: Stamp = Stamp::new(b'r', 5);
static LEASES: NamedSegment<LeasesHead> = NamedSegment::new(c"pg_mint leases", &STAMP, |_, _| ());

/// The worker that sends requests to the registry.
pub(super) static WORKER: WorkerKind = WorkerKind {
    name: "pg_mint registry",
    function: "pg_mint_member",
    argument: 0,
    event: Wait::Lease.event(),
};

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    LEASES.register();
}

/// Returns the memory. The first call of this process makes or attaches it.
#[inline]
pub(super) fn memory() -> &'static LeasesHead {
    LEASES.memory().head
}

/// Returns the memory if a session has made it. For showing.
pub(super) fn if_made() -> Option<&'static LeasesHead> {
    LEASES.if_made().map(|memory| memory.head)
}

impl LeasesHead {
    /// Returns every slot that is used.
    pub fn slots(&self) -> impl Iterator<Item = &LeaseSlot> {
        let is_used = |slot: &&LeaseSlot| slot.state.load(Ordering::Acquire) != 0;
        self.slots.iter().take_while(is_used)
    }

    /// Returns the slots whose lease is held.
    pub fn held_slots(&self) -> impl Iterator<Item = &LeaseSlot> {
        self.slots().filter(|slot| slot.number().is_some())
    }

    /// Returns the slot of a node at the registry of the settings, or an empty one that it gives to it; none when there is no
    /// room. **For the worker.**
    pub fn slot_for(&self, width: u32, node: u64) -> Option<&LeaseSlot> {
        let key = settings::registry_key();
        let is_own = |slot: &&LeaseSlot| {
            slot.registry() == key && slot.width() == width && slot.node() == node
        };
        self.slots().find(is_own).or_else(|| {
            let slot = self.slots.get(self.slots().count())?;
            slot.registry.store(key, Ordering::Relaxed);
            slot.node.store(node, Ordering::Relaxed);
            slot.state.store(width + 1, Ordering::Release);
            Some(slot)
        })
    }

    /// Returns the slot of the node that the registry chose for a width, if it is the registry of the settings.
    pub fn chosen_slot(&self, width: u32) -> Option<&LeaseSlot> {
        let index = self.index_of_chosen(width).checked_sub(1)?;
        let slot = self.slots.get(index as usize)?;
        (slot.registry() == settings::registry_key()).then_some(slot)
    }

    /// Returns the index of that slot, plus 1; 0 when there is none.
    #[inline]
    pub fn index_of_chosen(&self, width: u32) -> u32 {
        let index = self.chosen.get(width as usize);
        index.map_or(0, |index| index.load(Ordering::Acquire))
    }

    /// Makes this the slot of the node that the registry chose; if none, sessions wait until the registry has chosen
    /// another. **For the worker.**
    pub fn choose(&self, width: u32, slot: Option<&LeaseSlot>) {
        let place = slot.and_then(|slot| self.slots().position(|other| ptr::eq(other, slot)));
        if let Some(chosen) = self.chosen.get(width as usize) {
            chosen.store(place.map_or(0, |place| place as u32 + 1), Ordering::Release);
        }
    }

    /// Tells the worker that sessions need a node of this width.
    pub fn want(&self, width: u32) {
        self.widths.fetch_or(1 << width, Ordering::AcqRel);
        self.released.store(0, Ordering::Release);
    }

    /// Returns the widths of which sessions need a node.
    pub fn wanted_widths(&self) -> impl Iterator<Item = u32> + use<> {
        let widths = self.widths.load(Ordering::Acquire);
        let is_none = self.released.load(Ordering::Acquire) != 0;
        (0..WIDTHS as u32).filter(move |width| !is_none && widths >> width & 1 == 1)
    }

    /// Forgets the needs of sessions if the server's node was "auto" and no longer is, until a session needs one again:
    /// those that set "auto" themselves do. **For the worker.**
    pub fn set_auto(&self, is_auto: bool) {
        let was_auto = self.was_auto.swap(is_auto.into(), Ordering::Relaxed) != 0;
        if was_auto && !is_auto {
            self.widths.store(0, Ordering::Release);
        }
    }

    /// Releases all leases, until a session needs one again. Returns how many there were.
    pub fn release(&self) -> i64 {
        let held = self.held_slots().count();
        if held > 0 {
            self.released.store(1, Ordering::Release);
            self.requests.wait_for(&WORKER, || true, || None::<()>);
        }
        held.saturating_sub(self.held_slots().count()) as i64
    }

    /// Returns whether the worker uses the settings of this process.
    pub fn has_settings(&self) -> bool {
        self.registry.load(Ordering::Acquire) == settings::registry_key()
    }

    /// Publishes that the worker uses the settings as they are. **For the worker**, before it reads requests.
    pub fn publish_settings(&self) {
        self.registry
            .store(settings::registry_key(), Ordering::Release);
    }
}

impl LeaseSlot {
    /// Returns the key of the settings by which the registry was found that granted the lease.
    pub fn registry(&self) -> u64 {
        self.registry.load(Ordering::Relaxed)
    }

    /// Returns the node.
    #[inline]
    pub fn node(&self) -> u64 {
        self.node.load(Ordering::Relaxed)
    }

    /// Returns the width of the node in bits.
    pub fn width(&self) -> u32 {
        self.state.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Returns the lease that sessions mint under, which can have ended.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Returns the lease's number at the registry; none when it is not held.
    pub fn number(&self) -> Option<i64> {
        Some(self.number.load(Ordering::Relaxed)).filter(|&number| number != 0)
    }

    /// Returns the lease as the registry has granted it, if it is held.
    pub fn held_lease(&self) -> Option<RingLease> {
        // Read the end first: the beginning that is read then belongs to it.
        let until = self.lease.until();
        self.number().map(|number| RingLease {
            node: self.node(),
            number,
            from: self.lease.from(),
            until,
        })
    }

    /// Returns when the lease was granted or renewed last.
    pub fn granted_at(&self) -> Micros {
        self.granted.load(Ordering::Relaxed)
    }

    /// Stores a lease that was granted. **For the worker**, when the old one has ended or was released.
    pub fn replace(&self, lease: RingLease) {
        self.number.store(lease.number, Ordering::Relaxed);
        self.granted.store(clock::now(), Ordering::Relaxed);
        self.lease.replace(lease.from, lease.until);
    }

    /// Stores the renewed lease. **For the worker.**
    pub fn extend(&self, lease: RingLease) {
        self.granted.store(clock::now(), Ordering::Relaxed);
        self.lease.extend(lease.from, lease.until);
    }

    /// Forgets the lease's number, as it can be renewed no more. **For the worker.**
    pub fn lose(&self) {
        self.number.store(0, Ordering::Relaxed);
    }
}
