//! The nodes that are assigned to this server: what it remembers of them in a file of its data directory, as long as its
//! settings name the same registry.
//!
//! The registry grants an assigned node to one place only: a machine and a data directory. A server at that place may
//! thus mint as the node while the registry is away, without a lease, for as long as `pg_mint.registry_max_outage`
//! allows. A copy elsewhere finds another place in the file, and leaves it alone. Copies of a whole disk under the same names
//! cannot be told from each other: they are told apart by the registry only.

use crate::pg::machine::{clock, host, random, server, state_file};
use crate::registry::member::leases;
use crate::registry::member::request::Answer;
use crate::registry::member::slot::LeaseSlot;
use crate::registry::protocol::Assignee;
use crate::registry::settings;
use mint_core::registry::lease_rules::LARGEST_SKEW;
use mint_core::{LeaseTerm, Micros};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ptr;

/// The file, in the data directory.
const FILE: &str = "pg_mint.assigned";
/// How old the time in the file may be before it is written again.
const PRECISION: Micros = 60_000_000;

/// How long a server mints as its assigned node without a lease, before it tries again to get one.
const WITHOUT_LEASE: Micros = 10_000_000;
/// The number of that time, in place of a lease's.
const NO_LEASE: i64 = -1;

/// What the file says.
#[derive(Default, Serialize, Deserialize, PartialEq)]
struct Memory {
    /// Where the server was.
    place: String,
    /// [`Assignee::key`].
    key: i64,
    /// [`settings::registry_key`].
    registry: u64,
    /// For each width of nodes, what is assigned.
    nodes: BTreeMap<u32, Known>,
}

/// A node that the registry has leased.
#[derive(Clone, Copy, Serialize, Deserialize, PartialEq)]
struct Known {
    node: u64,
    /// When it did so last, by this server's clock.
    at: Micros,
    /// [`Assignee::max_outage`] as the registry was told it then, which keeps the node for so long.
    max_outage: Option<Micros>,
}

/// Returns what the registry is told of this server. The file has it from then on.
///
/// # Errors
/// When the file could not be written.
pub fn describe() -> Result<Assignee, String> {
    let mut memory = read();
    if memory.key == 0 {
        memory.key = random::bits().cast_signed() | 1;
        write(&memory)?;
    }
    Ok(Assignee {
        place: memory.place,
        key: memory.key,
        max_outage: settings::max_outage(),
    })
}

/// Returns where this server is: its machine and its data directory, with a hash of what tells it from others.
fn place() -> String {
    let directory = server::data_directory();
    let host = String::from_utf8_lossy(&host::name()).into_owned();
    let numbers = [server::system_identifier(), server::data_directory_number()];
    let [system, number] = numbers.map(|number| number.to_string());
    let all = [&host, &host::machine_id(), &directory, &system, &number];
    let hash = settings::hash(all.into_iter().map(String::as_bytes));
    format!("{hash:016x} {host}:{directory}")
}

/// Returns what the file says of this place and this registry.
fn read() -> Memory {
    let text = state_file::read(FILE);
    let memory = text.and_then(|text| serde_json::from_str::<Memory>(&text).ok());
    let (place, registry) = (place(), settings::registry_key());
    let own = memory.filter(|memory| memory.place == place);
    let (key, nodes) = own.map_or_else(Default::default, |memory| {
        let nodes = (memory.registry == registry).then_some(memory.nodes);
        (memory.key, nodes.unwrap_or_default())
    });
    Memory {
        place,
        key,
        registry,
        nodes,
    }
}

fn write(memory: &Memory) -> Result<(), String> {
    let text = serde_json::to_string(memory).map_err(|error| error.to_string())?;
    state_file::write(FILE, &text)
        .map_err(|error| format!("could not write file \"{FILE}\": {error}"))
}

/// Follows what the registry has answered about the node that is assigned to this server. If that was nothing, the server
/// mints as the node that it knows. `told`: the longest outage that the request named.
///
/// # Errors
/// Why there is no lease.
pub fn settle(
    width: u32,
    told: Option<Micros>,
    answer: Result<Answer, String>,
) -> Result<(), String> {
    let why = match answer {
        Err(why) => why,
        Ok(answer) => match answer.denial {
            None => {
                let node = *answer.nodes.start();
                // The file comes before the first id, so that the server can start again by it.
                remember(width, told, node)?;
                slot_for(width, node)?.continue_as(answer.id, answer.span);
                return Ok(());
            }
            Some(why) if answer.is_unassigned => {
                leases::any_slot(width).into_iter().for_each(abandon);
                forget(width)?;
                return Err(why);
            }
            Some(why) if answer.is_quarantined => why,
            Some(why) => return Err(why),
        },
    };
    let now = clock::now();
    let Some(node) = recall(width, now) else {
        return Err(why);
    };
    let until = now + WITHOUT_LEASE;
    slot_for(width, node)?.continue_as(NO_LEASE, LeaseTerm { from: now, until });
    Err(format!(
        "{why}; ids are generated as assigned node {node} without a lease"
    ))
}

/// Returns the slot of the node. If this server had another one, it mints no more as that.
fn slot_for(width: u32, node: u64) -> Result<&'static LeaseSlot, String> {
    let slot = leases::slot_for(width, &(node..=node)).ok_or(leases::NO_ROOM)?;
    let before = leases::any_slot(width).filter(|&before| !ptr::eq(before, slot));
    before.into_iter().for_each(abandon);
    leases::set_any_slot(width, slot);
    Ok(slot)
}

/// Ends a lease of which the registry knows nothing more.
fn abandon(slot: &'static LeaseSlot) {
    leases::end(slot);
    slot.lose();
}

/// Returns the node that was assigned to this server when it heard of that last, not longer ago than the settings allow.
fn recall(width: u32, now: Micros) -> Option<u64> {
    let known = *read().nodes.get(&width)?;
    let age = now.saturating_sub(known.at);
    let limits = [known.max_outage, settings::max_outage()];
    let is_allowed = limits.into_iter().flatten().all(|limit| age < limit);
    (is_allowed && age >= -LARGEST_SKEW).then_some(known.node)
}

/// Remembers that the registry has leased the node that is assigned to this server, and keeps it for so long.
///
/// # Errors
/// When the file could not be written.
fn remember(width: u32, max_outage: Option<Micros>, node: u64) -> Result<(), String> {
    let mut memory = read();
    let at = clock::now();
    let known = Known {
        node,
        at,
        max_outage,
    };
    let is_recent = |before: &Known| {
        (0..PRECISION).contains(&(at - before.at))
            && *before
                == Known {
                    at: before.at,
                    ..known
                }
    };
    if memory.nodes.get(&width).is_some_and(is_recent) {
        return Ok(());
    }
    memory.nodes.insert(width, known);
    write(&memory)
}

/// Forgets the node: it is not assigned to this server any more.
///
/// # Errors
/// When the file could not be written.
fn forget(width: u32) -> Result<(), String> {
    let mut memory = read();
    match memory.nodes.remove(&width) {
        Some(_) => write(&memory),
        None => Ok(()),
    }
}
