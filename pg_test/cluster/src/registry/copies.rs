//! Copies of members of a fleet that run beside them or take their places.

use crate::load::clients::Clients;
use crate::registry::fleet::{ANY, Fleet};
use crate::registry::kind::Kind;
use crate::server::process::Server;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Puts an old copy into the place of a member.
pub(super) fn replace(fleet: &mut Fleet, number: usize, clients: &Clients) {
    fleet.members[number].stop_immediate();
    let copy = &fleet.copies[number];
    copy.start_again();
    // Others can have been led to another registry meanwhile.
    copy.connect("postgres").run(&format!(
        "ALTER SERVER registry OPTIONS (SET dbname '{}')",
        fleet.registry.database
    ));
    clients.lead(number, &copy.place());
    let next = copy.twin("an old copy");
    fleet.members[number] = std::mem::replace(&mut fleet.copies[number], next);
    fleet.give_back(number);
}

/// Promotes standbys of members while these stand still, and lets both continue.
pub(super) fn promote(fleet: &mut Fleet, numbers: &[usize], clients: &Clients, stay: Duration) {
    let standbys: Vec<(usize, Server)> = numbers
        .iter()
        .map(|&number| {
            let member = &fleet.members[number];
            let standby = member.standby("a standby");
            member.wait_for(&standby);
            (number, standby)
        })
        .collect();
    let members = numbers.iter().map(|&number| &fleet.members[number]);
    let frozen: Vec<_> = members.map(Server::freeze).collect();
    standbys.iter().for_each(|(_, standby)| standby.promote());
    sleep(stay / 2);
    drop(frozen);
    run_beside(fleet, standbys, clients, stay);
}

/// Lets copies run beside their originals for a while, then stops one of each two at random.
pub(super) fn run_beside(
    fleet: &mut Fleet,
    guests: Vec<(usize, Server)>,
    clients: &Clients,
    stay: Duration,
) {
    for (number, guest) in &guests {
        let group = fleet.guests_of(*number);
        let since = clients.lead(group, &guest.place());
        if Kind::of(*number) == Kind::Auto {
            wait_for_ids(fleet, guest, (group, since), clients);
        }
    }
    sleep(stay);
    for (number, guest) in guests {
        if fleet.rng.below(2) == 0 {
            guest.stop_immediate();
            fleet.gone.push(guest);
        } else {
            let group = fleet.guests_of(number);
            fleet.members[number].stop_immediate();
            clients.lead(number, &guest.place());
            let gone = std::mem::replace(&mut fleet.members[number], guest);
            clients.lead(group, &gone.place());
            fleet.gone.push(gone);
            // It has heard that it is a copy.
            fleet.give_back(number);
        }
    }
    // Clients of the last ones can still ask them.
    let surplus = fleet.gone.len().saturating_sub(Kind::ALL.len());
    fleet.gone.drain(..surplus);
}

/// Waits until a copy mints with any node.
fn wait_for_ids(fleet: &Fleet, guest: &Server, (group, since): (usize, u64), clients: &Clients) {
    let deadline = Instant::now() + fleet.registry.longest_wait();
    while (0..ANY.len()).any(|client| !clients.has_minted(group, client, since)) {
        assert!(
            Instant::now() < deadline,
            "the copy does not mint:\n{}",
            guest.log()
        );
        sleep(Duration::from_millis(20));
    }
}
