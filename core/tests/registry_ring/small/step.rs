//! The next steps that are possible in a small world.

use crate::small::message::Held;
use crate::small::term::Term;
use crate::small::world::{Copied, Member, Memory, World};
use crate::small::{Small, WIDTH, Without};
use mint_core::registry::ring::{Refusal, RingClocks, RingDemand, RingLease, RingRequest};
use std::fmt::Arguments;

/// A step, in words.
pub type Step = (String, World);

/// The world after a request, and the registry's answer.
type Answer = (World, Result<RingLease, Refusal>);

impl World {
    /// All worlds that can follow.
    pub fn next(&self, small: &Small) -> Vec<Step> {
        let mut steps = vec![(small.says(format_args!("a tick")), self.tick())];
        for member in 0..small.members {
            for registry in &small.clocks {
                self.request(small, member, *registry, &mut steps);
                self.release(small, member, *registry, &mut steps);
            }
            if self.members[member] != Member::IDLE {
                let mut world = *self;
                world.members[member] = Member::IDLE;
                steps.push((small.says(format_args!("member {member} crashes")), world));
            }
        }
        if let Some(held) = self.held {
            self.deliver(small, held, &mut steps);
        }
        self.fail_registry(small, &mut steps);
        steps
    }

    fn can_fail(&self, small: &Small) -> bool {
        self.faults < small.faults
    }

    fn fail(mut self) -> Self {
        self.faults += 1;
        self
    }

    fn with(mut self, held: Held) -> Self {
        self.held = Some(held);
        self
    }

    /// A member asks for a lease, or to renew the one that it has.
    fn request(&self, small: &Small, member: usize, registry: i64, steps: &mut Vec<Step>) {
        let mut world = *self;
        let mine = world.members[member];
        let demand = if mine.lease.exists() {
            RingDemand::Renewal(world.lease(member))
        } else {
            let number = if mine.asks == 0 {
                world.new_number()
            } else {
                mine.asks
            };
            world.members[member].asks = number;
            RingDemand::Grant(number.into())
        };
        let can_lose = world.can_fail(small) && small.losses;
        let can_hold = world.can_fail(small) && small.delays && world.held.is_none();
        let sent = Held::request(demand, small.sent(registry));
        let says = |what: Arguments<'_>| {
            small.says(format_args!(
                "member {member}, registry at {registry}: {what}"
            ))
        };
        if can_hold {
            steps.push((
                says(format_args!("its request is late")),
                world.fail().with(sent),
            ));
        }
        for (world, answer) in world.answers(small, demand, registry, registry) {
            let heard = world.hear(demand, &answer);
            if can_lose {
                steps.push((says(format_args!("its answer is lost")), world.fail()));
            }
            if can_hold {
                let late = Held::answer(demand, &answer);
                steps.extend(late.map(|late| {
                    (
                        says(format_args!("its answer is late")),
                        world.fail().with(late),
                    )
                }));
                steps.push((
                    says(format_args!("its request is doubled")),
                    heard.fail().with(sent),
                ));
            }
            steps.push((says(format_args!("{answer:?}")), heard));
        }
    }

    /// A member gives its lease back, and says when its last id was.
    fn release(&self, small: &Small, member: usize, registry: i64, steps: &mut Vec<Step>) {
        let Member { node, lease, .. } = self.members[member];
        if !lease.exists() {
            return;
        }
        let last = i16::try_from(registry + 1)
            .unwrap()
            .clamp(lease.from, lease.until);
        let mut all = vec![lease.from, last];
        all.dedup();
        for used in all {
            let mut world = *self;
            world.members[member] = Member::IDLE;
            world.shorten(node, lease.number, used);
            let demand = RingDemand::End {
                lease: self.lease(member),
                used: used.into(),
            };
            let says = |what: Arguments<'_>| {
                small.says(format_args!(
                    "member {member}, registry at {registry}: {what}"
                ))
            };
            if world.can_fail(small) && small.losses {
                steps.push((says(format_args!("its release is lost")), world.fail()));
            }
            if world.can_fail(small) && small.delays && world.held.is_none() {
                let sent = Held::request(demand, small.sent(registry));
                steps.push((
                    says(format_args!("its release is late")),
                    world.fail().with(sent),
                ));
            }
            for (world, answer) in world.answers(small, demand, registry, registry) {
                steps.push((
                    says(format_args!("it releases, used until {used}: {answer:?}")),
                    world,
                ));
            }
        }
    }

    /// A message that was late arrives, or does not.
    fn deliver(&self, small: &Small, held: Held, steps: &mut Vec<Step>) {
        let mut world = *self;
        world.held = None;
        steps.push((small.says(format_args!("the late message is lost")), world));
        let Some((demand, sent)) = held.demand() else {
            let (demand, answer) = held.demand_and_answer();
            steps.push((
                small.says(format_args!("the late answer arrives")),
                world.hear(demand, &answer),
            ));
            return;
        };
        for registry in small.clocks.iter().copied() {
            for (world, answer) in world.answers(small, demand, sent, registry) {
                let heard = world.hear(demand, &answer);
                steps.push((
                    small.says(format_args!(
                        "the late request arrives at {registry}: {answer:?}"
                    )),
                    heard,
                ));
                if world.can_fail(small) {
                    let again = heard.fail().with(held);
                    steps.push((
                        small.says(format_args!(
                            "the late request arrives twice at {registry}: {answer:?}"
                        )),
                        again,
                    ));
                }
            }
        }
    }

    /// Adds the faults of the registry.
    fn fail_registry(&self, small: &Small, steps: &mut Vec<Step>) {
        let mut says =
            |words: &str, world| steps.push((small.says(format_args!("{words}")), world));
        if self.copies < small.copies && (small.restores || small.reverts) {
            says("the tables are copied", self.copied());
        }
        if self.lag != 0 {
            says(
                "the registry's clock is corrected",
                Self { lag: 0, ..*self },
            );
        }
        if !self.can_fail(small) {
            return;
        }
        if small.restarts {
            says("the registry restarts", self.fail().restarted(small));
        }
        let Some(copied) = self.copied else { return };
        if small.restores {
            let restored = self.fail().restored(small, copied);
            says("the tables are restored", restored);
            says("the registry is restored", restored.restarted(small));
        }
        // Reverted for so short a time that the clocks can agree, it is not noticed.
        if small.reverts && i64::from(copied.age) > 3 * small.rules.skew {
            says(
                "the registry is reverted with its memory",
                self.fail().reverted(copied),
            );
        }
    }

    fn copied(mut self) -> Self {
        self.copies += 1;
        self.copied = Some(Copied {
            tables: self.tables,
            memory: self.memory,
            is_run: true,
            differs_from_memory: self.tables.is_other,
            differs_from_tables: false,
            age: 0,
        });
        self
    }

    fn restored(mut self, small: &Small, copied: Copied) -> Self {
        self.tables = copied.tables;
        self.tables.is_run &= copied.is_run;
        self.tables.is_other = copied.differs_from_memory && small.without != Without::DigestCheck;
        self.copied = Some(Copied {
            differs_from_tables: false,
            ..copied
        });
        self
    }

    fn reverted(mut self, copied: Copied) -> Self {
        self.tables = copied.tables;
        self.lag = copied.age;
        // It has none of the connections by which they came.
        self.held = self.held.filter(|held| held.demand().is_none());
        self.memory = copied.memory;
        if let Some(memory) = &mut self.memory {
            // Measured from the clock since boot, which is behind, too, and stays so.
            memory.offset -= copied.age;
            memory.began += copied.age;
        }
        self.copied = Some(Copied {
            memory: self.memory,
            is_run: true,
            differs_from_memory: copied.tables.is_other,
            differs_from_tables: false,
            ..copied
        });
        self
    }

    /// The registry's server is another run.
    fn restarted(mut self, small: &Small) -> Self {
        self.memory = None;
        self.lag = 0;
        self.tables.is_run = false;
        if small.without == Without::RunCheck {
            self.memory = Some(Memory {
                began: -100,
                offset: 0,
            });
            self.tables.is_run = true;
            self.tables.is_other = false;
        }
        if let Some(copied) = &mut self.copied {
            copied.is_run = false;
        }
        self
    }

    /// A member hears an answer, if it still waits for it.
    fn hear(mut self, demand: RingDemand, answer: &Result<RingLease, Refusal>) -> Self {
        match (demand, answer) {
            (RingDemand::Grant(number), Ok(lease)) => {
                let (node, lease) = Term::of(lease);
                let is_asked = |member: &&mut Member| i64::from(member.asks) == number;
                if let Some(member) = self.members.iter_mut().find(is_asked) {
                    *member = Member {
                        node,
                        lease,
                        asks: 0,
                    };
                    self.claim(node, lease);
                }
            }
            (RingDemand::Renewal(told), answer) => {
                let (node, told) = Term::of(&told);
                let is_held = |member: &&mut Member| {
                    member.lease.exists() && member.lease.number == told.number
                };
                let Some(member) = self.members.iter_mut().find(is_held) else {
                    return self;
                };
                match answer {
                    Ok(lease) => {
                        let (_, lease) = Term::of(lease);
                        member.lease.until = member.lease.until.max(lease.until);
                        let lease = member.lease;
                        self.claim(node, lease);
                    }
                    Err(Refusal::Clock { .. }) => {}
                    Err(_) => *member = Member::IDLE,
                }
            }
            _ => {}
        }
        self
    }

    /// The registry answers, in each of the ways that its random number allows.
    fn answers(&self, small: &Small, demand: RingDemand, clock: i64, registry: i64) -> Vec<Answer> {
        let rules = &small.rules;
        let wall = registry - i64::from(self.lag);
        let clocks = RingClocks { wall, boot: 0 };
        let clock = if small.without == Without::ClockCheck {
            wall
        } else {
            clock
        };
        let mut memory = self.ring_memory();
        if small.without == Without::OffsetCheck
            && let Some(kept) = &mut memory
        {
            kept.offset = wall;
        }
        let run = Self::run(1);
        let mut state = self.state();
        let digest = state.digest;
        state.digest = 0;
        let request = RingRequest {
            width: WIDTH,
            clock,
            demand: small.damaged(demand, wall),
        };
        let is_plain = rules.is_plain_renewal(&state, memory, run, &request, clocks);
        if !is_plain {
            state.digest = digest;
        }
        let is_start = rules.is_start(&state, memory, run, clocks);
        small.damage_before(&mut state, demand, wall);
        let places = if matches!(demand, RingDemand::Grant(_)) {
            small.nodes as u64
        } else {
            1
        };
        let mut answers: Vec<Answer> = Vec::new();
        for random in 0..places {
            let (mut state, mut memory) = (state.clone(), memory);
            let before = state.digest;
            let answer = rules.answer(&mut state, &mut memory, run, &request, clocks, random);
            let Some(kept) = memory.filter(|_| !matches!(answer, Err(Refusal::Clock { .. })))
            else {
                return vec![(*self, answer)];
            };
            let is_other = self.tables.is_other && !is_plain && !is_start;
            assert_eq!(state.digest != kept.digest, is_other);
            small.damage_after(&mut state, demand, &answer, wall);
            let counts = !(is_plain && small.without == Without::PlainDigest);
            let mut world = *self;
            world.store(&state, kept, is_start, state.digest != before && counts);
            if !answers.iter().any(|(other, _)| *other == world) {
                answers.push((world, answer));
            }
        }
        answers
    }
}
