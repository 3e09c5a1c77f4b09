//! Attacks on the remote side of a request, and by the foreign server that leads there.

use super::planted_objects::assert_untouched;
use mint_cluster::registry::members::{AUTO, assert_refused, end_wait, first_id};
use mint_cluster::{Registry, Server, or_skip, say};

/// Returns SQL for an attacker's function that answers in place of the registry.
fn answer(schema: &str, argument: &str) -> String {
    format!(
        r#"CREATE FUNCTION {schema}.registry_request({argument}) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
             RAISE WARNING 'TRAP registry as %', current_user;
             RETURN '{{"protocol": 1, "answer": {{"lease": {{"node": 5000, "number": 1, "from": 0, "until": 4102444800000000}}}}}}';
         END $$;"#
    )
}

/// The argument's type of a request as the registry's function has it, and as an untyped literal would be read.
const REQUESTS: [&str; 2] = ["jsonb", "text"];

/// `"$user"` comes first in a search path, and any role that may create in the registry's database can create that schema.
#[test]
fn no_other_function_answers_for_the_registry() {
    let registry = or_skip!(Registry::start("a false registry"));
    let mut session = registry.connect();
    session.run(
        "CREATE ROLE carol LOGIN; GRANT CREATE ON DATABASE postgres TO carol; GRANT CREATE ON SCHEMA public TO carol",
    );
    let mut carol = registry.server.connect_as("carol", "postgres");
    carol.run("CREATE SCHEMA member; GRANT USAGE ON SCHEMA member TO public");
    for question in REQUESTS {
        carol.run(&answer("member", question));
    }
    // Beside the registry's own function, too.
    carol.run(&answer("public", REQUESTS[1]));
    session.run("ALTER ROLE member SET search_path = member, public, pg_catalog");
    let ada = registry.auto("ada");
    let (id, _) = first_id(&ada, "SELECT snowflake_next_id()");
    let shard: i32 = session.one(&format!("SELECT snowflake_shard({id})"));
    let node: i64 = session.one("SELECT node FROM mint.registry_leases");
    assert_eq!(node, shard.into());
    ada.run("SELECT mint.release_leases()");
    assert_untouched(&registry.server, "requesting and releasing");
}

/// The same for segments: functions, operators and casts on the remote side.
#[test]
fn no_other_function_answers_for_the_source_of_a_sequence() {
    let central = or_skip!(Registry::start("a false source"));
    let mut session = central.connect();
    session.run(
        "CREATE ROLE carol LOGIN; GRANT CREATE ON DATABASE postgres TO carol;
         SELECT segment_create('orders', step => 1000, start => 5); GRANT USAGE ON SEQUENCE orders TO member",
    );
    let mut carol = central.server.connect_as("carol", "postgres");
    carol.run(
        "CREATE SCHEMA member; GRANT USAGE ON SCHEMA member TO public;
         CREATE FUNCTION member.trap(what text) RETURNS boolean LANGUAGE plpgsql AS $$
             BEGIN RAISE WARNING 'TRAP % as %', what, current_user; RETURN true; END $$;
         CREATE FUNCTION member.segment_request(regclass, bigint, bigint, OUT first bigint, OUT last bigint, OUT step bigint, OUT cycle boolean)
             LANGUAGE plpgsql AS $$
             BEGIN PERFORM member.trap('source'); first := 1; last := 1999; step := 1; cycle := false; END $$;
         CREATE FUNCTION member.pg_current_xact_id() RETURNS xid8 LANGUAGE plpgsql AS $$
             BEGIN PERFORM member.trap('xid'); RETURN pg_catalog.pg_current_xact_id(); END $$",
    );
    session.run("ALTER ROLE member SET search_path = member, public, pg_catalog");
    let ada = central.admit(Server::build("ada"));
    ada.run("SELECT segment_create('orders', step => 1000, source => 'registry', source_sequence => 'public.orders')");
    let (first, _) = first_id(&ada, "SELECT segment_next('orders')");
    assert_eq!(first, 5);
    assert_untouched(&central.server, "drawing");
}

/// The worker acts as the owner of a foreign server. dblink requires a password of an ordinary role, so peer authentication
/// as the server's own system user is out of its reach.
#[test]
fn a_foreign_server_of_an_ordinary_role_is_not_followed() {
    let builder = Server::build("a deputy")
        .conf(AUTO)
        .conf("pg_mint.registry = 'registry'");
    let server = builder.with_clock().start();
    let mut session = server.connect("postgres");
    if session.try_run("CREATE EXTENSION dblink").is_err() {
        say("SKIPPED a deputy: this server tree has no dblink");
        return;
    }
    session.run(
        "CREATE ROLE bob LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO bob;
         GRANT CREATE ON DATABASE postgres TO bob",
    );
    let mut bob = server.connect_as("bob", "postgres");
    bob.run("CREATE SCHEMA evil");
    for question in REQUESTS {
        bob.run(&answer("evil", question));
    }
    bob.run(&format!(
        "CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw
             OPTIONS (host '{}', port '5432', dbname 'postgres', options '-csearch_path=evil');
         CREATE USER MAPPING FOR PUBLIC SERVER registry OPTIONS (user 'postgres')",
        server.socket().display()
    ));
    let next = "SELECT snowflake_next_id()";
    let refusal = session.refusal(next);
    assert_untouched(&server, "the first question");
    assert_refused(&refusal, "Non-superusers must provide a password");
    // The worker that fetches segments acts as the owner of the sequence, here a superuser, who does not go where another
    // role leads.
    session.run("SELECT segment_create('orders', source => 'registry')");
    let refusal = session.refusal("SELECT segment_next('orders')");
    assert_refused(
        &refusal,
        "owner of foreign server \"registry\" must be a superuser",
    );
    // A superuser's own foreign server is used.
    session.run("ALTER SERVER registry OWNER TO postgres");
    session.run("SELECT mint.registry_create()");
    end_wait(&server, &mut session);
    first_id(&server, next);
    assert_untouched(&server, "after that");
}
