//! The leases of nodes that this server holds, in shared memory only. So a copy of the data directory holds none.
//!
//! Sessions say which leases they need, and read those that are held. One background worker
//! ([`crate::registry::member::worker`]) requests them from the registry, so that only the first statement waits for
//! the network.

use crate::pg::backend::local::Local;
use crate::pg::backend::{orphan, recovery};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::pg::worker::mailbox::{Mailbox, POLL, WorkerKind, last_failure};
use crate::registry::identity::{bits, describe_nodes};
use crate::registry::member::assigned_memory::AssignedMemory;
use crate::registry::member::slot::{History, LeaseSlot, SLOTS};
use crate::registry::member::trouble;
use crate::registry::member::trouble::{Trouble, Troubles, missing_database, remedy};
use crate::registry::settings;
use crate::snowflake::error::IN_RECOVERY;
use crate::snowflake::node::grantor;
use crate::snowflake::node::grantor::Grantor;
use crate::snowflake::node::setting::{Node, node as node_setting};
use crate::statistics::{self, Count, Wait};
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use mint_core::snowflake::mint_error::lease_ended;
use mint_core::{Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
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
    pub(super) requests: Mailbox,
    widths: AtomicU64,
    any_widths: AtomicU64,
    needed_at: [AtomicI64; MAX_SHARD_BITS as usize + 1],
    pub(super) seen: History,
    settings: AtomicU64,
    released: AtomicU32,
    any: [AtomicU32; MAX_SHARD_BITS as usize + 1],
    pub(super) assigned: AssignedMemory,
    slots: [LeaseSlot; SLOTS],
    pub(super) troubles: Troubles,
}

static STAMP: Stamp = Stamp::new(b'r', 3);
static LEASES: NamedSegment<LeasesHead> = NamedSegment::new(c"pg_mint leases", &STAMP, |_, _| ());

/// Returns the memory. The first call of this process makes or attaches it.
pub(super) fn memory() -> &'static LeasesHead {
    LEASES.memory().head
}

/// Returns whether a session has made the memory.
pub fn made() -> bool {
    LEASES.made().is_some()
}

/// The worker that sends requests to the registry.
static WORKER: WorkerKind = WorkerKind {
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
fn index_of_any(width: u32) -> u32 {
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

/// For each width, the index that this session has read of the slot of its node, plus 1, and the node.
static ANY: [Local<(u32, u64)>; MAX_SHARD_BITS as usize + 1] =
    [const { Local::new(UNKNOWN) }; MAX_SHARD_BITS as usize + 1];
const UNKNOWN: (u32, u64) = (u32::MAX, 0);

/// Registers the memory, and what a change of settings clears. Called once, when the library is loaded.
pub fn init() {
    LEASES.register();
    grantor::on_change(|| ANY.iter().for_each(|known| known.set(UNKNOWN)));
}

/// The grantor whose leases a registry has granted.
pub struct RegistryGrantor;

impl Grantor for RegistryGrantor {
    fn lease(&self, width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
        find_or_request(width, node)
    }

    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
        renew(lease, width, node)
    }

    fn node(&self, width: u32) -> u64 {
        match ANY.get(width as usize).map(Local::get) {
            // A slot is never reused, so its node is as it was.
            Some((index, node)) if index == index_of_any(width) => node,
            _ => find_any_node(width),
        }
    }

    fn ended(&self, until: Micros) -> ! {
        let (width, node) = RENEWED.get();
        refuse(width, Some(node), Some(until))
    }
}

/// The width and the node of the last lease whose end this session has reached.
static RENEWED: Local<(u32, u64)> = Local::new((0, 0));

/// Returns the slot with the latest lease of a node, which can be in several ranges one after the other.
fn find(width: u32, node: u64) -> Option<&'static LeaseSlot> {
    usable_slots()
        .filter(|slot| slot.has(width, node) && slot.lease().until() > 0)
        .max_by_key(|slot| slot.lease().until())
}

/// Returns the nodes around this one that the settings let this session mint as; none when they do not name it.
fn permitted(width: u32, node: u64) -> Option<RangeInclusive<u64>> {
    // A layout without a node has node 0, which no setting names.
    if width == 0 {
        return Some(0..=0);
    }
    settings::range_of(node).or_else(|| {
        let is_chosen = matches!(node_setting(), Node::Auto | Node::Assigned)
            && any_slot(width).is_some_and(|any| any.first() == node)
            && !is_unassigned();
        is_chosen.then_some(node..=node)
    })
}

fn find_or_request(width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
    let Some(range) = permitted(width, node) else {
        refuse_unlisted(width, node)
    };
    let slot = find(width, node).unwrap_or_else(|| {
        want(&memory().widths, width);
        wait_for(|| find(width, node)).unwrap_or_else(|| {
            // A node that only the session, role or database sets is not requested.
            let is_listed = width == 0 || settings::is_listed(node);
            if !is_listed && trouble(width, Some(node)).is_none() && memory().requests.is_served() {
                refuse_unlisted(width, node);
            }
            refuse(width, Some(node), None)
        })
    });
    let nodes = slot.nodes();
    let first = *nodes.start().max(range.start());
    let last = *nodes.end().min(range.end());
    (first..=last, slot.lease())
}

/// Tells the worker that sessions need leases of this width.
fn want(widths: &AtomicU64, width: u32) {
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

/// Refuses a node that the settings do not name, as it can be another server's.
#[cold]
fn refuse_unlisted(width: u32, node: u64) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!(
            "{} is not leased by this server",
            describe_nodes(width, &node, &node)
        ),
    )
    .detail("With \"pg_mint.registry\" set, a server mints only as nodes that it leases.")
    .hint("Add the node to \"pg_mint.nodes\" on this server.")
    .raise()
}

/// Returns the node that the registry chose for this width, and requests one if there is none.
#[cold]
fn find_any_node(width: u32) -> u64 {
    let find = || {
        let chosen = Some((index_of_any(width), any_slot(width)?.first()));
        chosen.filter(|_| !is_unassigned())
    };
    let (index, node) = find().unwrap_or_else(|| {
        want(&memory().any_widths, width);
        wait_for(find).unwrap_or_else(|| {
            if is_unassigned() && memory().requests.is_served() {
                refuse_unassigned();
            }
            refuse(width, None, None)
        })
    });
    if let Some(known) = ANY.get(width as usize) {
        known.set((index, node));
    }
    node
}

/// How long a reload takes at most until it has reached the worker as well.
const RELOAD: Micros = 1_000_000;

/// Returns whether this session wants the assigned node of a server that uses none.
fn is_unassigned() -> bool {
    node_setting() == Node::Assigned && !memory().assigned.is_set()
}

#[cold]
fn refuse_unassigned() -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "this server does not use its assigned node",
    )
    .detail("\"pg_mint.node\" is \"assigned\" for this session, role or database only.")
    .hint("Set \"pg_mint.node\" to \"assigned\" in postgresql.conf or by ALTER SYSTEM.")
    .raise()
}

/// Waits until `find` finds something or the worker has answered, at most for `pg_mint.max_wait`.
#[cold]
fn wait_for<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    recovery::refuse(&IN_RECOVERY);
    orphan::refuse();
    let head = memory();
    head.released.store(0, Ordering::Release);
    // A reload does not reach all processes at once: an answer under other settings does not count. A node that only this
    // session calls assigned stays so.
    let began = clock::up();
    let is_up_to_date = || {
        head.settings.load(Ordering::Acquire) == settings::settings_key()
            && (!is_unassigned() || clock::up() - began > RELOAD)
    };
    let _waiting = Wait::Lease.begin(true);
    head.requests.wait_for(&WORKER, is_up_to_date, find)
}

/// Wakes the worker, as a session has reached the end of a lease; waits a little, and returns the lease to try next.
#[cold]
fn renew(lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
    orphan::refuse();
    RENEWED.set((width, node));
    let head = memory();
    // It can have been forgotten meanwhile.
    if width == 0 || settings::range_of(node).is_some() {
        want(&head.widths, width);
    } else if permitted(width, node).is_some() {
        want(&head.any_widths, width);
    }
    head.released.store(0, Ordering::Release);
    head.requests.wake(&WORKER);
    if let Some(slot) = any_slot(width)
        && !ptr::eq(slot.lease(), lease)
        && permitted(width, node).is_none()
    {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "registry has granted this server another node",
        )
        .detail(format!(
            "Node {node} ({}) is no longer leased by this server.",
            bits(width)
        ))
        .hint("Retry the statement. If the statement names the node, add the node to \"pg_mint.nodes\".")
        .raise();
    }
    // A session that only ran ahead of the clock waits.
    if lease.until() <= clock::now() && trouble(width, Some(node)).is_some() {
        refuse(width, Some(node), Some(lease.until()));
    }
    clock::pause(POLL, Wait::Lease.event());
    find(width, node).map_or(lease, |slot| slot.lease())
}

/// Raises the error that there is no lease of a node, or of any node of a width, with the reason that the registry or the
/// connection to it gave.
#[cold]
fn refuse(width: u32, node: Option<u64>, ended: Option<Micros>) -> ! {
    statistics::add(Count::LeaseRefusals, 1);
    let message = match ended {
        Some(until) if until > 0 => lease_ended(until),
        _ => "could not obtain a node from the registry".to_owned(),
    };
    let missing = missing_database().filter(|_| !memory().requests.is_served());
    let trouble = missing.or_else(|| trouble(width, node));
    let detail = match &trouble {
        Some(why) => last_failure(why),
        None if memory().requests.is_served() => "The registry has not responded yet.".to_owned(),
        None => "The background worker that sends requests to the registry could not start, \
                 or has ended."
            .to_owned(),
    };
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(detail)
        .hint(remedy(&trouble.unwrap_or_default()))
        .raise()
}

/// Returns why the last request for a node failed, if it did; without a node, for any node of the width.
fn trouble(width: u32, node: Option<u64>) -> Option<String> {
    // The node that the registry chose has no number in its task.
    let is_chosen = any_slot(width).is_some_and(|any| Some(any.first()) == node);
    let is_own =
        |trouble: &Trouble| trouble.is_of(width, node) || is_chosen && trouble.is_of(width, None);
    let own = trouble::read(&memory().troubles).into_iter().find(is_own);
    own.map(|trouble| trouble.why)
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
