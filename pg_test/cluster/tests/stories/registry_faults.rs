//! A registry and its members under load and under every fault, in a random order.

use mint_cluster::registry::fleet::{Fault, Fleet};
use mint_cluster::{Registry, Rng, assert_unique, count, say};
use std::time::Duration;

/// The longest time after which all members must mint again: a few leases, and the timeouts of connections.
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn no_fault_mints_an_id_twice() {
    let mut rng = Rng::from_environment();
    let mut faults: Vec<Fault> = Vec::new();
    for _ in 0..count(2, 1) {
        let mut all = Fault::ALL;
        rng.shuffle(&mut all);
        faults.extend(all);
    }
    let Some(registry) = Registry::start("faults of a registry", 5) else {
        return;
    };
    let Some(mut fleet) = Fleet::start(registry, count(5, 3), rng) else {
        return;
    };
    let clients = fleet.clients();
    let answers = clients.while_minting(|| {
        for (number, fault) in faults.iter().enumerate() {
            let silence = fleet.survive(*fault, &clients, LIMIT);
            let (number, all) = (number + 1, faults.len());
            say(format!(
                "{number}/{all} {fault:?}: the longest wait of a client was {:.1} s",
                silence.as_secs_f64()
            ));
        }
    });
    let ids: usize = answers.ids.iter().map(Vec::len).sum();
    say(format!("{ids} ids, each once"));
    for (code, (times, first)) in &answers.refusals {
        say(format!("{times} errors like: {first}"));
        // No lease, or a wrong clock.
        assert!(["55000", "58000"].contains(&code.as_str()), "{first}");
    }
    assert_unique(&answers.ids);
}
