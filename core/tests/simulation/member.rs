//! A server that mints: its wrong clock, its lanes, and what it was lent.

use crate::central::{Answer, Grant, No, Nodes, Request, Wish};
use crate::rng::Rng;
use crate::world::DAWN;
use mint_core::snowflake::mint::Refusal;
use mint_core::{
    Ceiling, ClockAnchor, Denial, Host, Lane, Layout, Lease, LogPoint, Micros, Page, Policy, Run,
    mint,
};
use std::collections::HashMap;
use std::convert::Infallible;

const SECOND: Micros = 1_000_000;

/// The settings that a server starts with, but without waiting.
const POLICY: Policy = Policy {
    max_ahead: 2 * SECOND,
    max_wait: 0,
    max_jump: 3_600 * SECOND,
    window: SECOND / 2,
};

/// The ceiling's page.
struct Disk(Micros);

impl Page for Disk {
    type Position = ();
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, ()), Infallible> {
        self.0 = decide(self.0).unwrap_or(self.0);
        Ok((self.0, ()))
    }

    fn flush(&mut self, (): ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_back(&mut self, _: Micros, _: Micros) {}
}

/// What a start of the server begins with, and its end loses.
#[derive(Default)]
struct Memory {
    lanes: HashMap<(usize, u64), Lane>,
    lease: Lease,
    /// What the lease is of.
    nodes: Option<Nodes>,
    granted: Option<Grant>,
    seen: Option<LogPoint>,
    anchor: ClockAnchor,
    ceiling: Ceiling,
}

pub struct Member {
    pub wish: Wish,
    /// Counts its starts: what was meant for an earlier one does not arrive.
    pub life: u32,
    pub alive: bool,
    pub paused_until: Micros,
    pub cut_until: Micros,
    /// How wrong its clock is, and by how much more each second, in millionths.
    pub off: Micros,
    pub drift: Micros,
    /// The request that it waits for.
    pub waits_for: Option<u64>,
    pub asked: u64,
    pub minted_at: Micros,
    disk: Disk,
    memory: Memory,
}

impl Member {
    pub fn new(wish: Wish, off: Micros, drift: Micros) -> Self {
        let mut member = Member {
            wish,
            life: 0,
            alive: false,
            paused_until: Micros::MIN,
            cut_until: Micros::MIN,
            off,
            drift,
            waits_for: None,
            asked: 0,
            minted_at: Micros::MIN,
            disk: Disk(1),
            memory: Memory::default(),
        };
        member.start();
        member
    }

    /// Its disk started as another server, which knows nothing of the leases of this one.
    pub fn cloned(&self, off: Micros) -> Self {
        let mut clone = Member::new(self.wish.clone(), off, self.drift);
        clone.disk = Disk(self.disk.0);
        clone.start();
        clone
    }

    /// As after a crash: the disk is kept.
    pub fn start(&mut self) {
        self.life += 1;
        self.alive = true;
        self.waits_for = None;
        self.memory = Memory::default();
        self.memory.ceiling.attach(self.disk.0);
    }

    /// As from a backup.
    pub fn restore(&mut self, ago: Micros) {
        self.disk.0 = (self.disk.0 - ago).max(1);
        self.start();
    }

    pub fn clock(&self, now: Micros) -> Micros {
        now + self.off + self.drift * (now - DAWN) / 1_000_000
    }

    /// What it asks the registry for next.
    pub fn request(&self, now: Micros) -> Request {
        let wish = match &self.memory.granted {
            Some(granted) => Wish::Renew(granted.clone()),
            None => self.wish.clone(),
        };
        Request {
            wish,
            clock: self.clock(now),
            seen: self.memory.seen,
        }
    }

    /// Returns true when it was granted something.
    pub fn hear(&mut self, answer: Answer) -> bool {
        let memory = &mut self.memory;
        memory.seen = Some(answer.seen);
        match answer.grant {
            Ok(grant) => {
                if memory.nodes.as_ref() != Some(&grant.nodes) {
                    memory.lease = Lease::default();
                    memory.nodes = Some(grant.nodes.clone());
                }
                memory.lease.extend(grant.span.from, grant.span.until);
                memory.granted = Some(grant);
                true
            }
            Err(no) => {
                if matches!(no, No::Denied(Denial::Lost)) {
                    memory.granted = None;
                }
                false
            }
        }
    }

    /// Releases its lease, as a planned shutdown does.
    pub fn release(&mut self, now: Micros) -> Option<Request> {
        let memory = &mut self.memory;
        let mut granted = memory.granted.take()?;
        let lanes = memory
            .lanes
            .iter()
            .filter(|((_, node), _)| granted.nodes.contains(node));
        granted.span.until = memory.lease.release(lanes.map(|(_, lane)| lane));
        let mut request = self.request(now);
        request.wish = Wish::Release(granted);
        Some(request)
    }

    /// Mints up to `want` ids of one of its nodes.
    pub fn mint(
        &mut self,
        now: Micros,
        up: Micros,
        rng: &mut Rng,
        (place, layout): (usize, &Layout),
        want: u64,
    ) -> Option<(u64, Run)> {
        let nodes = self.memory.nodes.clone()?;
        let node = nodes.start() + rng.below(nodes.end() - nodes.start() + 1);
        let key = (place, node);
        let lane = self.memory.lanes.remove(&key);
        let lane = lane.unwrap_or_else(|| Lane::alone(layout, node));
        let clock = self.clock(now);
        let mut session = Session {
            clock,
            up,
            memory: &self.memory,
            disk: &mut self.disk,
        };
        let minted = mint(&lane, layout, want, &POLICY, &mut session);
        self.memory.lanes.insert(key, lane);
        match minted {
            Ok(run) => {
                self.minted_at = now;
                Some((node, run))
            }
            Err(Refusal::Refused(_) | Refusal::Interrupted(())) => None,
        }
    }
}

struct Session<'m> {
    clock: Micros,
    up: Micros,
    memory: &'m Memory,
    disk: &'m mut Disk,
}

impl Host for Session<'_> {
    /// Would have to wait.
    type Interrupt = ();

    fn now(&mut self) -> Micros {
        self.clock
    }

    fn up(&mut self) -> Micros {
        self.up
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.memory.anchor
    }

    fn pause(&mut self, _: Micros) -> Result<(), ()> {
        Err(())
    }

    fn stepped_back(&mut self, _: Micros) {}

    fn random(&mut self) -> u64 {
        0
    }

    fn ceiling(&self) -> &Ceiling {
        &self.memory.ceiling
    }

    fn raise(&mut self, beyond: Micros) -> Result<(), ()> {
        let Ok(()) = self.memory.ceiling.raise(beyond, POLICY.window, self.disk);
        Ok(())
    }

    fn lease(&self) -> Option<&Lease> {
        Some(&self.memory.lease)
    }

    fn renew(&mut self) -> Result<(), ()> {
        Err(())
    }
}
