//! What this server holds of a registry of nodes: leases of id time, in shared memory only. So a copy of the data
//! directory holds nothing.
//!
//! Sessions say what they need and look at what is held. One background worker asks the registry
//! ([`crate::registry::member::worker`]), so that no statement waits for the network but the first one.

use crate::pg::backend::local::Local;
use crate::pg::backend::recovery;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::shmem::{NamedSegment, Stamp};
use crate::pg::worker::request::{Kind, POLL, Requests};
use crate::registry::member::slot::{History, Hold, SLOTS};
use crate::registry::settings;
use crate::snowflake::error::IN_RECOVERY;
use crate::snowflake::lane::lanes;
use crate::snowflake::node::lender;
use crate::snowflake::node::lender::Lender;
use crate::snowflake::node::setting::{Node, node as node_setting};
use mint_core::snowflake::mint_error::lease_ended;
use mint_core::{Lane, Lease, Micros};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// All that sessions and worker tell each other. Zeroed at first.
///
/// - `widths`, `autos`: a bit for each width of node that sessions need: by its number, or any.
/// - `released`: 1 from when all is to be given back until a session needs a node again.
/// - `settings`: by which settings the worker goes.
/// - `auto`: for each width, the slot of the node that the registry gave, plus 1.
/// - `seen`: the worker's.
#[repr(C)]
pub struct Claims {
    requests: Requests,
    widths: AtomicU64,
    autos: AtomicU64,
    seen: History,
    settings: AtomicU64,
    released: AtomicU32,
    auto: [AtomicU32; 63],
    holds: [Hold; SLOTS],
}

static STAMP: Stamp = Stamp::new(b'r', 1);
static CLAIMS: NamedSegment<Claims> = NamedSegment::new(c"pg_mint leases", &STAMP, |_, _| ());

fn memory() -> &'static Claims {
    CLAIMS.memory().head
}

/// The worker that asks the registry.
const WORKER: Kind = Kind {
    name: "pg_mint registry",
    function: "pg_mint_member",
    argument: 0,
};

/// Every slot in use.
pub fn holds() -> impl Iterator<Item = &'static Hold> {
    let holds = &memory().holds;
    holds.iter().take_while(|hold| hold.is_used())
}

/// Those that this process can use: of the registry that its settings name.
pub fn usable() -> impl Iterator<Item = &'static Hold> {
    let key = settings::registry_key();
    holds().filter(move |hold| hold.registry() == key)
}

/// The slot of these nodes, made if there is none; none when there is no room. **The worker's.**
pub fn hold(width: u32, nodes: &RangeInclusive<u64>) -> Option<&'static Hold> {
    if let Some(hold) = usable().find(|hold| hold.width() == width && hold.nodes() == *nodes) {
        return Some(hold);
    }
    let hold = memory().holds.get(holds().count())?;
    hold.publish(settings::registry_key(), width, nodes);
    Some(hold)
}

/// Whether there is a slot for nodes that have none. **The worker's.**
pub fn has_room() -> bool {
    holds().count() < SLOTS
}

/// The slot of the node that the registry gave for a width.
pub fn auto(width: u32) -> Option<&'static Hold> {
    let claims = memory();
    let hold = claims
        .holds
        .get(place_of_auto(width).checked_sub(1)? as usize)?;
    (hold.registry() == settings::registry_key()).then_some(hold)
}

/// Where that is, plus 1; 0 when there is none.
#[inline]
fn place_of_auto(width: u32) -> u32 {
    let place = memory().auto.get(width as usize);
    place.map_or(0, |place| place.load(Ordering::Acquire))
}

/// From now on this is the node that the registry gave. **The worker's.**
pub fn set_auto(width: u32, hold: &'static Hold) {
    let claims = memory();
    let place = holds().position(|other| ptr::eq(other, hold));
    if let (Some(place), Some(auto)) = (place, claims.auto.get(width as usize)) {
        auto.store(place as u32 + 1, Ordering::Release);
    }
}

/// For each width, which slot this session has found to be that of its node, plus 1, and the node.
static AUTO: [Local<(u32, u64)>; 63] = [const { Local::new(NOWHERE) }; 63];
const NOWHERE: (u32, u64) = (u32::MAX, 0);

/// Registers what is to be forgotten, and when. Called once, when the library is loaded.
pub fn init() {
    lender::on_change(|| AUTO.iter().for_each(|known| known.set(NOWHERE)));
}

/// The registry as a lender.
pub struct Leases;

/// What [`lender`] is told of.
pub static LEASES: Leases = Leases;

impl Lender for Leases {
    fn lease(&self, width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
        held(width, node)
    }

    fn renew(&self, lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
        renew(lease, width, node)
    }

    fn node(&self, width: u32) -> u64 {
        match AUTO.get(width as usize).map(Local::get) {
            // A slot is never another's, so its node is as it was.
            Some((place, node)) if place == place_of_auto(width) => node,
            _ => first_auto(width),
        }
    }

    fn ended(&self, until: Micros) -> ! {
        refuse(Some(until))
    }
}

/// Where a node is, once a lease of it was held: what lasts longest, as it may be in different ranges one after the
/// other.
fn find(width: u32, node: u64) -> Option<&'static Hold> {
    usable()
        .filter(|hold| hold.has(width, node) && hold.lease().until() > 0)
        .max_by_key(|hold| hold.lease().until())
}

/// The nodes around this one that the settings let this session mint as; none when they say nothing of it.
fn permitted(width: u32, node: u64) -> Option<RangeInclusive<u64>> {
    // Without a node there is nothing to list.
    if width == 0 {
        return Some(0..=0);
    }
    settings::range_of(node).or_else(|| {
        let given =
            node_setting() == Node::Auto && auto(width).is_some_and(|at| at.first() == node);
        given.then_some(node..=node)
    })
}

fn held(width: u32, node: u64) -> (RangeInclusive<u64>, &'static Lease) {
    let Some(range) = permitted(width, node) else {
        refuse_unlisted(width, node)
    };
    let hold = find(width, node).unwrap_or_else(|| {
        want(&memory().widths, width);
        wait_for(|| find(width, node)).unwrap_or_else(|| {
            // The number of a session, role or database is not claimed for them.
            if width > 0 && !settings::is_listed(node) && note().is_none() && requests().is_served()
            {
                refuse_unlisted(width, node);
            }
            refuse(None)
        })
    });
    let nodes = hold.nodes();
    let (first, last) = (
        *nodes.start().max(range.start()),
        *nodes.end().min(range.end()),
    );
    (first..=last, hold.lease())
}

/// From now on the worker sees to this width.
fn want(widths: &AtomicU64, width: u32) {
    widths.fetch_or(1 << width, Ordering::AcqRel);
}

/// A node that no setting says is this server's may be another's.
#[cold]
fn refuse_unlisted(width: u32, node: u64) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("node {node} of {width} bits is not one of this server's"),
    )
    .detail("With pg_mint.registry set, a server mints as nodes that it has claimed.")
    .hint("Add the node to pg_mint.nodes of the server that shall mint it.")
    .raise()
}

/// The node that the registry has given for this width.
#[cold]
fn first_auto(width: u32) -> u64 {
    let found = || Some((place_of_auto(width), auto(width)?.first()));
    let (place, node) = found().unwrap_or_else(|| {
        want(&memory().autos, width);
        wait_for(found).unwrap_or_else(|| refuse(None))
    });
    if let Some(known) = AUTO.get(width as usize) {
        known.set((place, node));
    }
    node
}

/// Waits for the worker to have asked the registry, at most as long as the session has patience.
#[cold]
fn wait_for<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    recovery::refuse(&IN_RECOVERY);
    let claims = memory();
    claims.released.store(0, Ordering::Release);
    // A reload reaches one process before the other: what the worker says by other settings answers nothing.
    let is_up_to_date = || claims.settings.load(Ordering::Acquire) == settings::settings_key();
    claims.requests.wait_for(&WORKER, is_up_to_date, find)
}

/// A session has come to the end of a lease. Wakes the worker, waits a little, and returns the lease to look at then.
#[cold]
fn renew(lease: &'static Lease, width: u32, node: u64) -> &'static Lease {
    let claims = memory();
    claims.released.store(0, Ordering::Release);
    claims.requests.wake(&WORKER);
    if let Some(hold) = auto(width)
        && !ptr::eq(hold.lease(), lease)
        && permitted(width, node).is_none()
    {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "the registry has given this server another node",
        )
        .detail(format!(
            "Node {node} of {width} bits is not this server's any more."
        ))
        .hint("Run the statement again. If it names the node, add the node to pg_mint.nodes.")
        .raise();
    }
    // A session that only ran ahead of the clock waits for it: what went wrong may be another node's.
    if note().is_some() && lease.until() <= clock::now() {
        refuse(Some(lease.until()));
    }
    clock::pause(POLL);
    find(width, node).map_or(lease, |hold| hold.lease())
}

/// Ends the statement with what the registry, or the way to it, has to say.
#[cold]
fn refuse(ended: Option<Micros>) -> ! {
    let message = match ended {
        Some(until) if until > 0 => lease_ended(until),
        _ => "the registry has not given this server its node".to_owned(),
    };
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(note().unwrap_or_else(|| {
            if requests().is_served() {
                "It has not answered yet."
            } else {
                "The background worker that asks it could not start, or has ended."
            }
            .to_owned()
        }))
        .hint("See pg_mint_claims, the registry's pg_mint_nodes, and the server's log.")
        .raise()
}

/// Why the last request failed, if it did.
pub fn note() -> Option<String> {
    memory().requests.note()
}

/// Where sessions' questions arrive. **The worker's.**
pub fn requests() -> &'static Requests {
    &memory().requests
}

/// What sessions need: bits of widths by number, and of widths with any node. **The worker's.**
pub fn wanted() -> (u64, u64) {
    let claims = memory();
    (
        claims.widths.load(Ordering::Acquire),
        claims.autos.load(Ordering::Acquire),
    )
}

/// Whether all is to be given back. **The worker's.**
pub fn is_released() -> bool {
    memory().released.load(Ordering::Acquire) != 0
}

/// Gives back all that is held, until a session needs a node again. Returns how many claims there were.
pub fn release() -> i64 {
    let claims = memory();
    let count = || holds().filter(|hold| hold.claim().is_some()).count();
    let held = count();
    if held > 0 {
        claims.released.store(1, Ordering::Release);
        claims.requests.wait_for(&WORKER, || true, || None::<()>);
    }
    held.saturating_sub(count()) as i64
}

/// From now on the worker goes by the settings as they are. **The worker's**, before it looks at questions.
pub fn settle() {
    let settings = &memory().settings;
    settings.store(settings::settings_key(), Ordering::Release);
}

/// Starts the next worker. **The worker's**, when it has left.
pub fn start_worker() {
    memory().requests.wake(&WORKER);
}

/// How much of the registry's history this server has seen. **The worker's.**
pub fn seen() -> &'static History {
    &memory().seen
}

/// Ends a lease now. Returns the moment that all ids minted under it are before.
pub fn give_back(hold: &Hold) -> Micros {
    lanes::locked(|table| {
        let of_width = |lane: &Lane| {
            let layout = lane.layout();
            layout.is_some_and(|layout| layout.node.width == hold.width())
        };
        // With a full table, nodes share lanes with others that go on. Then the lease ends when it is over.
        if table.is_full() {
            return hold.lease().until();
        }
        let mine = |lane: &&Lane| {
            of_width(lane) && lane.node().is_some_and(|node| hold.nodes().contains(&node))
        };
        hold.lease().release(table.lanes().filter(mine))
    })
}
