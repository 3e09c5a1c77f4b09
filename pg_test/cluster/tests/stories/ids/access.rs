//! Privileges to install and monitor the extension, and its use beside other extensions.

use mint_cluster::{Server, say};

fn create_owned_databases(server: &Server, names: &[&str]) {
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE owner LOGIN");
    for name in names {
        session.run(&format!("CREATE DATABASE {name} OWNER owner"));
    }
}

/// The owner of a database can install the extension without being a superuser.
#[test]
fn an_owner_installs_the_extension() {
    let server = Server::build("an owner").start_empty();
    create_owned_databases(&server, &["shop"]);
    let mut owner = server.connect_as("owner", "shop");
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

/// An owner's dump and restore need no superuser.
#[test]
fn an_owner_dumps_and_restores() {
    let server = Server::build("dump and restore").start_empty();
    create_owned_databases(&server, &["shop", "copy"]);
    let mut owner = server.connect_as("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint; CREATE TABLE item (id bigint DEFAULT snowflake_next_id(5), layout snowflake_layout DEFAULT 'twitter', n int)");
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 100)");
    let dump = server.dump("owner", "shop");
    server.restore("owner", "copy", &dump);
    let mut copy = server.connect_as("owner", "copy");
    copy.run("INSERT INTO item (n) SELECT generate_series(101, 200)");
    assert_eq!(copy.one::<i64>("SELECT count(DISTINCT id) FROM item"), 200);
    assert_eq!(
        copy.column::<bool>("SELECT id > lag(id, 1, 0::bigint) OVER (ORDER BY n) FROM item"),
        vec![true; 200]
    );
}

#[test]
fn it_works_beside_other_id_extensions() {
    let server = Server::build("neighbors").start_empty();
    let mut session = server.connect("postgres");
    let all = ["uuid-ossp", "pgcrypto"];
    let there: Vec<String> = session.column("SELECT name::text FROM pg_available_extensions");
    for missing in all
        .iter()
        .filter(|name| !there.iter().any(|other| other == *name))
    {
        say(format!(
            "SKIPPED: contrib module {missing} is not in this server tree"
        ));
    }
    let create = |name: &&str| format!("CREATE EXTENSION \"{name}\"");
    let others: Vec<String> = all
        .iter()
        .filter(|name| there.iter().any(|other| other == *name))
        .map(create)
        .collect();
    // Created in either order, in schema public.
    for other in &others {
        session.run(other);
    }
    session.run("CREATE EXTENSION pg_mint");
    session.run("DROP EXTENSION pg_mint");
    for name in all {
        session.run(&format!("DROP EXTENSION IF EXISTS \"{name}\""));
    }
    session.run("CREATE EXTENSION pg_mint");
    for other in &others {
        session.run(other);
    }
    assert!(session.one::<i64>("SELECT snowflake_next_id(5)") > 0);
    session.run("SELECT uuid_v1(), uuid_v4(), uuid_v7(), objectid()");
    // UUIDs of names are the same in both.
    if others.iter().any(|other| other.contains("uuid-ossp")) {
        for (ours, theirs) in [
            ("uuid_v3('dns', n)", "uuid_generate_v3(uuid_ns_dns(), n)"),
            ("uuid_v5('url', n)", "uuid_generate_v5(uuid_ns_url(), n)"),
            ("uuid_v5('oid', n)", "uuid_generate_v5(uuid_ns_oid(), n)"),
            ("uuid_v3('x500', n)", "uuid_generate_v3(uuid_ns_x500(), n)"),
            ("uuid_nil_value()", "uuid_nil()"),
        ] {
            let names = "unnest(ARRAY['', 'www.widgets.com', 'Zürich', repeat('x', 5000)]) n";
            assert!(
                session.one::<bool>(&format!("SELECT bool_and({ours} = {theirs}) FROM {names}")),
                "{ours} is not {theirs}"
            );
        }
        // Each reads the UUIDs of the other.
        assert!(session.one::<bool>(
            "SELECT uuid_version_of(uuid_generate_v1()) = 1 AND uuid_version_of(uuid_generate_v4()) = 4
                AND abs(extract(epoch FROM uuid_time(uuid_generate_v1()) - clock_timestamp())) < 60"
        ));
    }
}

#[test]
fn monitors_see_the_lanes_and_others_do_not() {
    let server = Server::start("monitors");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE app LOGIN; CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher");
    let id: i64 = server
        .connect_as("app", "postgres")
        .one("SELECT snowflake_next_id(5, 'twitter')");

    let mut watcher = server.connect_as("watcher", "postgres");
    assert_eq!(
        watcher.one::<i64>("SELECT last_id FROM mint.lanes WHERE shard = 5"),
        id
    );
    assert!(watcher.one::<bool>("SELECT ahead < interval '3 s' FROM mint.lanes WHERE shard = 5"));

    let refusal = server
        .connect_as("app", "postgres")
        .refusal("SELECT * FROM mint.lanes");
    assert_eq!(refusal.code, "42501", "{refusal}");
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
