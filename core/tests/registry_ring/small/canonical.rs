//! The same world without what can never matter again, and by the least of all names.

use crate::small::message::Held;
use crate::small::term::{DEAD, NO_TERM, Term};
use crate::small::world::World;
use crate::small::{CLAIMS, NODES, Small, Without};

impl World {
    pub fn canonical(mut self, small: &Small) -> Self {
        let low = i16::try_from(small.earliest_clock()).unwrap();
        self.forget_leases(small, low);
        self.forget_times(small, low);
        self.forget_numbers();
        self.join_claims();
        self.sort_nodes(small.nodes);
        self.members[..small.members].sort_unstable_by_key(|member| {
            (member.node, shape(member.lease), member.asks != 0, *member)
        });
        self.name_numbers();
        self
    }

    /// Forgets leases that have ended by all clocks, from `low` on.
    fn forget_leases(&mut self, small: &Small, low: i16) {
        // Without that rule, a lease that is over can come back for as long again.
        let over = if small.without == Without::Revival {
            low - 6
        } else {
            low
        };
        for member in self
            .members
            .iter_mut()
            .filter(|member| member.lease.until <= over)
        {
            (member.node, member.lease) = (0, NO_TERM);
        }
        let skew = i16::try_from(small.rules.skew).unwrap();
        let is_past = |held: &Held| match held {
            Held::Grant { clock, .. } | Held::Renewal { clock, .. } | Held::End { clock, .. } => {
                *clock < low - skew
            }
            Held::Granted { lease, .. } | Held::Renewed { lease, .. } => lease.until <= low,
            Held::Dropped { .. } => false,
        };
        self.held = self
            .held
            .filter(|held| !is_past(held) && self.is_heard(*held));
        let forgotten = low - 2 * skew;
        let copied = self
            .copied
            .iter_mut()
            .flat_map(|copied| &mut copied.tables.rows);
        for row in self.tables.rows.iter_mut().chain(copied) {
            if row.until < forgotten {
                *row = NO_TERM;
            }
        }
    }

    /// Forgets times, and of how long ago those are that do not matter.
    fn forget_times(&mut self, small: &Small, low: i16) {
        // Nobody generates ids of earlier times any more, whatever a message says that is late.
        for claim in self.claims.as_flattened_mut() {
            if claim.until <= low {
                *claim = NO_TERM;
            }
        }
        self.each_term(|term| term.from = term.from.max(low).min(term.until));
        let skew = i16::try_from(small.rules.skew).unwrap();
        let wait = i16::try_from(small.rules.wait).unwrap();
        let longest = 3 * skew + 2 + wait;
        if let Some(memory) = &mut self.memory {
            memory.began = memory.began.max(-wait + low);
        }
        if let Some(copied) = &mut self.copied {
            copied.age = copied.age.min(longest);
            if !small.reverts {
                (copied.age, copied.memory) = (0, None);
            }
            if let Some(memory) = &mut copied.memory {
                memory.began = memory.began.max(-wait - longest);
            }
        }
    }

    /// Returns whether anybody waits for the message.
    fn is_heard(&self, held: Held) -> bool {
        let number = held.number();
        match held {
            Held::Granted { .. } => self.members.iter().any(|member| member.asks == number),
            Held::Renewed { .. } | Held::Dropped { .. } => self
                .members
                .iter()
                .any(|member| member.lease.number == number),
            _ => true,
        }
    }

    /// Forgets which lease it was, of those that no member has and no message tells of.
    fn forget_numbers(&mut self) {
        let held = self.held.map_or(0, Held::number);
        let mut known = [false; 256];
        let copied = self.copied.iter().flat_map(|copied| &copied.tables.rows);
        for row in self.tables.rows.iter().chain(copied) {
            known[usize::from(row.number)] = true;
        }
        known[usize::from(held)] = true;
        let mut is_live = [false; 256];
        is_live[usize::from(held)] = true;
        for member in &mut self.members {
            if !known[usize::from(member.asks)] {
                member.asks = 0;
            }
            is_live[usize::from(member.asks)] = true;
            is_live[usize::from(member.lease.number)] = true;
        }
        self.each_term(|term| {
            if !is_live[usize::from(term.number)] {
                term.number = DEAD;
            }
        });
        let copied = self
            .copied
            .iter_mut()
            .flat_map(|copied| &mut copied.tables.rows);
        for row in self
            .tables
            .rows
            .iter_mut()
            .chain(copied)
            .filter(|row| row.number == DEAD)
        {
            row.from = row.until;
        }
    }

    /// Joins the times of leases that are no more.
    fn join_claims(&mut self) {
        for claims in &mut self.claims {
            claims.sort_unstable_by_key(|claim| {
                (
                    claim.number != DEAD,
                    !claim.exists(),
                    claim.from,
                    claim.until,
                )
            });
            let mut last = 0;
            for index in 1..CLAIMS {
                let claim = claims[index];
                if claim.number != DEAD {
                    break;
                }
                if claim.from <= claims[last].until {
                    claims[last].until = claims[last].until.max(claim.until);
                    claims[index] = NO_TERM;
                } else {
                    last = index;
                }
            }
            claims.sort_unstable_by_key(|claim| {
                (!claim.exists(), claim.from, claim.until, claim.number)
            });
        }
    }

    /// Sorts nodes, which differ in nothing but their names: where the ring is, is any place in the search.
    fn sort_nodes(&mut self, nodes: usize) {
        let before = *self;
        let held = before.held.and_then(|mut held| held.node().copied());
        let key = |node: &usize| {
            let copied = before
                .copied
                .map_or(NO_TERM, |copied| copied.tables.rows[*node]);
            let is_here = |at: u8| usize::from(at) == *node;
            let mut leases = before.members.map(|member| match is_here(member.node) {
                true => shape(member.lease),
                false => shape(NO_TERM),
            });
            leases.sort_unstable();
            let claims = before.claims[*node].map(shape);
            (
                shape(before.tables.rows[*node]),
                shape(copied),
                claims,
                leases,
                held.is_some_and(is_here),
            )
        };
        let mut order: Vec<usize> = (0..nodes).collect();
        order.sort_by_cached_key(key);
        let mut names = [0; NODES];
        for (new, old) in order.into_iter().enumerate() {
            names[old] = new as u8;
            self.tables.rows[new] = before.tables.rows[old];
            self.claims[new] = before.claims[old];
            if let (Some(copied), Some(before)) = (&mut self.copied, before.copied) {
                copied.tables.rows[new] = before.tables.rows[old];
            }
        }
        let held = self.held.as_mut().and_then(Held::node);
        let members = self
            .members
            .iter_mut()
            .filter(|member| member.lease.exists());
        members
            .map(|member| &mut member.node)
            .chain(held)
            .for_each(|node| *node = names[usize::from(*node)]);
    }

    fn name_numbers(&mut self) {
        let mut names = [0_u8; 256];
        let mut count = 0;
        let mut name = |number: &mut u8| {
            if *number != 0 && *number != DEAD {
                let name = &mut names[usize::from(*number)];
                if *name == 0 {
                    count += 1;
                    *name = count;
                }
                *number = *name;
            }
        };
        self.members
            .iter_mut()
            .for_each(|member| name(&mut member.asks));
        if let Some(Held::Grant { number, .. } | Held::Dropped { number }) = &mut self.held {
            name(number);
        }
        self.each_term(|term| name(&mut term.number));
    }
}

/// Returns the properties of a lease that do not depend on its name.
fn shape(term: Term) -> (i16, i16, u8) {
    let kind = match term.number {
        DEAD => 2,
        number => u8::from(number != 0),
    };
    (term.from, term.until, kind)
}
