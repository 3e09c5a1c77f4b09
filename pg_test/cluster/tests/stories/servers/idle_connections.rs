//! The connection of a member to its registry is idle between renewals. A firewall that forgets it costs no lease.

use mint_cluster::registry::members::{LEASE, first_id};
use mint_cluster::registry::proxy::Proxy;
use mint_cluster::{Registry, Server, Session, count, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";

/// Starts a registry, and a member that reaches it by a proxy.
fn start(story: &str) -> Option<(Registry, Proxy, Server)> {
    let registry = Registry::start(story)?;
    let proxy = Proxy::start(registry.socket());
    let member = registry.auto("ada");
    proxy.lead(&member);
    Some((registry, proxy, member))
}

fn last_renewal(session: &mut Session) -> String {
    session.one("SELECT max(renewed)::text FROM mint.leases")
}

#[test]
fn a_connection_that_a_firewall_forgets_costs_no_lease() {
    let (_registry, proxy, member) = or_skip!(start("a forgotten connection"));
    first_id(&member, NEXT);
    let mut session = member.connect("postgres");
    let rounds = count(3, 1);
    for _ in 0..rounds {
        let before = last_renewal(&mut session);
        let connections = proxy.count_accepted();
        proxy.silence();
        // Each id is of a lease that lasts.
        let begun = Instant::now();
        while last_renewal(&mut session) == before {
            session.one::<i64>(NEXT);
            assert!(begun.elapsed() < LEASE, "not renewed");
            sleep(Duration::from_millis(100));
        }
        assert!(
            proxy.count_accepted() > connections,
            "renewed by a connection that was forgotten"
        );
    }
    // A request on a connection that is dead continues with a new one: the registry was never silent.
    let log = member.log();
    let words = "foreign server \"registry\" did not respond";
    assert!(!log.contains(words), "{log}");
}

/// The options that the documents recommend for a network with a firewall.
const OPTIONS: &str =
    "keepalives_idle '5', keepalives_interval '2', keepalives_count '2', tcp_user_timeout '2000'";

#[test]
fn the_recommended_keepalives_are_those_of_the_connection() {
    let documents = include_str!("../../../../../docs/guides/operate-a-registry.md");
    assert!(
        documents.contains(OPTIONS),
        "docs/guides/operate-a-registry.md has other options"
    );
    let (_registry, proxy, member) = or_skip!(start("keepalives"));
    first_id(&member, NEXT);
    let mut session = member.connect("postgres");
    // libpq's own: the kernel's, of two hours.
    let before = keepalive_timer(&proxy).expect("a connection");
    assert!(before > Duration::from_secs(60), "{before:?}");
    let connections = proxy.count_accepted();
    session.run(&format!("ALTER SERVER registry OPTIONS ({OPTIONS})"));
    member.until("the worker connects anew", || {
        proxy.count_accepted() > connections
    });
    let mut after = None;
    member.until("the new connection has a timer", || {
        after = keepalive_timer(&proxy);
        after.is_some()
    });
    assert!(after <= Some(Duration::from_secs(5)), "{after:?}");
    session.one::<i64>(NEXT);
}

/// Returns in what time the kernel sends the next keepalive to the proxy.
fn keepalive_timer(proxy: &Proxy) -> Option<Duration> {
    /// A timer that is a keepalive.
    const KEEPALIVE: &str = "02";
    const TICKS: u64 = 100;
    let all = std::fs::read_to_string("/proc/net/tcp").expect("/proc/net/tcp");
    let to = format!(":{:04X}", proxy.port());
    let timers = all.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (remote, timer) = (fields.get(2)?, fields.get(5)?);
        let (kind, left) = timer.split_once(':')?;
        let left = u64::from_str_radix(left, 16).ok()?;
        (remote.ends_with(&to) && kind == KEEPALIVE)
            .then(|| Duration::from_millis(left * 1_000 / TICKS))
    });
    timers.min()
}
