//! A registry and its members under load and under every fault, in a random order. `MINT_FAULTS=Orphan,Moved` takes only
//! these, by their names in the code (`registry/registry_faults.rs`, `registry/member_faults.rs`).

use mint_cluster::registry::fleet::Fleet;
use mint_cluster::registry::gaps::Gaps;
use mint_cluster::registry::survival::{Fault, survive};
use mint_cluster::{Registry, Rng, count, say, short_form};

/// How many faults the short form takes, at random.
const SHORT: usize = 16;

#[test]
fn no_fault_mints_an_id_twice() {
    let mut rng = Rng::from_environment();
    let mut faults: Vec<Fault> = Fault::all().into_iter().collect();
    rng.shuffle(&mut faults);
    faults.truncate(count(faults.len(), SHORT));
    assert!(!faults.is_empty(), "MINT_FAULTS names no fault");
    let has_operator: Vec<bool> = faults
        .iter()
        .map(|_| short_form() || rng.below(2) == 0)
        .collect();
    let Some(registry) = Registry::start("faults of a registry", 5) else {
        return;
    };
    let mut fleet = Fleet::start(registry, count(6, 3), rng);
    let clients = fleet.clients();
    let mut gaps = Gaps::default();
    let answers = clients.while_minting(|| {
        for (number, (&fault, has_operator)) in faults.iter().zip(has_operator).enumerate() {
            let survived = survive(&mut fleet, fault, &clients, has_operator);
            let (number, all) = (number + 1, faults.len());
            say(format!(
                "{number}/{all} {fault}: the longest wait of a client was {:.1} s",
                survived.gap().as_secs_f64()
            ));
            gaps.add(fault, &survived);
        }
    });
    for (times, first) in answers.refusals.values() {
        say(format!("{times} errors like: {first}"));
    }
    let ids = fleet.assert_sound(&answers);
    say(format!("{ids} ids, each once\n{gaps}"));
}
