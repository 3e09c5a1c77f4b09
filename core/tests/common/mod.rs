//! A world whose clock is a script.
#![allow(dead_code, reason = "not every test file needs all of it")]

use mint_core::mint::Refusal;
use mint_core::{Ceiling, ClockAnchor, Host, Lane, Layout, Micros, MintError, Policy, Run, mint};

pub const MS: Micros = 1_000;
pub const SECOND: Micros = 1_000 * MS;
pub const HOUR: Micros = 3_600 * SECOND;

/// Twitter's strictness: never ahead of the clock, no patience for a clock that stepped back.
pub const STRICT: Policy = Policy {
    max_ahead: 0,
    max_wait: 0,
    max_jump: HOUR,
};
/// The settings that a server starts with.
pub const DEFAULTS: Policy = Policy {
    max_ahead: 2 * SECOND,
    max_wait: 5 * SECOND,
    max_jump: HOUR,
};

/// One lane and the world around it. Tests set `at` and look at `pauses`.
pub struct Script {
    pub layout: Layout,
    pub lane: Lane,
    pub ceiling: Ceiling,
    pub policy: Policy,
    pub world: World,
}

pub struct World {
    /// What the clock reads.
    pub at: Micros,
    /// Time since boot.
    pub up: Micros,
    /// The most that one pause lasts, as a signal may end it early.
    pub nap: Micros,
    /// Whether the wall clock stands still while time passes.
    pub stuck: bool,
    /// The waits that were asked for.
    pub pauses: Vec<Micros>,
    /// What a tick's random start is drawn from.
    pub dice: u64,
    pub anchor: ClockAnchor,
}

impl Host for World {
    type Interrupt = ();

    fn now(&mut self) -> Micros {
        self.at
    }

    fn up(&mut self) -> Micros {
        self.up
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.anchor
    }

    fn pause(&mut self, span: Micros) -> Result<(), ()> {
        assert!(span > 0, "a pause of nothing is a busy loop");
        assert!(self.pauses.len() < 1_000, "waits for ever");
        self.pauses.push(span);
        let slept = span.min(self.nap);
        self.up += slept;
        self.at += if self.stuck { 0 } else { slept };
        Ok(())
    }

    fn random(&mut self) -> u64 {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.dice >> 20
    }

    fn raise(&mut self, ceiling: &Ceiling, beyond: Micros) -> Result<(), ()> {
        ceiling.raise(beyond + 500 * MS);
        Ok(())
    }
}

impl Script {
    /// A lane for node 0 of a layout, at its epoch.
    pub fn new(layout: &str, policy: Policy) -> Self {
        let layout: Layout = layout.parse().unwrap();
        let world = World {
            at: layout.epoch(),
            up: HOUR,
            nap: Micros::MAX,
            stuck: false,
            pauses: Vec::new(),
            dice: 1,
            anchor: ClockAnchor::new(),
        };
        let lane = Lane::alone(&layout, 0);
        Script {
            layout,
            lane,
            ceiling: Ceiling::unbounded(),
            policy,
            world,
        }
    }

    /// Sets the clock to so long after the layout's epoch.
    pub fn set(&mut self, age: Micros) {
        self.world.at = self.layout.epoch() + age;
    }

    /// Lets time pass: both clocks move.
    pub fn pass(&mut self, span: Micros) {
        self.world.at += span;
        self.world.up += span;
    }

    pub fn run(&mut self, want: u64) -> Result<Run, MintError> {
        mint(
            &self.lane,
            &self.layout,
            want,
            &self.ceiling,
            &self.policy,
            &mut self.world,
        )
        .map_err(|refusal| match refusal {
            Refusal::Refused(error) => error,
            Refusal::Interrupted(()) => unreachable!("nobody interrupts"),
        })
    }

    /// The next id.
    pub fn next(&mut self) -> Result<i64, MintError> {
        self.run(1).map(|run| self.layout.id(0, run.first))
    }

    /// An id at each of these milliseconds after the epoch.
    pub fn schedule(&mut self, clock: &[Micros]) -> Vec<Result<i64, MintError>> {
        clock
            .iter()
            .map(|ms| {
                self.set(ms * MS);
                self.next()
            })
            .collect()
    }
}
