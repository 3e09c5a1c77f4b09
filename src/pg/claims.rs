//! What this server holds of a registry of nodes: slices of id time, in shared memory only. So a copy of the data
//! directory holds nothing.
//!
//! Sessions say what they need and look at what is held. One background worker asks the registry
//! ([`super::member`]), so that no statement waits for the network but the first one.

use super::errors::report;
use super::holds::{Hold, SLOTS};
use super::mailbox::{GLANCE, Kind, Mailbox};
use super::shmem::{Idea, Stamp};
use super::{clock, lanes, nodes, settings};
use mint_core::text::moment_text;
use mint_core::{Identity, Lane, Layout, Micros, Seen, Slice};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// All that sessions and worker tell each other. Zeroed at first.
///
/// - `widths`, `autos`: a bit for each width of node that sessions need: by its number, or any.
/// - `released`: 1 from when all is to be given back until somebody needs a node again.
/// - `auto`: for each width, the slot of the node that the registry gave, plus 1.
/// - `seen`: the worker's.
#[repr(C)]
pub struct Claims {
    mailbox: Mailbox,
    widths: AtomicU64,
    autos: AtomicU64,
    seen: [AtomicU64; 4],
    released: AtomicU32,
    auto: [AtomicU32; 63],
    holds: [Hold; SLOTS],
}

static STAMP: Stamp = Stamp::new(b'r', 1);
static CLAIMS: Idea<Claims> = Idea::new(c"pg_mint leases", &STAMP, |_, _| ());

fn claims() -> &'static Claims {
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
    let holds = &claims().holds;
    holds.iter().take_while(|hold| hold.is_used())
}

/// The slot of these nodes, made if there is none; none when there is no room. **The worker's.**
pub fn hold(width: u32, nodes: &RangeInclusive<u64>) -> Option<&'static Hold> {
    if let Some(hold) = holds().find(|hold| hold.width() == width && hold.nodes() == *nodes) {
        return Some(hold);
    }
    let hold = claims().holds.get(holds().count())?;
    hold.publish(width, nodes);
    Some(hold)
}

/// Whether there is a slot for nodes that have none. **The worker's.**
pub fn has_room() -> bool {
    holds().count() < SLOTS
}

/// The slot of the node that the registry gave for a width.
pub fn auto(width: u32) -> Option<&'static Hold> {
    let claims = self::claims();
    let place = claims.auto.get(width as usize)?.load(Ordering::Acquire);
    claims.holds.get((place as usize).checked_sub(1)?)
}

/// From now on this is the node that the registry gave. **The worker's.**
pub fn set_auto(width: u32, hold: &'static Hold) {
    let claims = self::claims();
    let place = holds().position(|other| ptr::eq(other, hold));
    if let (Some(place), Some(auto)) = (place, claims.auto.get(width as usize)) {
        auto.store(place as u32 + 1, Ordering::Release);
    }
}

/// The last slot that this session used, and what it holds.
static mut RECENT: (u32, u64, u64, Option<&Slice>) = (0, 1, 0, None);

/// The slice to mint within, if a registry lends nodes.
#[inline]
pub fn slice(layout: &Layout, node: u64) -> Option<&'static Slice> {
    if !nodes::has_registry() {
        return None;
    }
    // SAFETY: a backend is one thread.
    let (width, first, last, slice) = unsafe { RECENT };
    if width == layout.node.width && (first..=last).contains(&node) && slice.is_some() {
        return slice;
    }
    Some(held(layout.node.width, node))
}

/// Where a node is, once a slice of it was held: what lasts longest, as it may be in different ranges one after the
/// other.
fn find(width: u32, node: u64) -> Option<&'static Hold> {
    holds()
        .filter(|hold| hold.has(width, node) && hold.slice().until() > 0)
        .max_by_key(|hold| hold.slice().until())
}

fn held(width: u32, node: u64) -> &'static Slice {
    let hold = find(width, node).unwrap_or_else(|| {
        refuse_unlisted(width, node);
        want(&claims().widths, width);
        wait_for(|| find(width, node))
    });
    // SAFETY: a backend is one thread.
    unsafe {
        RECENT = (
            width,
            *hold.nodes().start(),
            *hold.nodes().end(),
            Some(hold.slice()),
        );
    }
    hold.slice()
}

/// From now on the worker sees to this width.
fn want(widths: &AtomicU64, width: u32) {
    widths.fetch_or(1 << width, Ordering::AcqRel);
}

/// A node that nobody has said is this server's may be another's.
#[cold]
fn refuse_unlisted(width: u32, node: u64) {
    // Without a node there is nothing to list.
    if width > 0 && !nodes::nodes().iter().any(|range| range.contains(&node)) {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("node {node} of {width} bits is not one of this server's"),
            Some(
                "With pg_mint.registry set, a server mints as nodes that it has claimed."
                    .to_owned(),
            ),
            Some("Add the node to pg_mint.nodes of the server that shall mint it.".to_owned()),
        );
    }
}

/// The node of this server that the registry has given for layouts like this one.
#[inline]
pub fn auto_node(layout: &Layout) -> u64 {
    let width = layout.node.width;
    match auto(width) {
        Some(hold) => hold.first(),
        None => first_auto(width),
    }
}

#[cold]
fn first_auto(width: u32) -> u64 {
    if !nodes::has_registry() {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "pg_mint.registry is not set".to_owned(),
            Some("pg_mint.node is \"auto\": a registry gives this server its node.".to_owned()),
            Some("Set pg_mint.registry to the name of a foreign server, or pg_mint.node to a number.".to_owned()),
        );
    }
    want(&claims().autos, width);
    let hold = wait_for(|| auto(width));
    hold.first()
}

/// Waits for the worker to have asked the registry, at most as long as the session has patience.
#[cold]
fn wait_for<T>(mut find: impl FnMut() -> Option<T>) -> T {
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::RecoveryInProgress() } {
        lanes::refuse_in_recovery();
    }
    let claims = self::claims();
    let patience = settings::policy().max_wait;
    let began = clock::up();
    claims.released.store(0, Ordering::Release);
    let question = claims.mailbox.ask(&WORKER);
    loop {
        // Before looking: what was answered by then must be seen.
        let answered = claims.mailbox.has_answered(question);
        if let Some(found) = find() {
            return found;
        }
        if answered || clock::up() - began > patience {
            refuse(None);
        }
        clock::pause(GLANCE);
    }
}

/// A session has come to the end of a slice. Wakes the worker, waits a little, and returns the slice to look at then.
#[cold]
pub fn renew(slice: &'static Slice, (width, node): (u32, u64)) -> &'static Slice {
    let claims = self::claims();
    claims.released.store(0, Ordering::Release);
    claims.mailbox.wake(&WORKER);
    if let Some(hold) = auto(width)
        && !ptr::eq(hold.slice(), slice)
        && !nodes::nodes().iter().any(|range| range.contains(&node))
    {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "the registry has given this server another node".to_owned(),
            Some(format!(
                "Node {node} of {width} bits is not this server's any more."
            )),
            Some(
                "Run the statement again. If it names the node, add the node to pg_mint.nodes."
                    .to_owned(),
            ),
        );
    }
    // Who only ran ahead of the clock waits for it: what went wrong may be another node's.
    if note().is_some() && slice.until() <= clock::now() {
        refuse(Some(slice.until()));
    }
    clock::pause(GLANCE);
    // SAFETY: a backend is one thread.
    unsafe { RECENT = (0, 1, 0, None) };
    // The settings may have changed, and with them the range that the node is in.
    find(width, node).map_or(slice, |hold| hold.slice())
}

/// Ends the statement with what the registry, or the way to it, has to say.
#[cold]
pub fn refuse(ended: Option<Micros>) -> ! {
    let message = match ended {
        Some(at) if at > 0 => format!(
            "the slice of id time that the registry lent this server ended at {}",
            moment_text(at)
        ),
        _ => "the registry has not given this server its node".to_owned(),
    };
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        message,
        Some(note().unwrap_or_else(|| {
            if mailbox().is_served() {
                "It has not answered yet."
            } else {
                "The background worker that asks it could not start, or has ended."
            }
            .to_owned()
        })),
        Some("See pg_mint_claims, the registry's pg_mint_nodes, and the server's log.".to_owned()),
    )
}

/// Why the last request failed, if it did.
pub fn note() -> Option<String> {
    claims().mailbox.note()
}

/// Where sessions' questions arrive. **The worker's.**
pub fn mailbox() -> &'static Mailbox {
    &claims().mailbox
}

/// What sessions need: bits of widths by number, and of widths with any node. **The worker's.**
pub fn wanted() -> (u64, u64) {
    let claims = self::claims();
    (
        claims.widths.load(Ordering::Acquire),
        claims.autos.load(Ordering::Acquire),
    )
}

/// Whether all is to be given back. **The worker's.**
pub fn is_released() -> bool {
    claims().released.load(Ordering::Acquire) != 0
}

/// Gives back all that is held, until somebody needs a node again. Returns how many claims there were.
pub fn release() -> i64 {
    let claims = self::claims();
    let count = || holds().filter(|hold| hold.claim().is_some()).count();
    let held = count();
    if held > 0 {
        claims.released.store(1, Ordering::Release);
        let question = claims.mailbox.ask(&WORKER);
        let began = clock::up();
        let patience = settings::policy().max_wait;
        while !claims.mailbox.has_answered(question) && clock::up() - began < patience {
            clock::pause(GLANCE);
        }
    }
    held.saturating_sub(count()) as i64
}

/// Starts the next worker. **The worker's**, when it has left.
pub fn start_worker() {
    claims().mailbox.wake(&WORKER);
}

/// How much of the registry's history this server has seen. **The worker's.**
pub fn seen() -> Option<Seen> {
    let seen = &claims().seen;
    let [system, age, start, position] =
        [0, 1, 2, 3].map(|place| seen[place].load(Ordering::Relaxed));
    (position != 0).then_some(Seen {
        identity: Identity {
            system,
            timeline: (age >> 32) as u32,
            start: start.cast_signed(),
            incarnation: age as u32,
        },
        position,
    })
}

/// **The worker's.**
pub fn set_seen(seen: Seen) {
    let places = &claims().seen;
    let Identity {
        system,
        timeline,
        start,
        incarnation,
    } = seen.identity;
    let age = u64::from(timeline) << 32 | u64::from(incarnation);
    let values = [system, age, start.cast_unsigned(), seen.position];
    for (place, value) in places.iter().zip(values) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Ends a slice now. Returns the moment that all ids minted under it are before.
pub fn give_back(hold: &Hold) -> Micros {
    lanes::locked(|table| {
        let of_width = |lane: &Lane| {
            let layout = lane.layout();
            layout.is_some_and(|layout| layout.node.width == hold.width())
        };
        // With a full table, nodes share lanes with others that go on. Then the slice ends when it is over.
        if table.is_full() {
            return hold.slice().until();
        }
        let mine = |lane: &&Lane| {
            of_width(lane) && lane.node().is_some_and(|node| hold.nodes().contains(&node))
        };
        hold.slice().give_back(table.lanes().filter(mine))
    })
}
