//! As whom a member asks, and what it trusts: a registry that lies, and a foreign server that another role has made.

use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, say};

const NEXT: &str = "SELECT snowflake_next_id()";

/// Lies of a registry about the answer that it would give: what it changes, to what, and what the member says of that.
const LIES: [(&str, &str, &str); 9] = [
    (
        "{length}",
        "'3600000000'",
        "length of leases must be between",
    ),
    ("{length}", "'0'", "length of leases must be between"),
    (
        "{lease,until}", "'4102444800000000'", "the lease is too long",
    ),
    (
        "{lease,from}",
        "to_jsonb((extract(epoch FROM clock_timestamp() + interval '1 h') * 1e6)::bigint)",
        "the lease begins in the future",
    ),
    (
        "{lease,from}",
        "'0'",
        "the lease began before it was requested",
    ),
    ("{lease}", "'null'", "it has no lease"),
    ("{nodes}", "'[77, 78]'", "did not request"),
    ("{nodes}", "'[8192, 8192]'", "did not request"),
    (
        "{seen,system}",
        "'1'",
        "the registry changed without a new history",
    ),
];

/// Makes the registry change the part of its answers at a path.
fn lie(registry: &mut Session, path: &str, value: &str) {
    registry.run(&format!(
        "CREATE OR REPLACE FUNCTION mint.registry_request(request jsonb) RETURNS jsonb SECURITY DEFINER LANGUAGE sql
         AS $$ SELECT CASE WHEN request ->> 'request' = 'lease' AND answer ->> 'denial' IS NULL
                   THEN jsonb_set(answer, '{path}', {value}) ELSE answer END
               FROM mint.honest_request(request) AS answer $$"
    ));
}

/// The registry's own function has another name from now on.
fn corrupt(registry: &mut Session) {
    registry.run("ALTER FUNCTION mint.registry_request(jsonb) RENAME TO honest_request");
}

#[test]
fn a_member_trusts_no_answer_beyond_the_bounds_of_the_protocol() {
    let Some(registry) = Registry::start("a registry that lies", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut admin = registry.connect();
    let mut holder = ada.connect("postgres");
    holder.one::<i64>(NEXT);
    // One that has seen the registry, and has no lease.
    let mut other = ben.connect("postgres");
    other.one::<i64>(NEXT);
    other.one::<i64>("SELECT mint.release_leases()");
    corrupt(&mut admin);
    for (path, value, words) in LIES {
        lie(&mut admin, path, value);
        let refusal = ben.until_minted(|| match other.try_one::<i64>(NEXT) {
            Ok(id) => panic!("{path} {value}: the member mints {id}"),
            // The registry can have been left alone for a while.
            Err(refusal) if refusal.detail.contains(words) => Ok(refusal),
            Err(refusal) => Err(refusal),
        });
        say(format!("{path} {value}: {}", refusal.detail));
        assert_refused(&refusal, "response of the registry was refused");
        let held: i64 = other.one("SELECT count(*) FROM mint.leases WHERE held");
        assert_eq!(held, 0, "{path} {value}");
    }
    // What was refused has neither lengthened nor ended the lease of the other member.
    let lease =
        "SELECT max(lease_until) < now() + interval '6 s' AND bool_or(held) FROM mint.leases";
    assert!(holder.one::<bool>(lease), "the lease has changed");
    lie(&mut admin, "{nothing}", "'1'");
    first_id(&ada, NEXT);
    first_id(&ben, NEXT);
}

/// A renewal that is refused leaves the lease as it was.
#[test]
fn a_renewal_beyond_the_bounds_leaves_the_lease_as_it_was() {
    let Some(registry) = Registry::start("a renewal that lies", 10) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    session.one::<i64>(NEXT);
    let mut admin = registry.connect();
    corrupt(&mut admin);
    lie(&mut admin, "{lease,until}", "'4102444800000000'");
    let until = "SELECT lease_until::text FROM mint.leases";
    let before: String = session.one(until);
    ada.until("a renewal is refused", || {
        let trouble: Option<String> = session.one("SELECT trouble FROM mint.leases");
        trouble.is_some_and(|trouble| trouble.contains("the lease is too long"))
    });
    assert_eq!(session.one::<String>(until), before);
    assert!(session.one::<bool>("SELECT held FROM mint.leases"));
    lie(&mut admin, "{nothing}", "'1'");
    ada.until("the lease is renewed", || {
        session.one::<String>(until) > before
    });
}

/// The worker connects as the owner of the foreign server, under dblink's rules: a role that is not a superuser needs a password.
#[test]
fn a_member_connects_as_the_owner_of_the_foreign_server() {
    let builder = Server::build("an owner").conf("password_encryption = 'scram-sha-256'");
    let Some(registry) = Registry::start_with(builder, 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    session.run(
        "CREATE ROLE bob LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO bob;
         ALTER SERVER registry RENAME TO other",
    );
    let mut bob = ada.connect_as("bob", "postgres");
    let place: String = session.one("SELECT option_value FROM information_schema.foreign_server_options WHERE option_name = 'host'");
    // A superuser of the other server, which asks nobody for a password.
    bob.run(&format!(
        "CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '{place}', port '5432', dbname 'postgres');
         CREATE USER MAPPING FOR PUBLIC SERVER registry OPTIONS (user 'postgres')"
    ));
    assert_refused(&bob.refusal(NEXT), "password");
    // The role that is set is a superuser: the owner of the server may not lead it anywhere.
    session.set_for_server("pg_mint.registry_role", "'postgres'");
    assert_refused(&bob.refusal(NEXT), "must be a superuser");
    session.set_for_server("pg_mint.registry_role", "'nobody'");
    assert_refused(&bob.refusal(NEXT), "role \"nobody\" does not exist");
    session.set_for_server("pg_mint.registry_role", "''");
    registry
        .connect()
        .run("ALTER ROLE member PASSWORD 'secret'");
    registry.server.require_password("member");
    bob.run(
        "DROP USER MAPPING FOR PUBLIC SERVER registry;
         CREATE USER MAPPING FOR bob SERVER registry OPTIONS (user 'member', password 'secret')",
    );
    first_id(&ada, NEXT);
    let users: Vec<String> = registry.connect().column(
        "SELECT DISTINCT usename::text FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    assert_eq!(users, ["member"]);
}
