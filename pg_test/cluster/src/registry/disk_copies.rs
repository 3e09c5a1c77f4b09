//! Copies of the disks of assigned members that must mint nothing.

use crate::load::clients::Clients;
use crate::registry::fleet::{ANY, Fleet};
use crate::server::machine::namespaces::are_permitted;
use crate::server::process::Server;
use std::thread::sleep;

/// Runs a copy beside each member while the registry restarts, up to a lease after that.
pub(super) fn restart_registry(fleet: &mut Fleet, numbers: &[usize], clients: &Clients) {
    for &number in numbers {
        let twin = fleet.members[number].twin("a copy of a disk");
        twin.start_again();
        let (group, since) = admit(fleet, &twin, number, clients);
        sleep(fleet.registry.lease / 2);
        fleet.registry.server.restart();
        sleep(fleet.registry.lease);
        dismiss(fleet, twin, (group, since), clients);
    }
}

/// Runs a copy beside each member that cannot reach the registry, and may not mint without it.
pub(super) fn run_cut_off(fleet: &mut Fleet, numbers: &[usize], clients: &Clients) {
    for &number in numbers {
        let mut twin = fleet.members[number].twin("a copy of a disk");
        twin.configure("pg_mint.registry_max_outage = '0'");
        if !twin.has_disk() || !are_permitted("a copy without a network") {
            continue;
        }
        twin.isolate(true);
        twin.start_again();
        let (group, since) = admit(fleet, &twin, number, clients);
        sleep(fleet.registry.lease);
        dismiss(fleet, twin, (group, since), clients);
    }
}

/// Lets clients ask a copy.
fn admit(fleet: &Fleet, twin: &Server, number: usize, clients: &Clients) -> (usize, u64) {
    let group = fleet.guests_of(number);
    (group, clients.lead(group, &twin.place()))
}

/// Stops a copy, which has minted nothing with its node.
#[track_caller]
fn dismiss(fleet: &mut Fleet, twin: Server, (group, since): (usize, u64), clients: &Clients) {
    for client in 0..ANY.len() {
        let has_minted = clients.has_minted(group, client, since);
        assert!(!has_minted, "the copy mints:\n{}", twin.log());
    }
    twin.stop_immediate();
    fleet.gone.push(twin);
}
