//! A registry and its members under load, while whatever can happen does, in an order by chance.

use mint_cluster::registry::fleet::{Blow, Chance, Fleet};
use mint_cluster::{Registry, assert_unique, count, say};
use std::time::Duration;

/// The longest time after which all mint again: a slice that has to pass, twice after a quarantine, and connections
/// that are waited for.
const LIMIT: Duration = Duration::from_secs(15);

#[test]
fn whatever_happens_no_id_is_minted_twice() {
    let mut chance = Chance::new();
    say(format!("{chance}"));
    let mut blows: Vec<Blow> = Vec::new();
    for _ in 0..count(2, 1) {
        let mut all = Blow::ALL;
        chance.shuffle(&mut all);
        blows.extend(all);
    }
    let Some(registry) = Registry::start("whatever happens", 3) else {
        return;
    };
    let Some(mut fleet) = Fleet::start(registry, count(5, 3), chance) else {
        return;
    };
    let crowd = fleet.crowd();
    let harvest = crowd.while_minting(|| {
        for (number, blow) in blows.iter().enumerate() {
            let silence = fleet.survive(*blow, &crowd, LIMIT);
            let (number, all) = (number + 1, blows.len());
            say(format!(
                "{number}/{all} {blow:?}: no client waited for longer than {:.1} s",
                silence.as_secs_f64()
            ));
        }
    });
    let ids: usize = harvest.ids.iter().map(Vec::len).sum();
    say(format!("{ids} ids, each once"));
    for (code, (times, first)) in &harvest.refusals {
        say(format!("{times} refusals like {first}"));
        // No slice, or a clock that is wrong.
        assert!(["55000", "58000"].contains(&code.as_str()), "{first}");
    }
    assert_unique(&harvest.ids);
}
