//! The script of a plan, run by roles that can do more than the owner of its tables: nothing that another role has written runs
//! in it as a superuser, nor in a table that has taken the place of the one of the plan.

use super::super::shop::UNTIL_SWAP;
use mint_cluster::{Server, Session};

const PLAN: &str = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
const REFUSED: &str = "cannot run the script as a superuser for tables of role \"alice\"";

/// A server with alice, who owns a table, and bob, who has put a trigger on it that looks for the privileges of a superuser. So
/// does a type of alice's, in the predicate of an index, which also says that alice is trusted.
fn start(story: &str) -> Server {
    let server = Server::start(story);
    server.connect("postgres").run(
        "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE chief LOGIN; CREATE ROLE clerk LOGIN; GRANT postgres TO chief; GRANT alice TO clerk;
         GRANT CREATE ON SCHEMA public TO alice, bob;
         CREATE FUNCTION spring() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
             EXECUTE 'RESET ROLE'; EXECUTE 'RESET SESSION AUTHORIZATION';
             IF pg_has_role(session_user, 'postgres', 'MEMBER') THEN EXECUTE 'SET ROLE postgres'; EXECUTE 'ALTER ROLE bob SUPERUSER'; END IF;
             RETURN true; END $$;
         CREATE FUNCTION sprung(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('mint_script.trusted', 'on', false); IF current_user <> 'alice' THEN PERFORM public.spring(); END IF; RETURN true; END $$;
         ALTER FUNCTION sprung(int) OWNER TO alice",
    );
    server.connect_as("alice", "postgres").run(
        "CREATE DOMAIN d AS int; CREATE TYPE pair AS (one d);
         CREATE TABLE t (id serial PRIMARY KEY, name text); INSERT INTO t (name) VALUES ('x'), ('y');
         CREATE INDEX ON t (name, id) WHERE '(1)'::pair IS NOT NULL;
         ALTER DOMAIN d ADD CHECK (sprung(VALUE)) NOT VALID;
         GRANT TRIGGER ON t TO bob",
    );
    server.connect_as("bob", "postgres").run(
        "CREATE FUNCTION by_bob() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM spring(); RETURN NEW; END $$;
         CREATE TRIGGER by_bob BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION by_bob()",
    );
    server
}

/// Runs the script in psql, which does not stop at an error by default.
fn run(server: &Server, before: &str, condition: &str) -> String {
    let script = format!(
        "{before}\nSELECT command FROM {PLAN} WHERE command IS NOT NULL AND {condition} ORDER BY step \\gexec\nSELECT concat('read only is ', current_setting('default_transaction_read_only'));\n"
    );
    String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned()
}

#[track_caller]
fn assert_no_power(server: &Server) {
    let supers: Vec<String> = server
        .connect("postgres")
        .column("SELECT rolname::text FROM pg_roles WHERE rolsuper");
    assert_eq!(supers, ["postgres"]);
}

fn state(session: &mut Session) -> String {
    session.one(
        "SELECT concat((SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped),
             (SELECT string_agg(concat(' ', indexrelid::regclass), '' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = 't'::regclass AND indpred IS NOT NULL))",
    )
}

/// Neither a superuser nor what can become one runs a statement of the script, in psql that continues after errors, from the
/// first step or from the first index on.
#[test]
fn a_superuser_runs_no_script_of_others() {
    let server = start("superuser runs script");
    let mut root = server.connect("postgres");
    let begun =
        "phase <> 'swap' AND phase <> 'cleanup' AND phase <> 'default' AND phase <> 'index'";
    for (step, condition) in [("first", UNTIL_SWAP), ("index", "phase = 'index'")] {
        let before = state(&mut root);
        for connected in [
            "",
            "SET SESSION AUTHORIZATION alice;",
            "SET ROLE alice;",
            "\\c - chief\nSET ROLE postgres;",
        ] {
            let said = run(&server, connected, condition);
            assert_no_power(&server);
            assert_eq!(state(&mut root), before, "{step} {connected}: {said}");
            assert!(said.contains(REFUSED), "{step} {connected}: {said}");
            assert!(
                said.contains("read only is off"),
                "{step} {connected}: {said}"
            );
        }
        run(&server, "\\c - alice", begun);
    }
    let said = run(&server, "\\c - clerk", UNTIL_SWAP);
    assert!(!said.contains("ERROR"), "{said}");
    assert_no_power(&server);
    root.run("DROP TRIGGER by_bob ON t");
    let said = run(&server, "SET mint_script.trusted = 'on';", "true");
    assert!(!said.contains("ERROR"), "{said}");
    let is_wide: bool = root.one("SELECT pg_typeof(max(id)) = 'bigint'::regtype FROM t");
    assert!(is_wide);
}

/// A plan that was refused to a superuser is made and run again in the same session.
#[test]
fn trust_is_given_after_a_refusal() {
    let server = start("trust after refusal");
    let mut root = server.connect("postgres");
    run(
        &server,
        "\\c - alice",
        "phase IN ('prepare', 'backfill', 'constraint')",
    );
    root.run("DROP TRIGGER by_bob ON t");
    let plan = format!(
        "SELECT command FROM {PLAN} WHERE command IS NOT NULL AND phase = 'index' ORDER BY step"
    );
    let commands: Vec<String> = root.column(&plan);
    let mut refused = commands.iter().filter_map(|one| root.try_run(one).err());
    let refusal = refused.next().unwrap_or_else(|| panic!("{commands:?}"));
    assert_eq!(
        (refusal.code.as_str(), refusal.message.as_str()),
        ("42501", REFUSED)
    );
    assert!(refusal.detail.contains("TRIGGER"), "{refusal}");
    assert!(refusal.hint.contains("mint_script.trusted"), "{refusal}");
    drop(refused);
    root.run("SET mint_script.trusted = 'on'");
    let commands: Vec<String> = root.column(&plan);
    commands.iter().for_each(|command| root.run(command));
    let read_only: String = root.one("SELECT current_setting('default_transaction_read_only')");
    assert_eq!(read_only, "off");
}

/// The schema gets another owner after the plan, who drops the table, and puts another one in its place.
#[test]
fn a_table_in_the_place_of_another_is_left_alone() {
    let server = Server::start("replaced table");
    server
        .connect("postgres")
        .run("CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE SCHEMA e AUTHORIZATION alice");
    let mut alice = server.connect_as("alice", "postgres");
    alice.run(
        "CREATE TABLE e.t (id serial PRIMARY KEY, name text); INSERT INTO e.t (name) VALUES ('x')",
    );
    let commands: Vec<String> = alice.column("SELECT command FROM mint.convert_plan('e.t', 'id', 'snowflake_next_id(5)') WHERE phase IN ('prepare', 'backfill') ORDER BY step");
    server
        .connect("postgres")
        .run("ALTER SCHEMA e OWNER TO bob; GRANT USAGE, CREATE ON SCHEMA e TO alice");
    server.connect_as("bob", "postgres").run(
        "DROP TABLE e.t; CREATE TABLE e.t (id int, name text, mint_new_id bigint); INSERT INTO e.t VALUES (1); GRANT ALL ON e.t TO alice;
         CREATE FUNCTION e.as_alice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'TRAP %', current_user; RETURN NEW; END $$;
         CREATE FUNCTION e.seen(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'bob' THEN RAISE WARNING 'TRAP %', current_user; END IF; RETURN $1; END $$;
         CREATE INDEX ON e.t (e.seen(1));
         CREATE TRIGGER as_alice BEFORE UPDATE ON e.t FOR EACH ROW EXECUTE FUNCTION e.as_alice()",
    );
    assert_eq!(commands.len(), 2);
    for command in commands {
        let refusal = alice.refusal(&command);
        assert_eq!(refusal.message, "not all tables are those of the plan");
        assert_eq!(refusal.code, "55000");
    }
    super::domains::assert_not_sprung(&server, "script");
}
