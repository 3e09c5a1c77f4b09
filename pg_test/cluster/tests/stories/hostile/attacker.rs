//! A role that owns a database, and objects by which it would become a superuser.

use mint_cluster::{Server, Session};

/// Returns SQL for a function that logs its caller and makes `role` a superuser if it can.
pub(super) fn grab(schema: &str, role: &str) -> String {
    format!(
        "CREATE FUNCTION {schema}.grab() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
             IF current_user <> '{role}' THEN
                 RAISE WARNING 'TRAP grab as %', current_user;
                 EXECUTE 'ALTER ROLE {role} SUPERUSER';
             END IF;
         END $$;"
    )
}

/// Returns SQL for an operator `{schema}.{name}` with a function `{schema}.{function}` that attacks.
pub(super) fn operator(
    schema: &str,
    name: &str,
    function: &str,
    [left, right]: [&str; 2],
    result: &str,
) -> String {
    let [symbol, answer] = result.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{result}: not a value and its type");
    };
    format!(
        "CREATE FUNCTION {schema}.{function}({left}, {right}) RETURNS {answer} LANGUAGE plpgsql IMMUTABLE AS $$
             BEGIN PERFORM {schema}.grab(); RETURN {symbol}; END $$;
         CREATE OPERATOR {schema}.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {schema}.{function});"
    )
}

fn is_superuser(server: &Server, role: &str) -> bool {
    server.one(&format!(
        "SELECT rolsuper FROM pg_roles WHERE rolname = '{role}'"
    ))
}

/// Asserts that nothing of the attacker's has run as another role.
#[track_caller]
pub(super) fn assert_harmless(server: &Server, role: &str) {
    let log = server.log();
    let run: Vec<&str> = log.lines().filter(|line| line.contains("TRAP")).collect();
    assert!(run.is_empty(), "{} times: {}", run.len(), run[0]);
    assert!(!is_superuser(server, role), "{role} is a superuser");
}

/// Starts a server with a role that owns a database of its name and nothing else.
pub(super) fn owner(story: &str, role: &str) -> (Server, Session) {
    let server = Server::build(story)
        .conf("autovacuum_naptime = 1")
        .start_empty();
    let owner = server.owned_database(role, role);
    (server, owner)
}
