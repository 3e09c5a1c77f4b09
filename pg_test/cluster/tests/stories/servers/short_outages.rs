//! Outages of a registry that no session notices.

use mint_cluster::{Registry, assert_unique};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 100)";

/// The registry is away for almost half a lease, and comes back from an old copy of its files. In quarantine it renews all
/// leases, so each statement gets ids, until longer after that than a lease.
#[test]
fn an_outage_of_half_a_lease_is_not_noticed() {
    let Some(mut registry) = Registry::start("a short outage", 10) else {
        return;
    };
    let members = ["ada", "ben"].map(|name| registry.auto(name));
    let mut sessions = members.each_ref().map(|member| member.connect("postgres"));
    let copy = registry.server.copied("an old copy");
    let mut ids: Vec<Vec<i64>> = vec![Vec::new(), Vec::new()];
    let mut mint_for = |time: Duration| {
        let begun = Instant::now();
        while begun.elapsed() < time {
            for (session, ids) in sessions.iter_mut().zip(&mut ids) {
                ids.extend(session.column::<i64>(MANY));
            }
            sleep(Duration::from_millis(50));
        }
    };
    // The first leases, and a renewal.
    mint_for(registry.lease / 2);
    registry.server.stop_immediate();
    mint_for(registry.lease * 4 / 10);
    copy.start_again();
    registry.move_to(copy);
    mint_for(registry.lease * 3 / 2);
    assert!(
        registry
            .connect()
            .one::<bool>("SELECT quarantine > clock_timestamp() FROM mint_registry.registry")
    );
    assert_unique(&ids);
}
