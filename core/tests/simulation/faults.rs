//! Faults of the registry and of members.

use crate::central::BLOWS;
use crate::queue::Event;
use crate::world::{MAX_SKEW, MS, SECOND, Sim, Weather};
use std::cmp::Reverse;

impl Sim {
    pub fn strike(&mut self) {
        if self.bag.is_empty() {
            self.bag = BLOWS.into();
        }
        let blow = self.rng.below(self.bag.len() as u64) as usize;
        let blow = self.bag.swap_remove(blow);
        *self.statistics.blows.entry(blow).or_default() += 1;
        let down = self.rng.pick(&[50 * MS, 3 * SECOND, 15 * SECOND]);
        let back = self.now + self.rng.between(0..down);
        let off = self.rng.between(-MAX_SKEW / 2..MAX_SKEW / 2);
        self.central.strike(blow, self.now, back, off);
        self.plan(3 * SECOND..50 * SECOND, 0, Event::Strike);
    }

    /// Lets a fault happen to a member.
    pub fn fault(&mut self, index: usize) {
        self.plan(5 * SECOND..180 * SECOND, index, Event::Fault);
        let now = self.now;
        let room = self.members.len() < self.servers;
        let member = &mut self.members[index];
        if !member.alive || member.paused_until > now {
            return;
        }
        let what = match self.rng.below(8) {
            0..3 => {
                let far = [10 * MS, 500 * MS, 3 * SECOND, 30 * SECOND, 7_200 * SECOND];
                let far = self.rng.pick(&far);
                member.off += self.rng.between(-far..far);
                self.plan(SECOND..40 * SECOND, index, Event::Right);
                "clocks jumped"
            }
            3 => {
                let long = self.rng.pick(&[3, 30, 100]) * SECOND;
                member.paused_until = now + self.rng.between(SECOND..long);
                "members paused"
            }
            4 => {
                member.cut_until = now + self.rng.between(SECOND..40 * SECOND);
                "members cut off"
            }
            5 => {
                member.alive = false;
                self.plan(0..20 * SECOND, index, Event::Start);
                "members crashed"
            }
            6 if room => {
                let off = self.small();
                let clone = self.members[index].cloned(off);
                self.join(clone);
                "members cloned"
            }
            6 => {
                member.alive = false;
                let ago = self.rng.between(0..100 * SECOND);
                self.plan(0..20 * SECOND, index, Event::Restore(ago));
                "members restored"
            }
            _ => {
                let release = member.release(now);
                // An answer that is under way would be taken for a new grant.
                let waited = member.waits_for.take().is_some();
                if let Some(request) = release {
                    self.send(index, Event::Arrive(0, request));
                }
                if self.rng.one_in(2) {
                    self.members[index].alive = false;
                    self.plan(0..5 * SECOND, index, Event::Start);
                } else if waited {
                    self.again(index, false);
                }
                "releases"
            }
        };
        self.statistics.count(what);
    }

    /// Ends all faults.
    pub fn clear_up(&mut self) {
        self.weather = Weather::Calm;
        self.central.down_until = self.now;
        self.central.adjust(0);
        let now = self.now;
        for Reverse(mut due) in std::mem::take(&mut self.queue) {
            if !matches!(
                due.event,
                Event::Strike | Event::Adjust | Event::Fault | Event::Right
            ) {
                due.at = due.at.min(now + 10 * SECOND);
                self.queue.push(Reverse(due));
            }
        }
        for index in 0..self.members.len() {
            let off = self.small();
            let member = &mut self.members[index];
            member.off = off;
            member.paused_until = member.paused_until.min(now);
        }
    }
}
