//! What this server holds of a registry of nodes: slices of id time, in shared memory only. So a copy of the data
//! directory holds nothing.
//!
//! Sessions say what they need and look at what is held. One background worker asks the registry
//! ([`super::member`]), so that no statement waits for the network but the first one.

use super::errors::report;
use super::shared::shared;
use super::{clock, member, nodes, settings};
use mint_core::text::moment_text;
use mint_core::{Identity, Lane, Layout, Micros, Seen, Slice, Span};
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// How many claims shared memory has room for.
pub const SLOTS: usize = 256;

/// Nodes of one width, and the slice that is held of them.
///
/// - `width`, `first`, `last`: written before `state` shows the slot, immutable then. A slot is never another's.
/// - `slice`: atomic, by the core's protocol.
/// - the rest is the worker's, and read for showing.
#[repr(C, align(64))]
pub struct Hold {
    state: AtomicU32,
    width: AtomicU32,
    first: AtomicU64,
    last: AtomicU64,
    slice: Slice,
    claim: AtomicI64,
    renewed: AtomicI64,
    renewals: AtomicU64,
}

const _: () = assert!(size_of::<Hold>() == 64);

/// The state of a slot in use; zeroed memory is an empty one.
const PUBLISHED: u32 = 1;

/// The longest reason that is kept.
const NOTE: usize = 500;

/// All that sessions and worker tell each other. Zeroed at first.
///
/// - `worker`: its process; 0 when there is none.
/// - `started`: when one was last asked for, under the shared memory's lock.
/// - `widths`, `autos`: a bit for each width of node that sessions need: by its number, or any.
/// - `auto`: for each width, the slot of the node that the registry gave, plus 1.
/// - `released`: 1 from when all is to be given back until somebody needs a node again.
/// - `asked`: counts what sessions wait for; `answered`: the count that the worker has dealt with.
/// - `note`, `noted`: why the last request failed, and how long that is; 0 when it did not. Under the lock.
/// - `seen`: the worker's.
#[repr(C)]
pub struct Claims {
    worker: AtomicU32,
    noted: AtomicU32,
    released: AtomicU32,
    spare: AtomicU32,
    started: AtomicI64,
    widths: AtomicU64,
    autos: AtomicU64,
    asked: AtomicU64,
    answered: AtomicU64,
    auto: [AtomicU32; 64],
    seen: [AtomicU64; 3],
    note: [AtomicU8; NOTE],
    holds: [Hold; SLOTS],
}

impl Hold {
    /// The width of its nodes in bits.
    pub fn width(&self) -> u32 {
        self.width.load(Ordering::Relaxed)
    }

    /// Its nodes.
    pub fn nodes(&self) -> RangeInclusive<u64> {
        self.first.load(Ordering::Relaxed)..=self.last.load(Ordering::Relaxed)
    }

    /// What is held of them.
    pub fn slice(&self) -> &Slice {
        &self.slice
    }

    /// The claim at the registry; none when there is none.
    pub fn claim(&self) -> Option<i64> {
        Some(self.claim.load(Ordering::Relaxed)).filter(|&claim| claim != 0)
    }

    /// When the slice was granted, and how often since the claim was made.
    pub fn renewed(&self) -> (Micros, u64) {
        (
            self.renewed.load(Ordering::Relaxed),
            self.renewals.load(Ordering::Relaxed),
        )
    }

    /// Takes what the registry has granted. **The worker's.**
    pub fn take(&self, claim: i64, span: Span) {
        if self.claim.swap(claim, Ordering::Relaxed) == claim {
            self.renewals.fetch_add(1, Ordering::Relaxed);
        } else {
            self.renewals.store(0, Ordering::Relaxed);
        }
        self.renewed.store(clock::now(), Ordering::Relaxed);
        self.slice.extend(span.from, span.until);
    }

    /// The claim is lost, or given up. What is left of the slice is not. **The worker's.**
    pub fn lose(&self) {
        self.claim.store(0, Ordering::Relaxed);
    }

    fn has(&self, width: u32, node: u64) -> bool {
        self.width() == width && self.nodes().contains(&node)
    }
}

/// Every slot in use.
pub fn holds() -> impl Iterator<Item = &'static Hold> {
    let holds = &shared().claims.holds;
    holds
        .iter()
        .take_while(|hold| hold.state.load(Ordering::Acquire) == PUBLISHED)
}

/// The slot of these nodes, made if there is none; none when there is no room. **The worker's.**
pub fn hold(width: u32, nodes: &RangeInclusive<u64>) -> Option<&'static Hold> {
    if let Some(hold) = holds().find(|hold| hold.width() == width && hold.nodes() == *nodes) {
        return Some(hold);
    }
    let hold = shared().claims.holds.get(holds().count())?;
    hold.width.store(width, Ordering::Relaxed);
    hold.first.store(*nodes.start(), Ordering::Relaxed);
    hold.last.store(*nodes.end(), Ordering::Relaxed);
    hold.state.store(PUBLISHED, Ordering::Release);
    Some(hold)
}

/// The slot of the node that the registry gave for a width.
pub fn auto(width: u32) -> Option<&'static Hold> {
    let claims = shared().claims;
    let place = claims.auto.get(width as usize)?.load(Ordering::Acquire);
    claims.holds.get((place as usize).checked_sub(1)?)
}

/// From now on this is the node that the registry gave. **The worker's.**
pub fn set_auto(width: u32, hold: &'static Hold) {
    let claims = shared().claims;
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

fn held(width: u32, node: u64) -> &'static Slice {
    // One that lasts before one that does not, as nodes can be claimed by different ranges one after the other.
    let find = || {
        let mine = holds().filter(|hold| hold.has(width, node));
        mine.max_by_key(|hold| hold.slice.until())
    };
    let hold = find().filter(|hold| hold.slice.until() > 0);
    let hold = hold.unwrap_or_else(|| {
        refuse_unlisted(width, node);
        shared()
            .claims
            .widths
            .fetch_or(1 << width, Ordering::AcqRel);
        wait_for(|| find().filter(|hold| hold.slice.until() > 0))
    });
    // SAFETY: as above.
    unsafe {
        RECENT = (
            width,
            hold.first.load(Ordering::Relaxed),
            hold.last.load(Ordering::Relaxed),
            Some(&hold.slice),
        );
    }
    &hold.slice
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
        Some(hold) => hold.first.load(Ordering::Relaxed),
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
    shared().claims.autos.fetch_or(1 << width, Ordering::AcqRel);
    let hold = wait_for(|| auto(width));
    hold.first.load(Ordering::Relaxed)
}

/// How long a look at what the worker has done is off.
const GLANCE: Micros = 3_000;

/// Waits for the worker to have asked the registry, at most as long as the session has patience.
#[cold]
fn wait_for<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let claims = shared().claims;
    let patience = settings::policy().max_wait;
    let began = clock::up();
    claims.released.store(0, Ordering::Release);
    let ask = ask();
    loop {
        // Before looking: what was answered by then must be seen.
        let answered = claims.answered.load(Ordering::Acquire) >= ask;
        if let Some(found) = find() {
            return found;
        }
        if answered || clock::up() - began > patience {
            refuse(None);
        }
        clock::pause(GLANCE);
    }
}

/// Puts a question to the worker. Returns its number.
fn ask() -> u64 {
    let number = shared().claims.asked.fetch_add(1, Ordering::AcqRel) + 1;
    member::wake();
    number
}

/// A session has come to the end of a slice. Wakes the worker, and waits a little.
#[cold]
pub fn renew(slice: &Slice) {
    shared().claims.released.store(0, Ordering::Release);
    member::wake();
    if note().is_some() {
        refuse(Some(slice.until()));
    }
    clock::pause(GLANCE);
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
        Some(note().unwrap_or_else(|| "It has not answered yet.".to_owned())),
        Some("See pg_mint_claims, the registry's pg_mint_nodes, and the server's log.".to_owned()),
    )
}

/// Why the last request failed, if it did.
pub fn note() -> Option<String> {
    let claims = shared().claims;
    if claims.noted.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let bytes: Vec<u8> = shared().locked(|_| {
        let length = claims.noted.load(Ordering::Relaxed) as usize;
        let bytes = claims.note.iter().take(length);
        bytes.map(|byte| byte.load(Ordering::Relaxed)).collect()
    });
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Keeps why a request failed, or that none has. **The worker's.**
pub fn set_note(note: Option<&str>) {
    let claims = shared().claims;
    let text = note.unwrap_or_default();
    let length = text.floor_char_boundary(NOTE);
    shared().locked(|_| {
        for (place, byte) in claims.note.iter().zip(text[..length].bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        claims.noted.store(length as u32, Ordering::Relaxed);
    });
}

/// What sessions need: bits of widths by number, and of widths with any node; and the count of their questions.
/// **The worker's.**
pub fn wanted() -> (u64, u64, u64) {
    let claims = shared().claims;
    // The count first: what is wanted belongs to no earlier one.
    let asked = claims.asked.load(Ordering::Acquire);
    (
        claims.widths.load(Ordering::Acquire),
        claims.autos.load(Ordering::Acquire),
        asked,
    )
}

/// Whether somebody waits for an answer. **The worker's.**
pub fn is_unanswered(asked: u64) -> bool {
    shared().claims.answered.load(Ordering::Acquire) < asked
}

/// All questions up to this count were put to the registry. **The worker's.**
pub fn answer(asked: u64) {
    shared().claims.answered.store(asked, Ordering::Release);
}

/// Whether all is to be given back. **The worker's.**
pub fn is_released() -> bool {
    shared().claims.released.load(Ordering::Acquire) != 0
}

/// Gives back all that is held, until somebody needs a node again. Returns how many claims there were.
pub fn release() -> i64 {
    let claims = shared().claims;
    let held = holds().filter(|hold| hold.claim().is_some()).count();
    if held > 0 {
        claims.released.store(1, Ordering::Release);
        let ask = ask();
        let began = clock::up();
        let patience = settings::policy().max_wait;
        while claims.answered.load(Ordering::Acquire) < ask && clock::up() - began < patience {
            clock::pause(GLANCE);
        }
    }
    let left = holds().filter(|hold| hold.claim().is_some()).count();
    held.saturating_sub(left) as i64
}

/// How much of the registry's history this server has seen. **The worker's.**
pub fn seen() -> Option<Seen> {
    let [system, age, position] =
        [0, 1, 2].map(|place| shared().claims.seen[place].load(Ordering::Relaxed));
    (position != 0).then_some(Seen {
        identity: Identity {
            system,
            timeline: (age >> 32) as u32,
            incarnation: age as u32,
        },
        position,
    })
}

/// **The worker's.**
pub fn set_seen(seen: Seen) {
    let places = &shared().claims.seen;
    let Identity {
        system,
        timeline,
        incarnation,
    } = seen.identity;
    let age = u64::from(timeline) << 32 | u64::from(incarnation);
    for (place, value) in places.iter().zip([system, age, seen.position]) {
        place.store(value, Ordering::Relaxed);
    }
}

/// The process of the worker, if there is one.
pub fn worker() -> Option<i32> {
    let pid = shared().claims.worker.load(Ordering::Acquire);
    i32::try_from(pid).ok().filter(|&pid| pid != 0)
}

/// A worker comes. False when there is one already. **The worker's.**
pub fn enter_worker(pid: i32) -> bool {
    let place = &shared().claims.worker;
    place
        .compare_exchange(0, pid.unsigned_abs(), Ordering::AcqRel, Ordering::Acquire)
        .is_ok()
}

/// The worker goes. **The worker's.**
pub fn leave_worker(pid: i32) {
    let place = &shared().claims.worker;
    // That it was another is as good.
    let _ = place.compare_exchange(pid.unsigned_abs(), 0, Ordering::AcqRel, Ordering::Acquire);
}

/// Whether it falls to this session to start a worker: nobody has for a while.
pub fn may_start_worker() -> bool {
    const WHILE: Micros = 2_000_000;
    let now = clock::up();
    let started = &shared().claims.started;
    shared().locked(|_| {
        let last = started.load(Ordering::Relaxed);
        let free = worker().is_none() && (last == 0 || now - last > WHILE);
        if free {
            started.store(now, Ordering::Relaxed);
        }
        free
    })
}

/// Ends a slice now. Returns the moment that all ids minted under it are before.
pub fn give_back(hold: &Hold) -> Micros {
    shared().locked(|table| {
        let of_width = |lane: &Lane| {
            let layout = lane.layout();
            layout.is_some_and(|layout| layout.node.width == hold.width())
        };
        // With a full table, nodes share lanes with others that go on. Then the slice ends when it is over.
        if table.is_full() {
            return hold.slice.until();
        }
        let mine = |lane: &&Lane| {
            of_width(lane) && lane.node().is_some_and(|node| hold.nodes().contains(&node))
        };
        hold.slice.give_back(table.lanes().filter(mine))
    })
}
