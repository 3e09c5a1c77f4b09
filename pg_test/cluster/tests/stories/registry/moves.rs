//! A member that is led to another registry, by its foreign server rather than by its settings.

use super::shard;
use mint_cluster::load::sessions::assert_sound;
use mint_cluster::registry::members::{assert_refused, create_registry, first_id};
use mint_cluster::{Registry, Server};
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 1000)";

/// Leads a member's foreign server to another database of the registry's server.
fn lead_to(member: &Server, database: &str) {
    member.connect("postgres").run(&format!(
        "ALTER SERVER registry OPTIONS (SET dbname '{database}')"
    ));
}

/// The first registry grants leases of a minute, and the second one of five seconds. What is left of the long lease is
/// not added to the short one: once that ends, another member has the node.
#[test]
fn a_lease_is_not_merged_with_that_of_another_registry() {
    let Some(registry) = Registry::start("two registries", 60) else {
        return;
    };
    registry.server.create_database("second");
    let mut second = registry.server.connect("second");
    create_registry(&mut second, 5);
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = session.column(MANY);
    assert_eq!(shard(&mut session, ids[0]), 8191);

    // Noticed at once, and not at half of the lease.
    let begun = Instant::now();
    lead_to(&ada, "second");
    ada.until("the second registry grants", || {
        second
            .one("SELECT EXISTS (SELECT FROM mint_registry.nodes WHERE held AND first_node = 8191)")
    });
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    ids.extend(ada.until_minted(|| session.try_column::<i64>(MANY)));
    // The second registry hears no more of it.
    lead_to(&ada, "nowhere");
    let ben = registry.fixed("ben", "8191");
    lead_to(&ben, "second");
    let (id, after) = first_id(&ben, "SELECT snowflake_next_id(8191)");
    let mut bens: Vec<i64> = ben
        .connect("postgres")
        .column("SELECT snowflake_next_id(8191) FROM generate_series(1, 1000)");
    bens.push(id);
    assert_refused(&session.refusal(NEXT), "nowhere");
    bens.sort_unstable();
    assert!(after < Duration::from_secs(15), "{after:?}");
    assert_sound(&[ids, bens]);
}

/// A changed address or user of the same registry changes no lease.
#[test]
fn a_lease_outlasts_a_change_of_how_its_registry_is_reached() {
    let Some(registry) = Registry::start("another way", 60) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT)];
    let renewals = "SELECT renewals FROM mint.leases";
    for (change, renewed) in [
        ("ALTER SERVER registry OPTIONS (SET connect_timeout '4')", 1),
        (
            "ALTER USER MAPPING FOR postgres SERVER registry OPTIONS (SET user 'second')",
            2,
        ),
    ] {
        registry.connect().run(
            "DO $$ BEGIN CREATE ROLE second LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
             GRANT INSERT ON mint_registry.nodes TO second",
        );
        session.run(change);
        let begun = Instant::now();
        ada.until("the lease is renewed", || {
            ids.push(session.one(NEXT));
            session.one::<i64>(renewals) == renewed
        });
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{:?}",
            begun.elapsed()
        );
    }
    assert_sound(&[ids]);
}
