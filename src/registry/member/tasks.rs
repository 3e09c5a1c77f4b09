//! The leases that the worker has to see to.

use crate::registry::identity::{bits, describe_nodes};
use crate::registry::member::memory::leases;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::member::trouble::Task;
use crate::registry::settings;

/// Returns the leases that are wanted for the widths that sessions need: by number, and with any node.
pub fn tasks(widths: u64, mut any_widths: u64) -> Vec<Task> {
    // The settings can list the assigned node as well, so it has to be known: that lease serves both.
    if settings::is_assigned() && !settings::nodes().is_empty() {
        any_widths |= widths;
    }
    let each = |bits: u64| (0..u64::BITS).filter(move |width| bits >> width & 1 == 1);
    let mut tasks: Vec<Task> = each(any_widths).map(|width| (width, None)).collect();
    for width in each(widths) {
        let most = (1 << width) - 1;
        if width == 0 {
            // A layout without a node has node 0, which no setting names.
            tasks.push((0, Some((0, 0))));
        }
        for range in settings::nodes() {
            let (first, last) = (*range.start(), most.min(*range.end()));
            if width > 0 && first <= last {
                let held = held_within(width, first, last);
                let own = assigned_node(width);
                let pieces = pieces(first, last, &held)
                    .filter(|&(from, to)| Some(from) != own || from != to);
                tasks.extend(pieces.map(|piece| (width, Some(piece))));
            }
        }
    }
    tasks
}

/// Returns the node that is assigned to this server, once it was leased.
pub fn assigned_node(width: u32) -> Option<u64> {
    let slot = leases::any_slot(width).filter(|_| settings::is_assigned());
    slot.map(LeaseSlot::first)
}

/// Returns the nodes of the leases that are held of nodes of a range.
fn held_within(width: u32, first: u64, last: u64) -> Vec<(u64, u64)> {
    let held = leases::usable_slots().filter(|slot| slot.width() == width && slot.id().is_some());
    let nodes = held.map(|slot| slot.nodes().into_inner());
    nodes
        .filter(|&(from, to)| first <= from && to <= last)
        .collect()
}

/// Returns the leases to request of a range, of which the registry grants what is free: those that are held, and what
/// lies between them.
fn pieces(first: u64, last: u64, held: &[(u64, u64)]) -> impl Iterator<Item = (u64, u64)> + use<> {
    let mut pieces = Vec::new();
    let mut next = first;
    for &(from, to) in held {
        if from < next {
            continue;
        }
        if next < from {
            pieces.push((next, from - 1));
        }
        pieces.push((from, to));
        next = to + 1;
    }
    if next <= last {
        pieces.push((next, last));
    }
    pieces.into_iter()
}

/// Returns the slot of a task's lease, once one was granted.
pub fn find_slot((width, wanted): Task) -> Option<&'static LeaseSlot> {
    match wanted {
        None => leases::any_slot(width),
        Some((first, last)) => leases::usable_slots()
            .find(|slot| slot.width() == width && slot.nodes() == (first..=last)),
    }
}

/// Describes a task in a message.
pub fn describe((width, wanted): Task) -> String {
    match wanted {
        None => format!("any node ({})", bits(width)),
        Some((first, last)) => describe_nodes(width, &first, &last),
    }
}
