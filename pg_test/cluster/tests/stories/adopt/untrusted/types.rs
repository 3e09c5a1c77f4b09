//! Constants of the types of another role, and its names in a trigger: the server would run its checks as the owner of the table,
//! or as a superuser who runs the script. None of them is run, by the plan, by a conversion or by the script.

use mint_cluster::{Server, Session};

/// A server with tables of alice, on which bob has TRIGGER alone, and a schema of bob with a domain and a function that says
/// which other role it is called by.
fn start(story: &str) -> (Server, Session, Session, Session) {
    let server = Server::start(story);
    let mut root = server.connect("postgres");
    root.run(
        "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; GRANT CREATE ON SCHEMA public TO alice;
         CREATE SCHEMA e AUTHORIZATION bob; GRANT USAGE ON SCHEMA e TO PUBLIC",
    );
    let alice = server.connect_as("alice", "postgres");
    let mut bob = server.connect_as("bob", "postgres");
    bob.run(
        "CREATE FUNCTION e.f(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
             IF current_user <> 'bob' THEN RAISE WARNING 'TRAP %', current_user; END IF; RETURN true; END $$;
         CREATE DOMAIN e.d AS int CHECK (e.f(VALUE::text));
         CREATE FUNCTION e.tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    );
    (server, root, alice, bob)
}

/// Runs what a plan prints up to the swap, until one fails, and returns its blockers.
fn attempt(session: &mut Session, table: &str, new_default: &str) -> String {
    let plan = format!("mint.convert_plan('{table}', 'id', '{new_default}')");
    let blockers: Option<String> = session.one(&format!(
        "SELECT string_agg(note, E'\\n') FROM {plan} WHERE note LIKE 'blocker: %' OR note LIKE 'warning: %'"
    ));
    let steps: Vec<String> = session.column(&format!(
        "SELECT command FROM {plan} WHERE command IS NOT NULL ORDER BY step"
    ));
    for step in steps {
        if session.try_run(&step).is_err() {
            break;
        }
    }
    blockers.unwrap_or_default()
}

#[track_caller]
fn assert_not_sprung(server: &Server) {
    let log = server.log();
    let sprung: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("TRAP ") && line.contains("WARNING"))
        .collect();
    assert!(sprung.is_empty(), "{sprung:?}");
}

/// TRIGGER on a view or a table, with a constant in WHEN, or with names that look like a condition.
#[test]
fn triggers_of_others_run_nothing_in_the_swap() {
    let (server, mut root, mut alice, mut bob) = start("triggers with constants");
    alice.run(
        "CREATE TABLE t (id serial PRIMARY KEY, name text); CREATE VIEW v AS SELECT id, name FROM t; GRANT TRIGGER ON v TO bob;
         CREATE TABLE u (id serial PRIMARY KEY); CREATE TABLE w (id serial PRIMARY KEY); CREATE TABLE x (id serial PRIMARY KEY);
         GRANT TRIGGER ON u, w, x TO bob",
    );
    let hidden = "x WHEN (('{1}'::e.d[]) IS NULL) EXECUTE FUNCTION ";
    bob.run(&format!(
        "CREATE TRIGGER vt AFTER INSERT ON public.v FOR EACH STATEMENT WHEN ('{{1}}'::e.d[] IS NOT NULL) EXECUTE FUNCTION e.tf();
         CREATE TRIGGER ut AFTER DELETE ON public.u FOR EACH ROW WHEN ('{{1}}'::e.d[] IS NOT NULL AND OLD.id > 0) EXECUTE FUNCTION e.tf();
         CREATE TRIGGER wt AFTER UPDATE ON public.w REFERENCING OLD TABLE AS \"{hidden}\" FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION e.tf();
         CREATE TABLE e.\"{hidden}\" (); 
         CREATE CONSTRAINT TRIGGER xt AFTER UPDATE ON public.x FROM e.\"{hidden}\" FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION e.tf()"
    ));
    for session in [&mut alice, &mut root] {
        for (table, object, why) in [
            ("t", "view public.v", "a constant in WHEN"),
            ("u", "trigger ut on public.u", "a constant in WHEN"),
            ("w", "trigger wt on public.w", "a name with WHEN"),
            ("x", "trigger xt on public.x", "a name with WHEN"),
        ] {
            let blockers = attempt(session, table, "snowflake_next_id(5)");
            assert!(
                blockers.contains(&format!(
                    "{object} cannot be dropped and created again in the swap"
                )) && blockers.contains(why),
                "{table}: {blockers}"
            );
        }
    }
    assert_not_sprung(&server);
}

/// Domains of the column, and constants of their arrays in views, checks and indexes, to which their owner adds a check later.
#[test]
fn domains_of_others_are_not_checked_as_the_owner() {
    let (server, mut root, mut alice, mut bob) = start("domains of others");
    bob.run("CREATE DOMAIN e.di AS int; CREATE TYPE e.pair AS (one e.di); CREATE DOMAIN e.key AS bigint; GRANT USAGE ON TYPE e.di, e.key TO alice");
    for (table, kind, id) in [
        ("narrow", "serial", "integer"),
        ("wide", "bigserial", "bigint"),
    ] {
        alice.run(&format!(
            "CREATE TABLE {table} (id {kind} PRIMARY KEY);
             CREATE VIEW {table}_view AS SELECT id, '{{1}}'::e.di[] AS x, '(1)'::e.pair AS y FROM {table};
             CREATE INDEX {table}_index ON {table} ((id + ('{{1}}'::e.di[])[1]::{id}));
             CREATE TABLE {table}_checked (id {kind} PRIMARY KEY, CHECK (id > ('{{1}}'::e.di[])[1] - 5))"
        ));
    }
    alice.run(
        "CREATE SEQUENCE s; CREATE TABLE keyed (id e.key PRIMARY KEY DEFAULT nextval('s')); ALTER SEQUENCE s OWNED BY keyed.id",
    );
    // Without NOT VALID, PostgreSQL 17 refuses it for what views use.
    bob.run("ALTER DOMAIN e.di ADD CHECK (e.f(VALUE::text)) NOT VALID; ALTER DOMAIN e.key ADD CHECK (e.f(VALUE::text))");
    for session in [&mut alice, &mut root] {
        for table in ["narrow", "wide"] {
            let said = attempt(session, table, "snowflake_next_id(5)");
            let index = format!("index public.{table}_index has values of type e.di[]");
            assert!(said.contains(&index), "{said}");
            if table == "narrow" {
                assert!(
                    said.contains("rule _RETURN on view public.narrow_view"),
                    "{said}"
                );
            }
            let said = attempt(session, &format!("{table}_checked"), "snowflake_next_id(5)");
            assert!(said.contains("has values of type e.di[]"), "{said}");
        }
        session.run("SELECT mint.convert('keyed', 'id', 'snowflake_next_id(5)')");
        session.run("SELECT mint.convert_revert('keyed', 'id')");
        let refusal = session.refusal("SELECT mint.convert('wide', 'id', 'snowflake_next_id(5)')");
        assert!(refusal.message.contains("e.di[]"), "{refusal}");
    }
    // The view is not evaluated, and the rest is converted without the index.
    alice.run("DROP INDEX wide_index");
    for session in [&mut alice, &mut root] {
        let said = attempt(session, "wide", "snowflake_next_id(5)");
        assert!(
            said.contains("view public.wide_view is not evaluated"),
            "{said}"
        );
        session.run("SELECT mint.convert('wide', 'id', 'snowflake_next_id(5)')");
        session.run("SELECT mint.convert_revert('wide', 'id')");
    }
    assert_not_sprung(&server);
}

/// A trigger of the name that the script uses, with a function of its maker or of the owner: neither is replaced.
#[test]
fn a_trigger_of_the_scripts_name_is_refused() {
    let (_server, mut root, mut alice, mut bob) = start("a trigger of the name");
    alice.run(
        "CREATE TABLE t (id serial PRIMARY KEY); GRANT TRIGGER ON t TO bob;
         CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    );
    for function in ["e.tf", "public.audit"] {
        bob.run(&format!("CREATE TRIGGER \"~mint_copy_id\" BEFORE INSERT OR UPDATE ON public.t FOR EACH ROW EXECUTE FUNCTION {function}()"));
        for session in [&mut alice, &mut root] {
            let said = attempt(session, "t", "snowflake_next_id(5)");
            assert!(
                said.contains(
                    "blocker: trigger \"~mint_copy_id\" of table \"t\" is not of a script"
                ),
                "{said}"
            );
        }
        alice.run("DROP TRIGGER \"~mint_copy_id\" ON t");
    }
    let said = attempt(&mut alice, "t", "snowflake_next_id(5)");
    assert!(!said.contains("blocker"), "{said}");
    let kind: String = alice.one("SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'id'");
    assert_eq!(kind, "bigint");
}

/// The statement that mint.convert() returns is read alike in a session that takes backslashes for escapes. Since 19 there is
/// none.
#[test]
fn the_way_back_is_read_alike_in_each_session() {
    let (server, mut root, mut alice, _bob) = start("backslashes of a default");
    if server.major() >= 19 {
        return;
    }
    alice.run(
        r"CREATE TABLE t (id uuid PRIMARY KEY DEFAULT md5(concat('\', ')))::uuid; CREATE ROLE pwned SUPERUSER; --'))::uuid)",
    );
    let default =
        "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass";
    let before: String = alice.one(default);
    root.run("SET escape_string_warning = off; SET standard_conforming_strings = off");
    let way_back: String = root.one("SELECT mint.convert('t', 'id', 'uuid_v7()')");
    root.run(&way_back);
    assert_eq!(alice.one::<String>(default), before, "{way_back}");
    let made: bool = root.one("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pwned')");
    assert!(!made, "{way_back}");
}
