//! The background worker that requests leases from the registry, so that no statement waits for the network: new
//! leases when sessions need them, and renewals at a third of each lease.
//!
//! A session that finds no worker starts one. Its state lies in shared memory, so that the next worker continues.

use crate::pg::backend::callbacks::on_exit;
use crate::pg::backend::orphan;
use crate::pg::catalog::invalidation::foreign_server_generation;
use crate::pg::error;
use crate::pg::machine::{clock, random};
use crate::pg::worker::dblink::Remote;
use crate::pg::worker::transaction::{Failure, attempt};
use crate::pg::worker::{deadline, lifecycle};
use crate::registry::member::memory::{WIDTHS, WORKER, memory};
use crate::registry::member::trouble::Trouble;
use crate::registry::member::{end, request};
use crate::registry::protocol::RegistryAnswer;
use crate::registry::{bits, settings};
use crate::snowflake::node::grantor;
use crate::snowflake::node::setting::{Node, node};
use crate::statistics;
use crate::statistics::Count;
use mint_core::clock::{Micros, SECOND};
use mint_core::registry::ring::{Refusal, RingDemand, RingRules};
use pgrx::{pg_guard, pg_sys};
use std::sync::atomic::{AtomicI64, Ordering};

const RULES: RingRules = RingRules::STANDARD;
/// The shortest time from one request for a node to the next, however many sessions want it.
const MIN_RETRY: Micros = 50_000;
/// The wait of the worker after a failure, and the longest time in which a change of settings can go unnoticed.
const MAX_RETRY: Micros = SECOND;

/// Runs the worker: its entry point, by the name in [`WORKER`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_member(_argument: pg_sys::Datum) {
    lifecycle::attach();
    // Before it connects, the setting is that of the server, not of a role or database.
    let is_auto = node() == Node::Auto;
    let database = settings::registry_database();
    lifecycle::connect(database.as_deref().unwrap_or("postgres"));
    if !lifecycle::begin(&memory().requests) {
        return;
    }
    memory().set_auto(is_auto);
    on_exit(|| {
        if orphan::is_orphan() {
            end::end_all();
        }
    });
    let mut worker = LeaseWorker::new(Remote::new("pg_mint".to_owned(), None));
    while !ends() {
        let seen = memory().requests.last();
        let pause = worker.run_tasks();
        lifecycle::idle(pause, &memory().requests, seen);
        let has_changed = lifecycle::reload();
        if worker.key != settings::registry_key() {
            // This uses the old connection to the old registry, whose leases do not count at the new one.
            worker.release_all();
        }
        // The next worker reads the server's settings, which those of this database can hide. If no process is free for
        // it, this one continues by those that it reads.
        let is_wanted = lifecycle::is_database_wanted();
        if has_changed && !ends() || is_wanted {
            if hand_over() || is_wanted {
                return;
            }
            memory().set_auto(node() == Node::Auto);
            worker = LeaseWorker::new(worker.remote);
        }
    }
    // After a clean end, others get the nodes without a wait.
    worker.release_all();
}

/// Starts the next worker, which continues when it can connect to the database. False if none can be started.
fn hand_over() -> bool {
    memory().requests.leave();
    memory().requests.wake_if_possible(&WORKER) || !memory().requests.enter()
}

/// Returns whether the worker must end, or has nothing left to do.
fn ends() -> bool {
    deadline::is_asked_to_end() || !grantor::has_registry()
}

struct LeaseWorker {
    remote: Remote,
    /// The foreign server of the registry, and the key of the settings by which it was found.
    registry: Option<String>,
    key: u64,
    /// The generation of foreign servers and user mappings at the last request.
    generation: u64,
    /// When the next request for a node of each width is due, by the clock since boot.
    due: [Micros; WIDTHS],
    /// The reason and the time of the last failure.
    failures: [Option<(Trouble, Micros)>; WIDTHS],
}

impl LeaseWorker {
    /// Returns a worker for the registry that the settings name now.
    fn new(remote: Remote) -> Self {
        memory().publish_settings();
        Self {
            remote,
            registry: settings::registry(),
            key: settings::registry_key(),
            generation: foreign_server_generation(),
            due: [0; WIDTHS],
            failures: [const { None }; WIDTHS],
        }
    }

    /// Returns whether a foreign server or a user mapping was changed: it can lead to another registry, which does not
    /// know the leases.
    fn has_changed_server(&mut self) -> bool {
        // The start of a transaction receives invalidations. If it fails, so does the next request.
        let _ = attempt(deadline::REQUEST, || ());
        let before = std::mem::replace(&mut self.generation, foreign_server_generation());
        self.generation != before
    }

    /// Sends all requests that are due. Returns the time until the next one.
    fn run_tasks(&mut self) -> Micros {
        let head = memory();
        // Read the number first: later reads include all that was wanted before it.
        let requested = head.requests.last();
        if self.has_changed_server() {
            self.due = [0; WIDTHS];
        }
        let is_waited_for = !head.requests.is_answered(requested);
        let wanted: Vec<u32> = head.wanted_widths().collect();
        if wanted.is_empty() {
            self.release_all();
        }
        let mut retry = None;
        for &width in &wanted {
            match self.time_left(width, is_waited_for) {
                ..=0 => self.run(width),
                left if is_waited_for && self.failures[width as usize].is_some() => {
                    retry = Some(left);
                }
                _ => {}
            }
            if ends() {
                break;
            }
        }
        let failures = self.failures.iter().zip(0..);
        head.set_troubles(
            failures.filter_map(|(failure, width)| Some((width, &failure.as_ref()?.0))),
        );
        // The waiting session is answered after the retry.
        if let Some(pause) = retry {
            return pause;
        }
        head.requests.answer(requested);
        let next = wanted.iter().map(|&width| self.due[width as usize]).min();
        next.map_or(MAX_RETRY, |due| due - clock::up())
            .clamp(MIN_RETRY, MAX_RETRY)
    }

    /// Returns the time until a request is due; sooner after a failure, if a session waits.
    fn time_left(&self, width: u32, is_waited_for: bool) -> Micros {
        let width = width as usize;
        let due = match &self.failures[width] {
            Some((_, failed)) if is_waited_for => self.due[width].min(failed + MIN_RETRY),
            _ => self.due[width],
        };
        due - clock::up()
    }

    fn run(&mut self, width: u32) {
        let (pause, failure) = match self.obtain(width) {
            Ok(()) => {
                statistics::add(Count::LeaseRenewals, 1);
                (RULES.renewal, None)
            }
            Err((trouble, pause)) => {
                statistics::add(Count::LeaseFailures, 1);
                (pause, Some(trouble))
            }
        };
        let now = clock::up();
        self.due[width as usize] = now + pause;
        let before = self.failures[width as usize].take();
        if let Some(trouble) = failure {
            if before.is_none_or(|(before, _)| before.pattern() != trouble.pattern()) {
                error::log(format!(
                    "could not obtain lease of a node ({}): {}",
                    bits(width),
                    trouble.why
                ));
            }
            self.failures[width as usize] = Some((trouble, now));
        }
    }

    /// Renews the lease of a node of this width, or obtains another one.
    ///
    /// # Errors
    /// Why there is none, and for how long the registry is not asked again.
    fn obtain(&mut self, width: u32) -> Result<(), (Trouble, Micros)> {
        let head = memory();
        let failed = |failure| (Trouble::of_failure(failure), MAX_RETRY);
        if let Some(slot) = head.chosen_slot(width)
            && let Some(lease) = slot.held_lease()
        {
            // A lease that is over, or comes from a wrong clock, is dropped without a request.
            if lease.is_credible(&RULES, clock::now()) {
                match self
                    .ask(width, RingDemand::Renewal(lease))
                    .map_err(failed)?
                {
                    RegistryAnswer::Lease(renewed) => {
                        slot.extend(renewed);
                        return Ok(());
                    }
                    RegistryAnswer::Refusal(why @ Refusal::Clock { .. }) => {
                        return Err((Trouble::of_refusal(width, why), MAX_RETRY));
                    }
                    RegistryAnswer::Refusal(_) => {}
                }
            }
            end::end_held(slot);
            head.choose(width, None);
        }
        // The number is kept until it is answered: the registry can have granted it, and its answer was lost.
        let proposed = &head.proposed[width as usize];
        if proposed.load(Ordering::Relaxed) == 0 {
            let number = (random::bits() >> 1).max(1).cast_signed();
            proposed.store(number, Ordering::Relaxed);
        }
        let number = proposed.load(Ordering::Relaxed);
        match self.ask(width, RingDemand::Grant(number)).map_err(failed)? {
            RegistryAnswer::Lease(lease) => {
                let Some(slot) = head.slot_for(width, lease.node) else {
                    let why = "all 1024 lease slots have been used since the server was started";
                    return Err((Trouble::new(why, "Restart the server."), MAX_RETRY));
                };
                slot.replace(lease);
                head.choose(width, Some(slot));
                proposed.store(0, Ordering::Relaxed);
                Ok(())
            }
            RegistryAnswer::Refusal(why) => {
                let pause = match why {
                    Refusal::Wait { left } => left.clamp(MIN_RETRY, MAX_RETRY),
                    _ => MAX_RETRY,
                };
                Err((Trouble::of_refusal(width, why), pause))
            }
        }
    }

    fn ask(&mut self, width: u32, demand: RingDemand) -> Result<RegistryAnswer, Failure> {
        let server = self.registry.as_deref().ok_or_else(|| {
            Failure::local("parameter \"pg_mint.registry\" is not set".to_owned())
        })?;
        let query = |_: &str| request::query(width, demand);
        let text = (self.remote).ask(server, &query, request::ANSWER, request::read)?;
        request::understand(width, demand, &text).map_err(Failure::local)
    }

    /// Ends and releases all leases. A lease that is not released ends by itself.
    fn release_all(&mut self) {
        let head = memory();
        self.due = [0; WIDTHS];
        self.failures = [const { None }; WIDTHS];
        // A registry that does not answer is not asked again, as a shutdown waits for this.
        let mut is_heard = true;
        for slot in head.held_slots() {
            let (width, is_of_registry) = (slot.width(), slot.registry() == self.key);
            if let Some((lease, used)) = end::end_held(slot)
                && is_heard
                && is_of_registry
            {
                is_heard = self.ask(width, RingDemand::End { lease, used }).is_ok();
            }
        }
        (0..WIDTHS as u32).for_each(|width| head.choose(width, None));
        let clear = |number: &AtomicI64| number.store(0, Ordering::Relaxed);
        head.proposed.iter().for_each(clear);
    }
}
