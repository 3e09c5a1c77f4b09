//! The background worker that asks the registry, so that no statement waits for the network: it claims what sessions
//! need, and renews what is held at half of each lease.
//!
//! A session that finds none starts it. What it knows lies in shared memory, so that its successor goes on.

use crate::pg::machine::clock;
use crate::pg::worker::dblink::{Query, Remote};
use crate::pg::worker::lifecycle;
use crate::pg::{charset, error};
use crate::registry::member::leases;
use crate::registry::member::question::{ANSWER, Answer, claim_query, read, release_query};
use crate::registry::member::slot::Hold;
use crate::registry::member::tasks::{Task, describe, slot, tasks};
use crate::registry::settings;
use crate::snowflake::node::lender;
use mint_core::Micros;
use mint_core::registry::lease_rules::pace;
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::{pg_guard, pg_sys};
use std::collections::BTreeMap;

/// Where the worker begins. Its name is in [`leases`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_member(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    let place = || (settings::registry_database(), settings::registry_role());
    let here = place();
    let (database, role) = here.clone();
    let database = database.unwrap_or_else(|| "postgres".to_owned());
    let role = role.map(charset::carried);
    BackgroundWorker::connect_worker_to_spi(Some(&charset::carried(database)), role.as_deref());
    if !lifecycle::begin(leases::requests()) {
        return;
    }
    let mut member = Member::new();
    while !ends() {
        let pause = member.round();
        clock::pause(pause);
        lifecycle::reload();
        if member.has_moved() {
            // At the old registry, from where it was found: nothing that it lent counts at the new one.
            member.release();
            if place() != here && !ends() {
                // The next one is connected to the other place.
                leases::requests().leave();
                leases::start_worker();
                return;
            }
            member.begin_anew();
        }
        leases::settle();
    }
    // A clean end leaves the nodes to others at once, or to this server when it starts again.
    member.release();
}

/// Whether the worker shall end, or has nothing left to do.
fn ends() -> bool {
    lifecycle::is_asked_to_end() || !lender::is_there()
}

/// Slots are never another claim's.
const NO_ROOM: &str =
    "more than 1024 different ranges of nodes were claimed since the server started; restart it";

struct Member {
    remote: Remote,
    /// The foreign server of the registry that it asks, and the key of the settings by which that was found.
    registry: Option<String>,
    key: u64,
    /// When each task is due, by the clock since boot.
    due: BTreeMap<Task, Micros>,
    /// Why a task failed last, and when.
    failures: BTreeMap<Task, (String, Micros)>,
    /// How long a lease was, when last heard of.
    length: Option<Micros>,
}

/// The shortest time from one question about the same nodes to the next, however many sessions want them.
const MIN_RETRY: Micros = 50_000;
/// The longest time in which a change of settings can go unnoticed.
const LONGEST: Micros = 1_000_000;

impl Member {
    fn new() -> Self {
        leases::settle();
        Self {
            remote: Remote::new("pg_mint".to_owned(), None),
            registry: settings::registry(),
            key: settings::registry_key(),
            due: BTreeMap::new(),
            failures: BTreeMap::new(),
            length: None,
        }
    }

    /// Whether the settings name another registry than it asks.
    fn has_moved(&self) -> bool {
        self.key != settings::registry_key()
    }

    /// Asks the registry that the settings name now. The connection to the old one ends with the first question.
    fn begin_anew(&mut self) {
        self.registry = settings::registry();
        self.key = settings::registry_key();
        self.due.clear();
        self.failures.clear();
        self.length = None;
    }

    /// Asks all that is due. Returns how long there is nothing to do.
    fn round(&mut self) -> Micros {
        let requests = leases::requests();
        // The count first: what is wanted belongs to no earlier one.
        let asked = requests.asked();
        let (widths, autos) = leases::wanted();
        if leases::is_released() {
            self.release();
            requests.answer(asked);
            return LONGEST;
        }
        let tasks = tasks(widths, autos);
        let is_wanted = |task: &Task| tasks.contains(task);
        self.due.retain(|task, _| is_wanted(task));
        self.failures.retain(|task, _| is_wanted(task));
        // First, as a new range may have nodes of an old one.
        self.give_up_unwanted(&tasks);
        // A session waits for what has failed, and does not know when it is tried again.
        let is_missed = !requests.has_answered(asked);
        let mut retry = None;
        for &task in &tasks {
            let now = clock::up();
            let due = self.due.get(&task).copied().unwrap_or(now);
            let due = match self.failures.get(&task) {
                Some((_, failed)) if is_missed => due.min(failed + MIN_RETRY),
                _ => due,
            };
            if due <= now {
                self.attend(task);
            } else if is_missed && self.failures.contains_key(&task) {
                retry = Some(due - now);
            }
            if ends() {
                break;
            }
        }
        let note: Vec<&str> = self
            .failures
            .values()
            .map(|(why, _)| why.as_str())
            .collect();
        requests.set_note((!note.is_empty()).then(|| note.join("; ")).as_deref());
        // He is answered when it has been tried again.
        if let Some(pause) = retry {
            return pause;
        }
        requests.answer(asked);
        let now = clock::up();
        let next = self.due.values().min().map_or(LONGEST, |due| due - now);
        next.clamp(MIN_RETRY, LONGEST)
    }

    fn attend(&mut self, task: Task) {
        let answer = self.claim_or_renew(task);
        if let Err(why) = &answer
            && self
                .failures
                .get(&task)
                .map(|(before, _)| without_numbers(before))
                != Some(without_numbers(why))
        {
            error::log(format!("pg_mint has no slice of {}: {why}", describe(task)));
        }
        let granted = answer.is_ok();
        match answer {
            Ok(()) => self.failures.remove(&task),
            Err(why) => self.failures.insert(task, (why, clock::up())),
        };
        let length = self.length.unwrap_or(10 * LONGEST);
        self.due.insert(task, clock::up() + pace(length, granted));
    }

    fn claim_or_renew(&mut self, task: Task) -> Result<(), String> {
        let (width, wanted) = task;
        if let Some(hold) = slot(task)
            && let Some(claim) = hold.claim()
        {
            let nodes = hold.nodes();
            let nodes = Some((*nodes.start(), *nodes.end()));
            let answer =
                self.ask(&|mint| claim_query(mint, Some((claim, hold.lease())), width, nodes))?;
            match answer.denial {
                None => {
                    hold.take(claim, answer.span);
                    return Ok(());
                }
                Some(why) if answer.claim != 0 => return Err(why),
                // The registry does not know of it. Another member may have the nodes by now.
                Some(_) => hold.lose(),
            }
        }
        if slot(task).is_none() && !leases::has_room() {
            return Err(NO_ROOM.to_owned());
        }
        let answer = self.ask(&|mint| claim_query(mint, None, width, wanted))?;
        if let Some(why) = answer.denial {
            return Err(why);
        }
        let hold = leases::hold(width, &answer.nodes).ok_or(NO_ROOM)?;
        hold.take(answer.claim, answer.span);
        if wanted.is_none() {
            leases::set_auto(width, hold);
        }
        Ok(())
    }

    fn ask(&mut self, query: &Query<'_>) -> Result<Answer, String> {
        let server = self
            .registry
            .as_deref()
            .ok_or("pg_mint.registry is not set")?;
        let columns = ANSWER;
        let (answer, seen) = self.remote.ask(server, query, columns, |row| read(&row))?;
        self.length = Some(answer.length);
        // A registry that grants nothing, because the clocks do not agree, may not have looked for lost state yet.
        if answer.denial.is_none() {
            leases::seen().set(seen);
        }
        Ok(answer)
    }

    /// Gives up what the settings no longer name.
    fn give_up_unwanted(&mut self, tasks: &[Task]) {
        let kept: Vec<*const Hold> = tasks
            .iter()
            .filter_map(|&task| slot(task))
            .map(std::ptr::from_ref)
            .collect();
        let unwanted = leases::holds().filter(|hold| !kept.contains(&std::ptr::from_ref(*hold)));
        self.give_up(unwanted.collect());
    }

    /// Gives all back.
    fn release(&mut self) {
        self.due.clear();
        self.give_up(leases::holds().collect());
    }

    fn give_up(&mut self, holds: Vec<&'static Hold>) {
        let key = self.key;
        let parted: Vec<(u64, i64, Micros)> = holds.into_iter().filter_map(end_lease).collect();
        let last = parted.iter().map(|&(.., used)| used).max();
        let heard = parted
            .iter()
            // What another registry lent, to a worker that had no time to say so, is none of this one's.
            .filter(|&&(registry, ..)| registry == key)
            // A registry that does not answer is not asked again, as a shutdown waits for this.
            .all(|&(_, claim, used)| self.tell(&|mint| release_query(mint, claim, used)));
        if let Some(used) = last.filter(|_| heard) {
            wait_until_past(used);
        }
    }

    /// Tells the registry something. False when it did not hear: what it is not told is over by itself before long.
    fn tell(&mut self, query: &Query<'_>) -> bool {
        let server = self.registry.as_deref();
        server.is_some_and(|server| {
            let columns = "released pg_catalog.bool";
            let answer = self.remote.ask(server, query, columns, |_| ());
            answer.is_ok()
        })
    }
}

/// Ends a lease that is held, and its claim here. Returns whose claim it was, the claim, and the moment that all its
/// ids are before.
fn end_lease(hold: &Hold) -> Option<(u64, i64, Micros)> {
    let claim = hold.claim()?;
    let used = leases::give_back(hold);
    hold.lose();
    Some((hold.registry(), claim, used))
}

/// Waits for the clock where ids were minted ahead of it. Until then the registry lends their nodes to no member, and what
/// wants to mint again would be refused.
fn wait_until_past(used: Micros) {
    const LONGEST: Micros = 5_000_000;
    let began = clock::up();
    while !ends() && clock::now() <= used && clock::up() - began < LONGEST {
        clock::pause(MIN_RETRY.min(used - clock::now() + 1_000));
    }
}

/// What two reasons have in common that are the same, some seconds later.
fn without_numbers(reason: &str) -> String {
    reason
        .chars()
        .filter(|sign| !sign.is_ascii_digit())
        .collect()
}
