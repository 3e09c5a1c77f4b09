//! A cluster under Patroni, in the long form only: `make torture HA=1` has all faults.

use mint_cluster::patroni::cluster::{Cluster, Mode};
use mint_cluster::patroni::faults::{Fault, while_minting};
use mint_cluster::patroni::outages::Outages;
use mint_cluster::{or_skip, say, short_form};

#[test]
fn a_switchover_and_a_failover_repeat_no_id() {
    const STORY: &str = "a cluster under Patroni";
    if short_form() {
        say(format!("SKIPPED {STORY}: FULL=1 runs it"));
        return;
    }
    let cluster = or_skip!(Cluster::start(STORY, Mode::Auto));
    let mut outages = Outages::default();
    while_minting(&cluster, |survival| {
        for fault in [Fault::Switchover, Fault::PatroniAndPostmaster] {
            outages.add(fault, cluster.mode, survival.survive(fault));
        }
        say(format!(
            "{} ids, each once\n{outages}",
            survival.check.ids()
        ));
    });
}
