//! Sessions that share lanes, a clock, and a page or a lease.

use crate::page::SharedPage;
use loom::sync::atomic::{AtomicI64, Ordering};
use mint_core::{Ceiling, ClockAnchor, Host, Lane, Layout, Lease, Micros, Policy, Wait};
use std::sync::atomic::AtomicUsize;

/// Small enough that four ids fill a tick.
pub fn layout() -> Layout {
    "time:8 shard:2 seq:2 unit:1ms epoch:1970-01-01T00:00:00Z"
        .parse()
        .unwrap()
}

pub const MS: Micros = 1_000;
/// The first reading of a clock.
pub const START: Micros = 5 * MS;
pub const WINDOW: Micros = 2 * MS;

/// Runs three ticks ahead of the clock.
pub const AHEAD: Policy = Policy {
    max_ahead: 3 * MS,
    max_wait: 0,
    max_jump: Micros::MAX,
    window: WINDOW,
};

pub enum Clock {
    /// Always at the start. Its readings add no interleavings.
    Stopped,
    /// Moved by pauses, and by so much at each reading.
    Stepping(AtomicI64, Micros),
}

impl Clock {
    pub fn stepping(step: Micros) -> Self {
        Clock::Stepping(AtomicI64::new(START), step)
    }
}

/// The memory that all sessions share, and the page that holds the durable ceiling.
pub struct World {
    pub clock: Clock,
    pub page: SharedPage,
    pub ceiling: Ceiling,
    /// True if sessions attach to the ceiling themselves.
    pub attach: bool,
    pub lease: Option<Lease>,
    pub lanes: [Lane; 2],
    /// An atomic of std: loom does not order events by it, and it stamps their order.
    pub stamp: AtomicUsize,
}

impl World {
    /// Returns a world without a lease, whose page is at the start.
    pub fn new(clock: Clock, ceiling: Ceiling) -> Self {
        World {
            clock,
            page: SharedPage::new(START + 1),
            ceiling,
            attach: false,
            lease: None,
            lanes: [1, 2].map(|shard| Lane::outside_table(&layout(), shard)),
            stamp: AtomicUsize::new(0),
        }
    }
}

pub struct Session<'w> {
    world: &'w World,
    anchor: ClockAnchor,
}

impl<'w> Session<'w> {
    pub fn new(world: &'w World) -> Self {
        Session {
            world,
            anchor: ClockAnchor::new(),
        }
    }
}

impl Host for Session<'_> {
    /// The lease has ended.
    type Interrupt = ();

    fn now(&mut self) -> Micros {
        // Relaxed: a clock orders nothing but itself.
        match &self.world.clock {
            Clock::Stopped => START,
            Clock::Stepping(at, 0) => at.load(Ordering::Relaxed),
            Clock::Stepping(at, step) => at.fetch_add(*step, Ordering::Relaxed),
        }
    }

    fn up(&mut self) -> Micros {
        0
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.anchor
    }

    fn pause(&mut self, Wait { span, .. }: Wait) -> Result<(), ()> {
        match &self.world.clock {
            Clock::Stopped => unreachable!("a pause on a stopped clock never ends"),
            Clock::Stepping(at, _) => at.fetch_add(span, Ordering::Relaxed),
        };
        Ok(())
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn stepped_back(&mut self, _: Micros) {}

    fn ceiling(&self) -> &Ceiling {
        &self.world.ceiling
    }

    /// Attaches to the page first and raises later, as a session does.
    fn raise(&mut self, beyond: Micros) -> Result<(), ()> {
        let world = self.world;
        if world.attach && world.ceiling.limit() == 0 {
            let value = *world.page.value.lock().unwrap();
            world.ceiling.attach(value);
        }
        let Ok(()) = world.ceiling.raise(beyond, WINDOW, &mut &world.page);
        Ok(())
    }

    fn lease(&self) -> Option<&Lease> {
        self.world.lease.as_ref()
    }

    fn renew(&mut self, _is_first: bool) -> Result<(), ()> {
        Err(())
    }
}
