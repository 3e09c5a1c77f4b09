//! A host with a scripted clock.
#![allow(dead_code, reason = "not every test file needs all of it")]

use mint_core::snowflake::mint::Refusal;
use mint_core::{
    Ceiling, ClockAnchor, Host, Lane, Layout, Lease, Micros, MintError, Page, Policy, Run, Wait,
    mint,
};
use std::collections::VecDeque;
use std::convert::Infallible;

pub const MS: Micros = 1_000;
pub const SECOND: Micros = 1_000 * MS;
pub const HOUR: Micros = 3_600 * SECOND;

/// Twitter's strictness: never ahead of the clock, no wait for a clock that stepped back.
pub const STRICT: Policy = Policy {
    max_ahead: 0,
    max_wait: 0,
    max_jump: HOUR,
    window: 500 * MS,
};
/// The settings that a server starts with.
pub const DEFAULTS: Policy = Policy {
    max_ahead: 2 * SECOND,
    max_wait: 5 * SECOND,
    max_jump: HOUR,
    window: 500 * MS,
};

/// One lane and its host. Tests set `at` and read `pauses`.
pub struct Script {
    pub layout: Layout,
    pub lane: Lane,
    pub policy: Policy,
    pub world: World,
}

pub struct World {
    /// The wall clock's reading.
    pub at: Micros,
    /// Time since boot.
    pub up: Micros,
    /// The most that one pause lasts, as a signal can end it early.
    pub nap: Micros,
    /// True when the wall clock stands still while time passes.
    pub stuck: bool,
    /// The waits that were asked for.
    pub pauses: Vec<Micros>,
    /// The number of waits and renewals that were the first of their call.
    pub waiting_calls: usize,
    /// The state of the random number generator.
    pub rng: u64,
    pub anchor: ClockAnchor,
    pub ceiling: Ceiling,
    pub page: Paper,
    pub window: Micros,
    /// The distances by which the clock was found behind, in turn.
    pub steps: Vec<Micros>,
    pub lease: Option<Lease>,
    /// The registry's answers to renewals, in turn; none when it does not answer.
    pub grants: VecDeque<Option<(Micros, Micros)>>,
    /// The number of renewals.
    pub renewals: usize,
    /// The time that a renewal takes.
    pub renewing: Micros,
}

/// A page, and its value on disk.
#[derive(Default)]
pub struct Paper {
    pub value: Micros,
    pub durable: Micros,
    pub writes: usize,
    pub flushes: usize,
    /// The value that other processes know.
    pub covered: Micros,
    /// The values before and after each time the page was set back.
    pub set_back: Vec<(Micros, Micros)>,
}

impl Page for Paper {
    type Position = Micros;
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, Micros), Infallible> {
        if let Some(value) = decide(self.value) {
            self.value = value;
            self.writes += 1;
        }
        Ok((self.value, self.value))
    }

    fn flush(&mut self, position: Micros) -> Result<(), Infallible> {
        if position > self.durable {
            self.durable = position;
            self.flushes += 1;
        }
        Ok(())
    }

    fn cover(&mut self, value: Micros) -> Result<(), Infallible> {
        assert!(value <= self.durable, "{value} is not on disk");
        self.covered = value;
        Ok(())
    }

    fn set_back(&mut self, from: Micros, to: Micros) {
        self.set_back.push((from, to));
    }
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

    fn pause(&mut self, Wait { span, is_first, .. }: Wait) -> Result<(), ()> {
        self.waiting_calls += usize::from(is_first);
        assert!(span > 0, "a pause of nothing is a busy loop");
        assert!(self.pauses.len() < 1_000, "waits for ever");
        self.pauses.push(span);
        let slept = span.min(self.nap);
        self.up += slept;
        self.at += if self.stuck { 0 } else { slept };
        Ok(())
    }

    fn random(&mut self) -> u64 {
        self.rng = self
            .rng
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.rng >> 20
    }

    fn stepped_back(&mut self, behind: Micros) {
        self.steps.push(behind);
    }

    fn ceiling(&self) -> &Ceiling {
        &self.ceiling
    }

    fn raise(&mut self, beyond: Micros) -> Result<(), ()> {
        let Ok(()) = self.ceiling.raise(beyond, self.window, &mut self.page);
        Ok(())
    }

    fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    fn renew(&mut self, is_first: bool) -> Result<(), ()> {
        self.waiting_calls += usize::from(is_first);
        assert!(self.renewals < 1_000, "asks for ever");
        self.renewals += 1;
        self.up += self.renewing;
        self.at += if self.stuck { 0 } else { self.renewing };
        if let (Some(lease), Some(Some((from, until)))) = (&self.lease, self.grants.pop_front()) {
            lease.extend(from, until);
        }
        Ok(())
    }
}

impl Script {
    /// Returns a lane for node 0 of a layout, at its epoch.
    pub fn new(layout: &str, policy: Policy) -> Self {
        let layout: Layout = layout.parse().unwrap();
        let world = World {
            at: layout.epoch(),
            up: HOUR,
            nap: Micros::MAX,
            stuck: false,
            pauses: Vec::new(),
            waiting_calls: 0,
            rng: 1,
            anchor: ClockAnchor::new(),
            ceiling: Ceiling::unbounded(),
            page: Paper::default(),
            window: policy.window,
            steps: Vec::new(),
            lease: None,
            grants: VecDeque::new(),
            renewals: 0,
            renewing: 100 * MS,
        };
        let lane = Lane::outside_table(&layout, 0);
        Script {
            layout,
            lane,
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

    /// Starts the server with this value on its page.
    pub fn start_at(&mut self, value: Micros) {
        self.world.page = Paper {
            value,
            durable: value,
            ..Paper::default()
        };
        self.world.ceiling = Ceiling::default();
        self.world.ceiling.attach(value);
    }

    /// Extends the lease, by times after the layout's epoch.
    pub fn lend(&mut self, from: Micros, until: Micros) {
        let epoch = self.layout.epoch();
        let lease = self.world.lease.get_or_insert_default();
        lease.extend(epoch + from, epoch + until);
    }

    /// Restarts after a crash: lanes and anchor are new, and the page has kept `value`.
    pub fn restart(&mut self, value: Micros) {
        self.lane = Lane::outside_table(&self.layout, 0);
        self.world.anchor = ClockAnchor::new();
        self.start_at(value);
    }

    pub fn run(&mut self, want: u64) -> Result<Run, MintError> {
        mint(
            &self.lane, &self.layout, want, &self.policy, &mut self.world,
        )
        .map_err(|refusal| match refusal {
            Refusal::Refused(error) => error,
            Refusal::Interrupted(()) => unreachable!("nothing interrupts"),
        })
    }

    /// Mints the next id.
    pub fn next(&mut self) -> Result<i64, MintError> {
        self.run(1).map(|run| self.layout.id(0, run.first))
    }

    /// Mints an id at each of these milliseconds after the epoch.
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
