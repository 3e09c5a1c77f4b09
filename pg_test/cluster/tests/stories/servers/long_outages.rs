//! A registry that is away for much longer than a lease: members say why they stop, ask for it quietly, and continue.

use mint_cluster::registry::members::{LEASE, first_id, refused_for};
use mint_cluster::registry::proxy::Proxy;
use mint_cluster::{Registry, Server, assert_ascending, assert_unique, count, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
/// The latest time after the wait at which a member mints.
const AGAIN: Duration = Duration::from_secs(10);

/// A member's history in the outage.
#[derive(Debug)]
struct Outage {
    /// The ids that it minted until its lease ended, and when that was.
    ids: Vec<i64>,
    minted: Duration,
    refused: usize,
    /// The numbers of connections to the registry that it has tried, and of lines that it has logged, less those of statements
    /// that were refused.
    connections: usize,
    lines: usize,
}

/// Mints until the registry is back, and asserts that there is one end to it, with the reason.
fn mint_through(member: &Server, proxy: &Proxy, begun: Instant, outage: Duration) -> Outage {
    let own_lines = || {
        let log = member.log();
        let own = |line: &&str| line.contains("LOG:") || line.contains("WARNING:");
        log.lines().filter(own).count()
    };
    let (connections, lines) = (proxy.count_accepted(), own_lines());
    let mut session = member.connect("postgres");
    let (mut ids, mut minted, mut refused) = (Vec::new(), Duration::ZERO, 0);
    while begun.elapsed() < outage {
        match session.try_one(NEXT) {
            Ok(id) => {
                assert_eq!(refused, 0, "{} minted after its lease", member.name());
                ids.push(id);
                minted = begun.elapsed();
            }
            Err(refusal) => {
                refused += 1;
                let starts = ["node lease ended at ", "could not obtain a node"];
                let is_for_want = starts
                    .iter()
                    .any(|start| refusal.message.starts_with(start));
                assert!(is_for_want, "{refusal}");
                refusal.assert_detail("ould not establish connection");
                assert_eq!(refusal.code, "55000", "{refusal}");
            }
        }
        sleep(Duration::from_millis(100));
    }
    Outage {
        ids,
        minted,
        refused,
        connections: proxy.count_accepted() - connections,
        lines: own_lines() - lines,
    }
}

#[test]
fn members_wait_for_a_registry_that_is_away_for_minutes() {
    let registry = or_skip!(Registry::start("away for minutes"));
    let outage = Duration::from_secs(count(300, 45));
    let members = ["ada", "ben"].map(|name| registry.auto(name));
    let proxies = [0, 1].map(|_| Proxy::start(registry.socket()));
    let mut ids: Vec<Vec<i64>> = Vec::new();
    for (member, proxy) in members.iter().zip(&proxies) {
        proxy.lead(member);
        ids.push(vec![first_id(member, NEXT).0]);
    }
    registry.server.stop_immediate();
    let begun = Instant::now();
    let outages: Vec<Outage> = std::thread::scope(|scope| {
        let all = members.iter().zip(&proxies);
        let threads: Vec<_> = all
            .map(|(member, proxy)| scope.spawn(move || mint_through(member, proxy, begun, outage)))
            .collect();
        let ends = threads.into_iter();
        ends.map(|thread| thread.join().expect("a member"))
            .collect()
    });
    for (outage_of, ids) in outages.iter().zip(&mut ids) {
        assert!(outage_of.refused > 0, "the outage had no effect");
        let most = LEASE + Duration::from_secs(2);
        assert!(outage_of.minted < most, "{:?}", outage_of.minted);
        // One a second, and some at once when the connection was lost.
        let limit = outage.as_secs() as usize * 5 / 4 + 5;
        assert!(outage_of.connections <= limit, "{outage_of:?}");
        assert!(outage_of.lines <= 10, "{outage_of:?}");
        ids.extend(&outage_of.ids);
    }
    registry.server.start_again();
    refused_for(&members[1], NEXT, "grants no new leases");
    registry.end_wait();
    for (member, ids) in members.iter().zip(&mut ids) {
        let (id, after) = first_id(member, NEXT);
        assert!(after < AGAIN, "{after:?}");
        ids.push(id);
        assert_ascending(ids);
    }
    assert_unique(&ids);
}
