//! A registry and its members under load and under every fault, in a random order. `MINT_FAULTS=Orphan,Moved` takes only
//! these, by their names in the code (`registry/registry_faults.rs`, `registry/member_faults.rs`).

use mint_cluster::registry::fleet::Fleet;
use mint_cluster::registry::gaps::Gaps;
use mint_cluster::registry::survival::{Fault, survive};
use mint_cluster::{Registry, Rng, count, or_skip, say};

/// The number of faults that the short form takes, at random.
const SHORT: usize = 6;

#[test]
fn no_fault_mints_an_id_twice() {
    let mut rng = Rng::from_environment();
    let mut faults: Vec<Fault> = Fault::all().into_iter().collect();
    rng.shuffle(&mut faults);
    faults.truncate(count(faults.len(), SHORT));
    assert!(!faults.is_empty(), "MINT_FAULTS names no fault");
    let registry = or_skip!(Registry::start("faults of a registry"));
    let mut fleet = Fleet::start(registry, count(6, 3), rng);
    let clients = fleet.clients();
    let mut gaps = Gaps::default();
    let answers = clients.while_minting(|| {
        for (number, &fault) in faults.iter().enumerate() {
            let gap = survive(&mut fleet, fault, &clients);
            let (number, all) = (number + 1, faults.len());
            say(format!(
                "{number}/{all} {fault}: the longest wait of a client was {:.1} s",
                gap.as_secs_f64()
            ));
            gaps.add(fault, gap);
        }
    });
    for (times, first) in answers.refusals.values() {
        say(format!("{times} errors like: {first}"));
    }
    let ids = fleet.assert_sound(&answers);
    say(format!("{ids} ids, each once\n{gaps}"));
}
