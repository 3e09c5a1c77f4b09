//! Privileges to install the extension, and to set the node of a server.

use mint_cluster::Server;

/// The owner of a database can install the extension without being a superuser.
#[test]
fn an_owner_installs_the_extension() {
    let server = Server::build("an owner").start_empty();
    let mut owner = server.owned_database("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint");
    assert!(owner.one::<i64>("SELECT snowflake_next_id(5)") > 0);
    owner.run("DROP EXTENSION pg_mint");

    owner.run("CREATE SCHEMA ids; CREATE EXTENSION pg_mint SCHEMA ids");
    assert_eq!(
        owner.one::<i32>("SELECT ids.snowflake_shard(ids.snowflake_next_id(5))"),
        5
    );
    owner.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT ids.snowflake_next_id(5), n int)");
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
    // A caller with an empty search path, as in a hardened function.
    owner.run("SET search_path = ''");
    assert!(owner.one::<i64>("SELECT ids.snowflake_next_id(5)") > 0);
    let recent: i64 = owner.one(
        "SELECT count(*) FROM public.item WHERE ids.snowflake_between(id, now() - interval '1 minute', now() + interval '1 minute')",
    );
    assert_eq!(recent, 1000);
}

/// Only superusers set the node of a server: a session with another server's node would repeat its ids.
#[test]
fn the_node_of_a_server_is_its_superusers_choice() {
    let server = Server::start("node");
    server.run("CREATE ROLE app LOGIN");
    let mut app = server.connect_as("app", "postgres");
    let unset = app.refusal("SELECT snowflake_next_id()");
    unset.assert_hint("pg_mint.node");
    app.refused("SET pg_mint.node = 9", "42501");

    server.run("ALTER DATABASE postgres SET pg_mint.node = 9");
    let mut app = server.connect_as("app", "postgres");
    assert_eq!(
        app.one::<i32>("SELECT snowflake_shard(snowflake_next_id())"),
        9
    );
    assert_eq!(
        app.one::<i32>("SELECT snowflake_shard(snowflake_next('twitter'), 'twitter')"),
        9
    );
    let same: bool = app.one("SELECT snowflake_next_id() = snowflake_last_id()");
    assert!(same, "the last id of a session is not the one it just drew");
}
