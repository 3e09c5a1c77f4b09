//! Copies of members of a fleet that run beside them or take their places.

use crate::load::clients::Clients;
use crate::registry::fleet::{ANY, Fleet};
use crate::registry::members::{LEASE, WAIT};
use crate::server::process::Server;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Puts an old copy into the place of a member.
pub(super) fn replace(fleet: &mut Fleet, number: usize, clients: &Clients) {
    fleet.members[number].stop_immediate();
    let copy = &fleet.copies[number];
    copy.start_again();
    // Others can have been led to another registry meanwhile.
    copy.run(&format!(
        "ALTER SERVER registry OPTIONS (SET dbname '{}')",
        fleet.registry.database
    ));
    clients.lead(number, &copy.place());
    let next = copy.copied("an old copy");
    fleet.members[number] = std::mem::replace(&mut fleet.copies[number], next);
}

/// Promotes the standby of a member while this stands still, and lets both continue.
pub(super) fn promote(fleet: &mut Fleet, number: usize, clients: &Clients, stay: Duration) {
    let member = &fleet.members[number];
    let standby = member.standby("a standby");
    member.wait_for(&standby);
    let frozen = member.freeze();
    standby.promote();
    sleep(stay / 2);
    drop(frozen);
    run_beside(fleet, number, standby, clients, stay);
}

/// Lets a copy run beside its original for a while, then stops one of the two at random.
pub(super) fn run_beside(
    fleet: &mut Fleet,
    number: usize,
    guest: Server,
    clients: &Clients,
    stay: Duration,
) {
    let since = clients.lead(fleet.guests(), &guest.place());
    let deadline = Instant::now() + WAIT + LEASE;
    while (0..ANY.len()).any(|client| !clients.has_minted(fleet.guests(), client, since)) {
        let log = || guest.log();
        assert!(Instant::now() < deadline, "no id of the copy:\n{}", log());
        sleep(Duration::from_millis(20));
    }
    sleep(stay);
    if fleet.rng.below(2) == 0 {
        guest.stop_immediate();
        fleet.gone.push(guest);
    } else {
        fleet.members[number].stop_immediate();
        clients.lead(number, &guest.place());
        let gone = std::mem::replace(&mut fleet.members[number], guest);
        clients.lead(fleet.guests(), &gone.place());
        fleet.gone.push(gone);
    }
    // Clients of the last one can still ask it.
    let surplus = fleet.gone.len().saturating_sub(1);
    fleet.gone.drain(..surplus);
}
