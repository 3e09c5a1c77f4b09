//! One registry and a few members, of the present: all times are from now.

use crate::small::message::Held;
use crate::small::term::{DEAD, FIRST, NO_TERM, Term};
use crate::small::{CLAIMS, MEMBERS, NODES};
use mint_core::registry::ring::{RegistryRun, RingLease, RingMemory, RingState};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tables {
    pub rows: [Term; NODES],
    /// True if the rows are not those that the registry's memory knows.
    pub is_other: bool,
    /// True if the registry's run wrote them.
    pub is_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Memory {
    pub began: i16,
    pub offset: i16,
}

/// A copy of the tables as they were in their run of the registry, and of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Copied {
    pub tables: Tables,
    pub memory: Option<Memory>,
    /// True if the registry is still in that run.
    pub is_run: bool,
    /// True if its rows are not those of the registry's memory and tables now.
    pub differs_from_memory: bool,
    pub differs_from_tables: bool,
    pub age: i16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub node: u8,
    pub lease: Term,
    /// The number with which it asks for a lease, until it is answered.
    pub asks: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct World {
    pub tables: Tables,
    pub memory: Option<Memory>,
    pub copied: Option<Copied>,
    pub copies: u8,
    /// The distance by which the registry's clock is behind since it was reverted with its memory.
    pub lag: i16,
    pub members: [Member; MEMBERS],
    pub held: Option<Held>,
    /// The times of ids that can exist, by node and lease.
    pub claims: [[Term; CLAIMS]; NODES],
    pub faults: u8,
    pub is_overlap: bool,
}

impl Member {
    pub const IDLE: Self = Self {
        node: 0,
        lease: NO_TERM,
        asks: 0,
    };
}

impl World {
    pub fn new() -> Self {
        Self {
            tables: Tables {
                rows: [NO_TERM; NODES],
                is_other: false,
                is_run: false,
            },
            memory: None,
            copied: None,
            copies: 0,
            lag: 0,
            members: [Member::IDLE; MEMBERS],
            held: None,
            claims: [[NO_TERM; CLAIMS]; NODES],
            faults: 0,
            is_overlap: false,
        }
    }

    /// The registry's run; others have other numbers.
    pub fn run(number: i64) -> RegistryRun {
        RegistryRun {
            number,
            system: 1,
            timeline: 1,
            database: 1,
            table: 1,
        }
    }

    pub fn state(&self) -> RingState {
        let rows = self
            .tables
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.exists());
        RingState {
            digest: u64::from(self.tables.is_other),
            run: Some(Self::run(self.tables.is_run.into())),
            rings: BTreeMap::new(),
            rows: rows
                .map(|(node, term)| (FIRST + node as u64, term.lease(node as u8)))
                .collect(),
        }
    }

    pub fn ring_memory(&self) -> Option<RingMemory> {
        self.memory.map(|memory| RingMemory {
            began: memory.began.into(),
            digest: 0,
            offset: memory.offset.into(),
        })
    }

    /// Keeps what the registry has stored. `is_start` and `is_write`: what it did.
    pub fn store(&mut self, state: &RingState, kept: RingMemory, is_start: bool, is_write: bool) {
        self.tables.rows = [NO_TERM; NODES];
        for lease in state.rows.values() {
            let (node, term) = Term::of(lease);
            self.tables.rows[usize::from(node)] = term;
        }
        self.tables.is_run = state.run == Some(Self::run(1));
        self.tables.is_other &= !is_start;
        if let Some(copied) = &mut self.copied {
            if is_start {
                copied.differs_from_memory = copied.differs_from_tables;
            }
            copied.differs_from_memory |= is_write;
            copied.differs_from_tables |= is_write;
        }
        self.memory = Some(Memory {
            began: i16::try_from(kept.began).unwrap(),
            offset: i16::try_from(kept.offset).unwrap(),
        });
    }

    pub fn lease(&self, member: usize) -> RingLease {
        let member = &self.members[member];
        member.lease.lease(member.node)
    }

    /// Returns a number that is new.
    pub fn new_number(&self) -> u8 {
        (1..DEAD).find(|number| !self.is_known(*number)).unwrap()
    }

    fn is_known(&self, number: u8) -> bool {
        let rows = self
            .tables
            .rows
            .iter()
            .chain(self.copied.iter().flat_map(|copied| &copied.tables.rows));
        let mut terms = rows.chain(self.claims.as_flattened());
        terms.any(|term| term.number == number) || self.is_live(number)
    }

    /// Returns whether a member or a message has the number.
    fn is_live(&self, number: u8) -> bool {
        let has = |member: &Member| member.lease.number == number || member.asks == number;
        self.members.iter().any(has) || self.held.is_some_and(|held| held.number() == number)
    }

    /// A member can generate ids of a node and these times.
    pub fn claim(&mut self, node: u8, lease: Term) {
        let claims = &mut self.claims[usize::from(node)];
        let others = claims
            .iter()
            .filter(|other| other.exists() && other.number != lease.number);
        let mut met = others.filter(|other| other.from < lease.until && lease.from < other.until);
        self.is_overlap |= met.next().is_some();
        if let Some(mine) = claims.iter_mut().find(|mine| mine.number == lease.number) {
            mine.until = mine.until.max(lease.until);
        } else {
            *claims
                .iter_mut()
                .find(|none| !none.exists())
                .expect("room for a lease") = lease;
        }
    }

    /// A member ends its lease: it can generate no ids of later times.
    pub fn shorten(&mut self, node: u8, number: u8, used: i16) {
        for mine in self.claims[usize::from(node)]
            .iter_mut()
            .filter(|mine| mine.number == number)
        {
            mine.until = used;
            if mine.until <= mine.from {
                *mine = NO_TERM;
            }
        }
    }

    /// A tick later.
    pub fn tick(mut self) -> Self {
        self.each_time(|time| *time -= 1);
        if let Some(memory) = &mut self.memory {
            memory.began -= 1;
        }
        if let Some(copied) = &mut self.copied {
            copied.age += 1;
            if let Some(memory) = &mut copied.memory {
                memory.began -= 1;
            }
        }
        self
    }

    pub fn each_term(&mut self, mut change: impl FnMut(&mut Term)) {
        let copied = self
            .copied
            .iter_mut()
            .flat_map(|copied| &mut copied.tables.rows);
        let members = self.members.iter_mut().map(|member| &mut member.lease);
        let held = self.held.iter_mut().filter_map(Held::lease);
        let rows = self.tables.rows.iter_mut().chain(copied);
        let terms = rows
            .chain(self.claims.as_flattened_mut())
            .chain(members)
            .chain(held);
        terms.filter(|term| term.exists()).for_each(&mut change);
    }

    fn each_time(&mut self, change: impl Fn(&mut i16)) {
        self.each_term(|term| {
            change(&mut term.from);
            change(&mut term.until);
        });
        match &mut self.held {
            Some(Held::Grant { clock, .. } | Held::Renewal { clock, .. }) => change(clock),
            Some(Held::End { clock, used, .. }) => {
                change(clock);
                change(used);
            }
            _ => {}
        }
    }
}
