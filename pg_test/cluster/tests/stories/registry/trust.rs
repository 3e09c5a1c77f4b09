//! As whom a member asks, and what it trusts: a registry that lies, and a foreign server that another role has made.

use mint_cluster::registry::members::{assert_refused, first_id, refused_for};
use mint_cluster::{Registry, Server, Session, or_skip};
use std::thread::sleep;
use std::time::Duration;

const NEXT: &str = "SELECT snowflake_next_id()";
const NOT_REQUESTED: &str = "of the registry is a lease that was not requested";
const INVALID: &str = "nvalid response from the registry";

/// Lies of a registry about the answer that it would give: what it changes, to what, and what the member says of that.
const LIES: [(&str, &str, &str); 7] = [
    ("{answer,lease,until}", "'4102444800000000'", NOT_REQUESTED),
    (
        "{answer,lease,from}",
        "to_jsonb((extract(epoch FROM clock_timestamp() + interval '1 h') * 1e6)::bigint)",
        NOT_REQUESTED,
    ),
    ("{answer,lease,node}", "'77'", NOT_REQUESTED),
    ("{answer,lease,node}", "'8192'", NOT_REQUESTED),
    ("{answer,lease,number}", "'1'", NOT_REQUESTED),
    ("{answer}", "'null'", INVALID),
    ("{protocol}", "'2'", INVALID),
];

/// Makes the registry change the part of its answers at a path.
fn lie(registry: &mut Session, path: &str, value: &str) {
    registry.run(&format!(
        "CREATE OR REPLACE FUNCTION mint.registry_request(request jsonb) RETURNS jsonb SECURITY DEFINER LANGUAGE sql
         AS $$ SELECT CASE WHEN answer -> 'answer' ? 'lease' THEN jsonb_set(answer, '{path}', {value}) ELSE answer END
               FROM mint.honest_request(request) AS answer $$;
         GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member"
    ));
}

#[test]
fn a_member_trusts_no_answer_that_a_registry_cannot_give() {
    let registry = or_skip!(Registry::start("a registry that lies"));
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut admin = registry.connect();
    let mut ids = vec![first_id(&ada, NEXT).0];
    let mut holder = ada.connect("postgres");
    // The registry's own function has another name from now on.
    admin.run(
        "ALTER EXTENSION pg_mint DROP FUNCTION mint.registry_request(jsonb);
         ALTER FUNCTION mint.registry_request(jsonb) RENAME TO honest_request",
    );
    for (path, value, words) in LIES {
        lie(&mut admin, path, value);
        let refusal = refused_for(&ben, NEXT, words);
        assert_refused(&refusal, words);
        let held = "SELECT count(node) FROM mint.leases";
        assert_eq!(ben.one::<i64>(held), 0, "{path} {value}");
    }
    // A renewal that is refused has neither lengthened nor ended the lease of the other member.
    let trouble = "SELECT coalesce(trouble, '') FROM mint.leases";
    ada.until("a renewal is refused", || {
        holder.one::<String>(trouble).contains("response")
    });
    let lease = "SELECT lease_until BETWEEN clock_timestamp() AND clock_timestamp() + '30 s' FROM mint.leases";
    assert!(holder.one::<bool>(lease), "the lease has changed");
    ids.push(holder.one(NEXT));
    lie(&mut admin, "{nothing}", "'1'");
    first_id(&ben, NEXT);
    ada.until("the lease is renewed", || {
        holder.one::<String>(trouble).is_empty()
    });
    ids.push(holder.one(NEXT));
    mint_cluster::assert_ascending(&ids);
}

/// The worker connects as the owner of the foreign server, under dblink's rules: a role that is not a superuser needs a password.
#[test]
fn a_member_connects_as_the_owner_of_the_foreign_server() {
    let builder = Server::build("an owner").conf("password_encryption = 'scram-sha-256'");
    let registry = or_skip!(Registry::start_with(builder));
    let ada = registry.auto("ada");
    ada.run(
        "CREATE ROLE bob LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO bob;
         ALTER SERVER registry RENAME TO other",
    );
    let mut bob = ada.connect_as("bob", "postgres");
    let place: String = bob.one(
        "SELECT substr(o, 6) FROM pg_foreign_server, unnest(srvoptions) AS o WHERE o LIKE 'host=%'",
    );
    // A superuser of the other server, which asks nobody for a password.
    bob.run(&format!(
        "CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '{place}', port '5432', dbname 'postgres');
         CREATE USER MAPPING FOR PUBLIC SERVER registry OPTIONS (user 'postgres')"
    ));
    let refusal = refused_for(&ada, NEXT, "password");
    refusal.assert_hint("Set a password in the user mapping");
    registry
        .connect()
        .run("ALTER ROLE member PASSWORD 'secret'");
    registry.server.require_password("member");
    bob.run(
        "DROP USER MAPPING FOR PUBLIC SERVER registry;
         CREATE USER MAPPING FOR bob SERVER registry OPTIONS (user 'member', password 'secret')",
    );
    first_id(&ada, NEXT);
    sleep(Duration::from_millis(100));
    let users: Vec<String> = registry.connect().column(
        "SELECT DISTINCT usename::text FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    assert_eq!(users, ["member"]);
}
