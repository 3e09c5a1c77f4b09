//! What fails while a script runs, and not before, is said by the plan before the first step.

use super::shop::gexec;
use mint_cluster::Server;

/// Checks that are not validated, functions of triggers with all columns, and SET DEFAULT are named, and nothing else is.
#[test]
fn the_plan_names_what_can_fail_until_the_swap() {
    let server = Server::start("warned before");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE t (id serial PRIMARY KEY, name text, CHECK (name <> ''));
         CREATE TABLE child (id serial PRIMARY KEY, t int DEFAULT 1 REFERENCES t ON DELETE CASCADE);
         CREATE TABLE t_audit (op text, id int, name text);
         CREATE FUNCTION listed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t_audit SELECT TG_OP, NEW.id, NEW.name; PERFORM count(*) FROM t; RETURN NEW; END $$;
         CREATE TRIGGER listed BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION listed()",
    );
    let plan = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
    let warnings = format!(
        "SELECT coalesce(string_agg(note, E'\\n' ORDER BY step), '') FROM {plan} WHERE note LIKE 'warning: %'"
    );
    let none: String = session.one(&warnings);
    assert_eq!(none, "");
    session.run(
        "ALTER TABLE child ADD CONSTRAINT short CHECK (t > 0) NOT VALID, ADD CONSTRAINT again FOREIGN KEY (t) REFERENCES t ON DELETE SET DEFAULT;
         CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t_audit select TG_OP, NEW . *; RETURN NEW; END $$;
         CREATE TRIGGER audited AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION audited()",
    );
    let found: String = session.one(&warnings);
    for expected in [
        "does not meet them: use VALIDATE CONSTRAINT before: short of public.child.",
        "write the lists of columns before: public.audited().",
        "can fail (23503) until the swap: again of public.child.",
    ] {
        assert!(found.contains(expected), "{found}");
    }
    // As it says: every write fails from the first step on.
    session.run("INSERT INTO t (name) VALUES ('a')");
    gexec(&server, plan, "phase = 'prepare'");
    let mut new = server.connect("postgres");
    let refusal = new.refusal("INSERT INTO t (name) VALUES ('b')");
    assert_eq!(refusal.code, "42601");
}

/// Unique indexes are built after all others, as each is one more that an INSERT ... ON CONFLICT can fail on.
#[test]
fn unique_indexes_are_built_last() {
    let server = Server::start("unique at last");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE t (id serial PRIMARY KEY, n int, UNIQUE (n, id)); CREATE INDEX z ON t (id, n)");
    let indexes: Vec<String> = session.column(
        "SELECT command FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE phase = 'index' ORDER BY step",
    );
    let unique: Vec<bool> = indexes
        .iter()
        .map(|one| one.starts_with("CREATE UNIQUE"))
        .collect();
    assert_eq!(unique, [false, true, true]);
    let said: bool = session.one(
        "SELECT count(*) = 1 FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'An INSERT ... ON CONFLICT%'",
    );
    assert!(said);
}
