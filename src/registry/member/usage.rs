//! What an administrator watches of the leases. Nothing here makes the memory, or talks to the registry.

use crate::pg::machine::server;
use crate::registry::member::memory::leases::{self, made};
use crate::registry::member::memory::slot::{LeaseSlot, SLOTS};
use crate::registry::member::session;
use crate::registry::member::tasks::tasks;
use crate::registry::member::trouble;
use crate::registry::member::trouble::{Task, Trouble, missing_database};
use crate::registry::settings;
use crate::snowflake::node::grantor;
use std::ptr;

/// Returns the slots that are used, if a session has made the memory.
fn slots() -> impl Iterator<Item = &'static LeaseSlot> {
    made().then(leases::slots).into_iter().flatten()
}

/// Returns how many slots are used, and how many there are.
pub fn used() -> (usize, usize) {
    (slots().count(), SLOTS)
}

/// Sets the statistics of all leases to zero.
pub fn reset_statistics() {
    slots().for_each(LeaseSlot::reset_statistics);
}

/// Returns the leases that are held of the registry that the settings name, each with its task.
pub fn held() -> Vec<(Task, &'static LeaseSlot)> {
    let key = settings::registry_key();
    let own = slots().filter(|slot| slot.registry() == key && slot.id().is_some());
    own.map(|slot| {
        let width = slot.width();
        let is_chosen = leases::any_slot(width).is_some_and(|any| ptr::eq(any, slot));
        let nodes = (!is_chosen).then(|| slot.nodes().into_inner());
        ((width, nodes), slot)
    })
    .collect()
}

/// Returns the leases that sessions have needed, unless these were released since.
pub fn wanted() -> Vec<Task> {
    if !are_wanted() {
        return Vec::new();
    }
    let (widths, any_widths) = leases::wanted();
    tasks(widths, any_widths)
}

/// Returns whether sessions have needed a lease, and the leases were not released since.
fn are_wanted() -> bool {
    made() && leases::wanted() != (0, 0) && !leases::is_released()
}

/// Returns whether the registry that has answered this server last is on this server itself.
pub fn is_own_registry() -> bool {
    let seen = made().then(|| leases::memory().seen.get()).flatten();
    let own = (server::system_identifier(), server::start());
    seen.is_some_and(|seen| (seen.identity.system, seen.identity.start) == own)
}

/// Returns why requests failed last, each for itself; or why none can be made.
pub fn troubles() -> Vec<Trouble> {
    let is_served = || leases::memory().requests.is_served();
    if let Some(why) = missing_database().filter(|_| are_wanted() && !is_served()) {
        let each = wanted().into_iter();
        return each
            .map(|task| Trouble {
                task,
                why: why.clone(),
            })
            .collect();
    }
    let read = || trouble::read(&leases::memory().troubles);
    made().then(read).into_iter().flatten().collect()
}

/// Returns whether the settings let this session generate ids as a node.
pub fn is_permitted(width: u32, node: u64) -> bool {
    let is_listed = width == 0 || settings::range_of(node).is_some();
    is_listed || made() && session::permitted(width, node).is_some()
}

/// Returns why the last request failed, if it did, and there is a registry still.
pub fn trouble() -> Option<String> {
    let is_current = grantor::is_there() && made();
    is_current.then(leases::note).flatten()
}

/// Returns whether leases are wanted, and no worker requests them that could.
pub fn lacks_worker() -> bool {
    let is_served = || leases::memory().requests.is_served_or_started();
    grantor::is_there() && are_wanted() && !is_served() && missing_database().is_none()
}
