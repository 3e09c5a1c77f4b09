//! What the worker that asks the registry has to see to.

use crate::registry::member::leases;
use crate::registry::member::slot::Hold;
use crate::registry::settings;

/// What is to be claimed: nodes of a width by their numbers, or any one.
pub type Task = (u32, Option<(u64, u64)>);

/// What is to be claimed of the widths that sessions need.
pub fn tasks(widths: u64, autos: u64) -> Vec<Task> {
    let each = |bits: u64| (0..u64::BITS).filter(move |width| bits >> width & 1 == 1);
    let mut tasks: Vec<Task> = each(autos).map(|width| (width, None)).collect();
    for width in each(widths) {
        let most = (1 << width) - 1;
        if width == 0 {
            // Without a node there is nothing to name.
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

/// Where the lease of a task is, once it was granted.
pub fn slot((width, wanted): Task) -> Option<&'static Hold> {
    match wanted {
        None => leases::auto(width),
        Some((first, last)) => {
            leases::usable().find(|hold| hold.width() == width && hold.nodes() == (first..=last))
        }
    }
}

/// A task in words.
pub fn describe((width, wanted): Task) -> String {
    match wanted {
        None => format!("any node of {width} bits"),
        Some((first, last)) if first == last => format!("node {first} of {width} bits"),
        Some((first, last)) => format!("nodes {first} to {last} of {width} bits"),
    }
}
