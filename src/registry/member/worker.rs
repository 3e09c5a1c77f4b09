//! The background worker that requests leases from the registry, so that no statement waits for the network: new
//! leases when sessions need them, and renewals at a third of each lease.
//!
//! A session that finds no worker starts one. Its state lies in shared memory, so that the next worker continues.

use crate::pg::backend::callbacks::on_exit;
use crate::pg::backend::orphan;
use crate::pg::catalog::invalidation::foreign_server_generation;
use crate::pg::error;
use crate::pg::machine::clock;
use crate::pg::worker::dblink::{Query, Remote};
use crate::pg::worker::transaction::{Failure, attempt};
use crate::pg::worker::{deadline, lifecycle};
use crate::registry::member::assigned::AssignedNodes;
use crate::registry::member::end;
use crate::registry::member::memory::leases;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::member::query::{
    ANSWER, lease_query, read, release_query, request, understand,
};
use crate::registry::member::tasks::{assigned_node, describe, find_slot, tasks as wanted_tasks};
use crate::registry::member::trouble;
use crate::registry::member::trouble::Task;
use crate::registry::protocol::{Assignee, LeaseAnswer, NumberedTerm};
use crate::registry::settings;
use crate::snowflake::node::grantor;
use crate::statistics;
use crate::statistics::{Count, Wait};
use mint_core::clock::timestamp_text;
use mint_core::registry::lease_rules::request_interval;
use mint_core::snowflake::definition::MAX_SHARD_BITS;
use mint_core::{LogPoint, Micros};
use pgrx::{pg_guard, pg_sys};
use std::collections::BTreeMap;
use std::ptr;

/// Runs the worker: its entry point, by the name in [`leases`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_member(_argument: pg_sys::Datum) {
    lifecycle::attach();
    settings::keep_node();
    let own_database = settings::registry_database();
    lifecycle::connect(own_database.as_deref().unwrap_or("postgres"));
    if !lifecycle::begin(&leases::memory().requests) {
        return;
    }
    on_exit(|| {
        if orphan::is_orphan() {
            end::end_all();
        }
    });
    let is_overridden = lifecycle::is_overridden("pg_mint.node");
    let mut worker = LeaseWorker::new();
    while !ends() {
        let seen = leases::memory().requests.last();
        let pause = worker.run_tasks();
        if lifecycle::is_database_wanted() {
            return hand_over();
        }
        lifecycle::idle(pause, &leases::memory().requests, seen);
        let has_changed = lifecycle::reload();
        if has_changed && !is_overridden {
            settings::keep_node();
        }
        if worker.key != settings::registry_key() {
            // At the old registry, by the old connection: its leases do not count at the new one.
            worker.release_all();
            if settings::registry_database() != own_database && !ends() {
                return hand_over();
            }
            worker.remote.disconnect();
            worker = LeaseWorker::new();
        }
        // The next worker reads a setting of the server that this one cannot see.
        if has_changed && is_overridden || lifecycle::is_database_wanted() {
            return hand_over();
        }
        leases::publish_settings();
    }
    // After a clean end others get the nodes at once, or this server when it starts again.
    worker.release_all();
}

/// Starts the next worker, which continues when it can connect to the database.
fn hand_over() {
    leases::memory().requests.leave();
    leases::start_worker();
}

/// Returns whether the worker must end, or has nothing left to do.
fn ends() -> bool {
    deadline::is_asked_to_end() || !grantor::is_there()
}

struct LeaseWorker {
    remote: Remote,
    /// The foreign server of the registry, and the key of the settings by which it was found.
    registry: Option<String>,
    key: u64,
    /// The generation of foreign servers and user mappings at the last request.
    generation: u64,
    /// When each task is due, by the clock since boot.
    due: BTreeMap<Task, Micros>,
    /// Why a task failed last, and when.
    failures: BTreeMap<Task, (String, Micros)>,
    /// The length of leases, by the last answer.
    length: Option<Micros>,
    assigned: AssignedNodes,
}

/// The shortest time from one request for the same nodes to the next, however many sessions want them.
const MIN_RETRY: Micros = 50_000;
/// The longest time in which a change of settings can go unnoticed.
const LONGEST: Micros = 1_000_000;
/// For how many lengths of a lease one is requested that is refused, and that no session asks for again.
const FORGET: Micros = 10;

impl LeaseWorker {
    /// Returns a worker for the registry that the settings name now.
    fn new() -> Self {
        leases::publish_settings();
        Self {
            remote: Remote::new("pg_mint".to_owned(), settings::registry_role()),
            registry: settings::registry(),
            key: settings::registry_key(),
            generation: foreign_server_generation(),
            due: BTreeMap::new(),
            failures: BTreeMap::new(),
            length: None,
            assigned: AssignedNodes::default(),
        }
    }

    /// Returns whether a foreign server or a user mapping was changed: it may lead to another registry, which does not know the
    /// leases.
    fn has_changed_server(&mut self) -> bool {
        // The start of a transaction receives invalidations. If it fails, so does the next request.
        let _ = attempt(deadline::REQUEST, || ());
        let before = std::mem::replace(&mut self.generation, foreign_server_generation());
        self.generation != before
    }

    /// Returns the length of leases, or what it might be.
    fn length(&self) -> Micros {
        self.length.unwrap_or(10 * LONGEST)
    }

    /// Runs all tasks that are due. Returns how long there is nothing to do.
    fn run_tasks(&mut self) -> Micros {
        let requests = &leases::memory().requests;
        // The number first: what is read after it includes what was wanted before it.
        let requested = requests.last();
        leases::forget_refused(clock::up() - FORGET * self.length());
        let (widths, any_widths) = leases::wanted();
        if leases::is_released() {
            self.release_all();
            requests.answer(requested);
            return LONGEST;
        }
        if self.has_changed_server() {
            self.due.clear();
        }
        let assigned = &leases::memory().assigned;
        let is_switched = assigned.is_set() != settings::is_assigned();
        if is_switched {
            (0..=MAX_SHARD_BITS).for_each(leases::forget_any_slot);
            assigned.set(settings::is_assigned());
            self.due.clear();
        }
        let tasks = wanted_tasks(widths, any_widths);
        self.due.retain(|task, _| tasks.contains(task));
        self.failures.retain(|task, _| tasks.contains(task));
        // First, as a new range can have nodes of an old one; but later where the node is chosen in another way, as
        // sessions still mint as the old one.
        if !is_switched {
            self.release_unwanted(&tasks);
        }
        let is_waited_for = !requests.is_answered(requested);
        let mut retry = None;
        for task in tasks {
            match self.time_left(task, is_waited_for) {
                ..=0 => self.run(task),
                left if is_waited_for && self.failures.contains_key(&task) => retry = Some(left),
                _ => {}
            }
            if ends() {
                break;
            }
        }
        let failures = self.failures.iter().map(|(&task, (why, _))| (task, &**why));
        leases::memory().troubles.set(&trouble::write(failures));
        let mut reasons: Vec<&str> = self.failures.values().map(|(why, _)| &**why).collect();
        reasons.dedup();
        requests.set_note(&reasons.join("; "));
        // The session that waits is answered after the retry, and once the rest of a range was requested of which the
        // registry has granted a part.
        if let Some(pause) = retry {
            return pause;
        }
        let left = wanted_tasks(widths, any_widths);
        if !ends() && left.iter().any(|task| !self.due.contains_key(task)) {
            return MIN_RETRY;
        }
        requests.answer(requested);
        let now = clock::up();
        let next = self.due.values().min().map_or(LONGEST, |due| due - now);
        next.clamp(MIN_RETRY, LONGEST)
    }

    /// Returns how long until a task is due; sooner after a failure, if a session waits.
    fn time_left(&self, task: Task, is_waited_for: bool) -> Micros {
        let now = clock::up();
        let due = self.due.get(&task).copied().unwrap_or(now);
        let due = match self.failures.get(&task) {
            Some((_, failed)) if is_waited_for => due.min(failed + MIN_RETRY),
            _ => due,
        };
        due - now
    }

    fn run(&mut self, task: Task) {
        let result = self.request_or_renew(task);
        let is_granted = result.is_ok();
        statistics::add(
            if is_granted {
                Count::LeaseRenewals
            } else {
                Count::LeaseFailures
            },
            1,
        );
        let before = self.failures.remove(&task);
        if let Err(why) = result {
            let pattern = trouble::without_numbers(&why);
            if before.is_none_or(|(before, _)| trouble::without_numbers(&before) != pattern) {
                error::log(format!(
                    "could not obtain lease of {}: {why}",
                    describe(task)
                ));
            }
            self.failures.insert(task, (why, clock::up()));
        }
        let pause = request_interval(self.length(), is_granted);
        self.due.insert(task, clock::up() + pause);
    }

    fn request_or_renew(&mut self, task: Task) -> Result<(), String> {
        let (width, wanted) = task;
        if wanted.is_none() && settings::is_assigned() {
            return self.lease_assigned(width);
        }
        if wanted.is_some() && wanted == assigned_node(width).map(|node| (node, node)) {
            // An earlier task of the same pass has leased it, and sees to it.
            return Ok(());
        }
        let slot = find_slot(task);
        if let Some(slot) = slot
            && let Some(id) = slot.id()
        {
            let term = slot.term();
            let nodes = Some(slot.nodes().into_inner());
            let told = Some(NumberedTerm { id, term });
            let answer = self.ask((width, nodes), told, None);
            let answer = answer.map_err(|failure| failure.why)?;
            let is_kept = answer.lease.is_some();
            match answer.granted() {
                Ok((lease, _)) => {
                    slot.extend(lease.term);
                    return Ok(());
                }
                Err(why) if is_kept => return Err(why),
                // The registry does not know the lease: it is another one, or has forgotten it. Another member may have
                // the nodes by now.
                Err(_) => end::abandon(slot),
            }
        }
        // Nothing of it must be merged with the next one, which can be of another registry.
        if let Some(lease) = slot.map(LeaseSlot::lease)
            && lease.until() > lease.from().max(clock::now())
        {
            let until = timestamp_text(lease.until());
            return Err(format!(
                "lease that could not be released lasts until {until}"
            ));
        }
        if slot.is_none() && !leases::has_room() {
            return Err(leases::NO_ROOM.to_owned());
        }
        let answer = self.ask(task, None, None);
        let (lease, nodes) = answer.map_err(|failure| failure.why)?.granted()?;
        let slot = leases::slot_for(width, &nodes).ok_or(leases::NO_ROOM)?;
        slot.replace(lease.id, lease.term);
        if wanted.is_none() {
            leases::set_any_slot(width, slot);
        }
        Ok(())
    }

    /// Leases the node that is assigned to this server, or mints as it without a lease.
    fn lease_assigned(&mut self, width: u32) -> Result<(), String> {
        let lease = self.assigned.held(width);
        let (told, answer) = match self.assigned.describe(width) {
            Ok(assignee) => {
                let told = assignee.max_outage;
                (told, self.ask((width, None), lease, Some(assignee)))
            }
            Err(why) => (None, Err(Failure::local(why))),
        };
        // At once: the process can be paused from here on.
        let answered = clock::now();
        // Of a width of which sessions need only nodes that the settings list, none has to be assigned.
        let (_, any_widths) = leases::wanted();
        let is_needed = any_widths >> width & 1 == 1;
        let is_unassigned = matches!(&answer, Ok(answer) if answer.is_unassigned);
        let settled = self.assigned.settle(width, told, answered, answer);
        settled.or_else(|why| match is_unassigned && !is_needed {
            true => Ok(()),
            false => Err(why),
        })
    }

    /// Requests a new lease, or the renewal of one; of the node that is assigned to this server by its assignee.
    fn ask(
        &mut self,
        task: Task,
        lease: Option<NumberedTerm>,
        assignee: Option<Assignee>,
    ) -> Result<LeaseAnswer, Failure> {
        let server = self.registry.as_deref().ok_or_else(|| {
            Failure::local("parameter \"pg_mint.registry\" is not set".to_owned())
        })?;
        let asked = request(task, lease, assignee);
        let query = |_: &str| lease_query(&asked);
        let text = self.remote.ask(server, &query, ANSWER, read)?;
        let answer = understand(&asked, &text).map_err(Failure::local)?;
        self.length = Some(answer.length);
        // Also from a denial: else this server would tell of the history that it knows again and again. But it does not
        // forget that it has seen more of the same one.
        let follows = |seen: &LogPoint| asked.seen.is_none_or(|before| seen.may_follow(before));
        if let Some(seen) = answer.seen.filter(follows) {
            leases::memory().seen.set(seen);
        }
        Ok(answer)
    }

    /// Releases the leases that the settings no longer name.
    fn release_unwanted(&mut self, tasks: &[Task]) {
        let wanted: Vec<&LeaseSlot> = tasks.iter().filter_map(|&task| find_slot(task)).collect();
        let is_wanted = |slot: &LeaseSlot| wanted.iter().any(|&other| ptr::eq(other, slot));
        self.release(leases::slots().filter(|slot| !is_wanted(slot)).collect());
    }

    /// Releases all leases.
    fn release_all(&mut self) {
        self.due.clear();
        self.release(leases::slots().collect());
    }

    fn release(&mut self, slots: Vec<&'static LeaseSlot>) {
        let key = self.key;
        let ended: Vec<(u64, i64, Micros)> = slots.into_iter().filter_map(end::end_held).collect();
        let last = ended.iter().map(|&(.., used)| used).max();
        let is_heard = ended
            .iter()
            // Leases of another registry are left by a worker that had no time to release them.
            .filter(|&&(registry, ..)| registry == key)
            // A registry that does not answer is not asked again, as a shutdown waits for this.
            .all(|&(_, id, used)| self.tell(&|_| release_query(id, used)));
        if let Some(used) = last.filter(|_| is_heard) {
            wait_until_past(used);
        }
    }

    /// Sends a release to the registry. False when it was not heard: then the lease ends by itself.
    fn tell(&mut self, query: &Query<'_>) -> bool {
        let server = self.registry.as_deref();
        server.is_some_and(|server| {
            let answer = self.remote.ask(server, query, ANSWER, |_| ());
            answer.is_ok()
        })
    }
}

/// Waits for the clock where ids were minted ahead of it. Until then the registry grants their nodes to no member, and
/// sessions that want to mint again would be refused.
fn wait_until_past(used: Micros) {
    const LONGEST: Micros = 5_000_000;
    let began = clock::up();
    while !ends() && clock::now() <= used && clock::up() - began < LONGEST {
        clock::pause(
            MIN_RETRY.min(used - clock::now() + 1_000),
            Wait::Clock.event(),
        );
    }
}
