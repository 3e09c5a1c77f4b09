//! A server that mints: its wrong clock, its lanes and its lease.

use crate::request::{Answer, Nodes, RegistryLease, Request, RequestError, RequestKind};
use crate::rng::Rng;
use crate::time::{LEASE_LENGTH, MAX_SKEW, SECOND, START};
use mint_core::snowflake::mint::Refusal;
use mint_core::{
    Ceiling, ClockAnchor, Denial, Host, Lane, Layout, Lease, LogPoint, Micros, Page, Policy, Run,
    Wait, mint,
};
use std::collections::HashMap;
use std::convert::Infallible;

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

/// State of a running server, lost when it stops.
#[derive(Default)]
struct Memory {
    lanes: HashMap<(usize, u64), Lane>,
    lease: Lease,
    /// The nodes that the lease is of.
    nodes: Option<Nodes>,
    granted: Option<RegistryLease>,
    seen: Option<LogPoint>,
    anchor: ClockAnchor,
    ceiling: Ceiling,
}

pub struct Member {
    /// The nodes it is configured to ask for.
    pub setting: RequestKind,
    /// The number of its starts. Events of an earlier life are dropped.
    pub life: u32,
    pub alive: bool,
    pub paused_until: Micros,
    pub cut_off_until: Micros,
    /// The error of its clock at the start of the simulation.
    pub clock_error: Micros,
    /// The growth of the clock's error, in millionths.
    pub drift: Micros,
    /// The number of the request whose answer is awaited.
    pub waits_for: Option<u64>,
    pub asked: u64,
    pub minted_at: Micros,
    /// Since when it has had no fault of its own.
    pub well_since: Micros,
    /// The length of leases, by the last answer.
    pub length: Micros,
    disk: Disk,
    memory: Memory,
}

impl Member {
    pub fn new(setting: RequestKind, clock_error: Micros, drift: Micros) -> Self {
        let mut member = Member {
            setting,
            life: 0,
            alive: false,
            paused_until: Micros::MIN,
            cut_off_until: Micros::MIN,
            clock_error,
            drift,
            waits_for: None,
            asked: 0,
            minted_at: Micros::MIN,
            well_since: START,
            length: LEASE_LENGTH,
            disk: Disk(1),
            memory: Memory::default(),
        };
        member.start();
        member
    }

    /// Returns a server that starts from a copy of this one's disk, without its leases.
    pub fn cloned(&self, clock_error: Micros) -> Self {
        let mut clone = Member::new(self.setting.clone(), clock_error, self.drift);
        clone.disk = Disk(self.disk.0);
        clone.start();
        clone
    }

    /// Starts the server, as after a crash: the disk is kept.
    pub fn start(&mut self) {
        self.life += 1;
        self.alive = true;
        self.waits_for = None;
        self.memory = Memory::default();
        self.memory.ceiling.attach(self.disk.0);
    }

    /// Starts the server from a backup.
    pub fn restore(&mut self, ago: Micros) {
        self.disk.0 = (self.disk.0 - ago).max(1);
        self.start();
    }

    pub fn clock(&self, now: Micros) -> Micros {
        now + self.clock_error + self.drift * (now - START) / 1_000_000
    }

    /// Returns its next request.
    pub fn request(&self, now: Micros) -> Request {
        let kind = match &self.memory.granted {
            Some(granted) => RequestKind::Renew(granted.clone()),
            None => self.setting.clone(),
        };
        Request {
            kind,
            clock: self.clock(now),
            seen: self.memory.seen,
        }
    }

    /// Takes an answer of the registry. Returns true if it grants a lease.
    pub fn receive(&mut self, answer: Answer) -> bool {
        let memory = &mut self.memory;
        self.length = answer.length;
        // Real members take no lease from a registry that contradicts itself, which this one never does.
        if let Some((now, before)) = answer.seen.zip(memory.seen) {
            assert!(now.may_follow(before), "{before:?}, then {now:?}");
        }
        // A registry whose clock does not agree has not looked at its own state.
        memory.seen = answer.seen.or(memory.seen);
        match answer.lease {
            Ok(lease) => {
                if memory.nodes.as_ref() != Some(&lease.nodes) {
                    memory.lease = Lease::default();
                    memory.nodes = Some(lease.nodes.clone());
                }
                memory.lease.extend(lease.term.from, lease.term.until);
                memory.granted = Some(lease);
                true
            }
            Err(error) => {
                // Another member may have its nodes by now.
                if matches!(
                    error,
                    RequestError::Denied(Denial::Lost | Denial::Leased { .. })
                ) {
                    memory.granted = None;
                }
                false
            }
        }
    }

    /// Whether its clock is not so wrong that the registry refuses it.
    pub fn is_exact(&self, now: Micros) -> bool {
        (self.clock(now) - now).abs() < MAX_SKEW / 2
    }

    /// Returns when its lease ended, or `now` while it lasts; when it was started, if it had none since.
    pub fn last_held(&self, now: Micros) -> Micros {
        now.min(self.memory.lease.until())
    }

    /// Releases its lease, as a planned shutdown does.
    pub fn release(&mut self, now: Micros) -> Option<Request> {
        let memory = &mut self.memory;
        let mut granted = memory.granted.take()?;
        let lanes = memory
            .lanes
            .iter()
            .filter(|((_, node), _)| granted.nodes.contains(node));
        granted.term.until = memory.lease.release(lanes.map(|(_, lane)| lane));
        let mut request = self.request(now);
        request.kind = RequestKind::Release(granted);
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
    /// A call that would have to wait.
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

    fn pause(&mut self, _: Wait) -> Result<(), ()> {
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

    fn renew(&mut self, _is_first: bool) -> Result<(), ()> {
        Err(())
    }
}
