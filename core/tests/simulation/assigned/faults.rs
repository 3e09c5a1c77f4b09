//! Faults of the servers of an assigned node, and of its registry.

use super::server::Server;
use super::world::{Event, World};
use crate::time::{MS, SECOND};

/// The most servers at a time.
const MOST: usize = 4;

impl World {
    /// Loses the grant to another server than before, sometimes, when the one before is there again.
    pub fn change_hands(&mut self) {
        self.statistics.count("changed hands");
        if !self.has_faults || !self.rng.one_in(4) {
            return;
        }
        self.registry.fail(self.now, &mut self.rng, 1);
        self.registry.down_until = self.now;
        for index in 0..self.servers.len() {
            let server = &mut self.servers[index];
            (server.paused_until, server.cut_off_until) = (self.now, self.now);
            let life = (index, server.life);
            let soon = self.rng.between(0..300 * MS);
            self.schedule(soon, life, Event::Ask);
        }
    }

    pub fn fault(&mut self) {
        if !self.has_faults {
            return;
        }
        // Two at once are the most interesting.
        for _ in 0..=self.rng.below(2) {
            self.fail_one();
        }
        let after = self.rng.between(100 * MS..15 * SECOND);
        self.schedule(after, (0, 0), Event::Fault);
    }

    fn fail_one(&mut self) {
        let index = self.rng.below(self.servers.len() as u64) as usize;
        let now = self.now;
        let what = match self.rng.below(20) {
            0..5 if !self.rng.one_in(self.calm) => return,
            0..2 => {
                self.registry.fail(now, &mut self.rng, 0);
                "registry restarted"
            }
            2..5 => {
                let lost = self.rng.pick(&[1, 1, 2, 5, 40]);
                self.registry.fail(now, &mut self.rng, lost);
                "commits lost"
            }
            5..8 => self.clone_disk(index),
            8..11 => self.stop(index, false),
            11..13 => self.stop(index, true),
            13..15 => {
                let long = self.rng.pick(&[3, 15, 100]) * SECOND;
                self.servers[index].paused_until = now + self.rng.between(0..long);
                "paused"
            }
            15..17 => {
                self.servers[index].cut_off_until = now + self.rng.between(0..40 * SECOND);
                "cut off"
            }
            17 => self.restore(index),
            18 if self.rng.one_in(3) => {
                self.registry.evict();
                "evicted"
            }
            19 if self.rng.one_in(4) => {
                self.registry.give_to_next();
                self.is_key_lost = true;
                "moved"
            }
            _ => return,
        };
        self.statistics.count(what);
    }

    /// Starts a copy of a server, in the place of another one that is gone for good if there are many.
    fn clone_disk(&mut self, index: usize) -> &'static str {
        if self.servers.len() >= MOST {
            return "too many copies";
        }
        let copy = Server::new(self.servers[index].disk.clone(), &mut self.rng);
        self.servers.push(copy);
        let after = self.rng.between(0..3 * SECOND);
        self.schedule(after, (self.servers.len() - 1, 1), Event::Ask);
        "copied"
    }

    /// Crashes a server, or lets it release its lease and end.
    fn stop(&mut self, index: usize, is_clean: bool) -> &'static str {
        let clock = self.registry.clock(self.now);
        let is_heard = self.registry.down_until <= self.now && self.rng.one_in(2);
        let server = &mut self.servers[index];
        let disk = server.disk.clone();
        server.old.push(disk);
        let life = (index, server.life);
        let memory = server.memory.take();
        let instance = memory.and_then(|memory| memory.lease.map(|_| memory.instance));
        if let Some(instance) = instance.filter(|_| is_clean)
            && server.cut_off_until <= self.now
        {
            for (other, held) in &mut self.held {
                if *other == life {
                    held.until = held.until.min(clock).max(held.from);
                }
            }
            if is_heard {
                self.registry.release(instance, clock);
            }
        }
        let after = self.rng.between(0..20 * SECOND);
        self.schedule(after, life, Event::Start);
        if is_clean { "stopped" } else { "crashed" }
    }

    /// Puts an older copy of its disk in the place of a server's.
    fn restore(&mut self, index: usize) -> &'static str {
        self.stop(index, false);
        let server = &mut self.servers[index];
        let older = self.rng.below(server.old.len() as u64) as usize;
        server.disk = server.old[older].clone();
        self.is_key_lost = true;
        "restored"
    }

    pub fn end_faults(&mut self) {
        self.has_faults = false;
        self.registry.recover();
        for index in 0..self.servers.len() {
            let server = &mut self.servers[index];
            (server.paused_until, server.cut_off_until) = (self.now, self.now);
            server.clock_error = 0;
            if server.memory.is_none() {
                server.start(&mut self.rng);
                let life = (index, server.life);
                self.schedule(0, life, Event::Ask);
            }
        }
    }
}
