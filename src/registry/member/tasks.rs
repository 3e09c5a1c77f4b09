//! The leases that the worker has to see to.

use crate::registry::identity::{bits, describe_nodes};
use crate::registry::member::leases;
use crate::registry::member::slot::LeaseSlot;
use crate::registry::settings;

/// A lease that is wanted: the width, and the first and the last node; without these, any one node.
pub type Task = (u32, Option<(u64, u64)>);

/// Returns the leases that are wanted for the widths that sessions need: by number, and with any node.
pub fn tasks(widths: u64, any_widths: u64) -> Vec<Task> {
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
                tasks.push((width, Some((first, last))));
            }
        }
    }
    tasks
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
