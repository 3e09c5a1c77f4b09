//! Domains of another role, with a check that the planner evaluates as soon as it plans a cast: of ids, of other columns, in
//! defaults, in tables below and in views. No plan and no conversion runs it as the owner of the table, or as a superuser.

use mint_cluster::{Server, Session};

/// The types of bob, which all end at a domain to which a check is added later.
const TYPES: &str =
    "CREATE DOMAIN e.d AS int; CREATE DOMAIN e.deep AS e.d; CREATE TYPE e.pair AS (one e.d);
    CREATE DOMAIN e.key AS bigint; CREATE DOMAIN e.far AS e.key; CREATE DOMAIN e.uid AS uuid";

/// A server with alice, and with the schema and types of bob, whose functions say which other role they are called by.
pub(super) fn start(story: &str) -> Server {
    let server = Server::start(story);
    server.connect("postgres").run(
        "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; GRANT CREATE ON SCHEMA public TO alice, bob;
         CREATE SCHEMA e AUTHORIZATION bob; GRANT USAGE ON SCHEMA e TO PUBLIC",
    );
    bob(&server).run(&format!(
        "CREATE FUNCTION e.now() RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
             IF current_user <> 'bob' THEN RAISE WARNING 'TRAP %', current_user; END IF; RETURN true; END $$;
         CREATE FUNCTION e.each(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN e.now(); END $$;
         {TYPES}"
    ));
    server
}

pub(super) fn bob(server: &Server) -> Session {
    server.connect_as("bob", "postgres")
}

/// Adds the checks, one of which is evaluated as soon as it is planned.
pub(super) fn set(server: &Server) {
    let add = ["d", "key", "uid"].map(|of| {
        format!(
            "ALTER DOMAIN e.{of} DROP CONSTRAINT IF EXISTS one; ALTER DOMAIN e.{of} DROP CONSTRAINT IF EXISTS two;
             ALTER DOMAIN e.{of} ADD CONSTRAINT one CHECK (e.now()) NOT VALID; ALTER DOMAIN e.{of} ADD CONSTRAINT two CHECK (e.each(VALUE::text)) NOT VALID"
        )
    });
    bob(server).run(&add.join(";"));
}

/// Runs a query as each role, in sessions that have planned nothing before. Returns the answers or errors.
pub(super) fn each(server: &Server, query: &str) -> [String; 2] {
    ["alice", "postgres"].map(|role| {
        let mut session = server.connect_as(role, "postgres");
        match session.try_one::<Option<String>>(query) {
            Ok(answer) => answer.unwrap_or_default(),
            Err(error) => format!("{error}; {}", error.detail),
        }
    })
}

/// Returns what the plan says to the owner, and to a superuser.
fn plan(server: &Server, table: &str, new_default: &str) -> [String; 2] {
    each(
        server,
        &format!(
            "SELECT string_agg(note, E'\\n') FROM mint.convert_plan('{table}', 'id', $${new_default}$$)"
        ),
    )
}

#[track_caller]
pub(super) fn assert_not_sprung(server: &Server, of: &str) {
    let log = server.log();
    let sprung: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("TRAP ") && line.contains("WARNING"))
        .collect();
    assert!(sprung.is_empty(), "{of}: {sprung:?}");
}

/// The type of the id is of another role: its checks are not planned with the new default.
#[test]
fn ids_of_a_domain_of_another() {
    let server = start("ids of a domain");
    let mut all = Vec::new();
    for role in ["alice", "postgres"] {
        for (name, kind, new_default) in [
            ("key", "e.key", "snowflake_next_id(5)"),
            ("far", "e.far", "snowflake_next_id(5)"),
            ("uid", "e.uid", "uuid_v7()"),
        ] {
            let table = format!("{role}_{name}");
            let create = format!("CREATE TABLE {table} (id {kind} PRIMARY KEY)");
            server.connect_as(role, "postgres").run(&create);
            all.push((table, new_default));
        }
    }
    server.connect_as("alice", "postgres").run(
        "CREATE TABLE parts (id e.key, at e.d) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9223372036854775807);
         CREATE TABLE many (id bigint, at e.d) PARTITION BY LIST (at); CREATE TABLE one PARTITION OF many FOR VALUES IN (1);
         CREATE INDEX ON parts (id); CREATE INDEX ON many (id)",
    );
    set(&server);
    all.extend(["parts", "many"].map(|table| (table.to_owned(), "snowflake_next_id(5)")));
    for (table, new_default) in all {
        plan(&server, &table, new_default);
        assert_not_sprung(&server, &format!("plan of {table}"));
        let convert = format!("SELECT mint.convert('{table}', 'id', '{new_default}')");
        let done = each(&server, &convert);
        assert!(
            done.iter().any(|answer| answer.starts_with("ALTER TABLE")),
            "{table}: {done:?}"
        );
        assert_not_sprung(&server, &format!("conversion of {table}"));
    }
    let defaults: i64 = server.connect("postgres").one(
        "SELECT count(*) FROM pg_attrdef WHERE pg_get_expr(adbin, adrelid) IN ('snowflake_next_id(5)', 'uuid_v7()')",
    );
    assert_eq!(defaults, 10);
}

/// A column of the table, of one below it or of another role's table that a view reads is of such a type: what has it is not
/// evaluated, and all else is.
#[test]
fn columns_of_a_domain_of_another() {
    let server = start("columns of a domain");
    bob(&server).run(
        "CREATE TABLE e.u (id bigint, c e.d, a e.d[], p e.pair, z e.deep); GRANT SELECT ON e.u TO PUBLIC",
    );
    for role in ["alice", "postgres"] {
        let mut owner = server.connect_as(role, "postgres");
        for kind in ["serial", "bigserial"] {
            let t = format!("{role}_{kind}");
            owner.run(&format!(
                "CREATE TABLE {t} (id {kind} PRIMARY KEY, n int);
                 CREATE VIEW {t}_c AS SELECT o.id, u.c FROM {t} AS o JOIN e.u AS u ON u.id = o.id;
                 CREATE VIEW {t}_z AS SELECT o.id, u.z, u.a, u.p FROM {t} AS o JOIN e.u AS u ON u.id = o.id;
                 CREATE VIEW {t}_cast AS SELECT id, n::e.deep AS n FROM {t};
                 CREATE TABLE {t}_own (id {kind} PRIMARY KEY, n int, c e.d, z e.deep, p e.pair, a e.d[],
                     CHECK (id > n OR c IS NOT NULL), CHECK (id > 0 OR a IS NOT NULL), CHECK (id > 0 OR p IS NOT NULL));
                 CREATE INDEX ON {t}_own ((id + z));
                 CREATE TABLE {t}_root (id {kind} PRIMARY KEY, n int);
                 CREATE TABLE {t}_below (c e.d, PRIMARY KEY (id), CHECK (id > n OR c > 0)) INHERITS ({t}_root);
                 CREATE TABLE {t}_plain (id {kind} PRIMARY KEY, c e.d, CONSTRAINT small CHECK (id < 1000000))"
            ));
        }
    }
    set(&server);
    for role in ["alice", "postgres"] {
        for kind in ["serial", "bigserial"] {
            let t = format!("{role}_{kind}");
            for table in ["", "_own", "_root", "_plain"] {
                let table = format!("{t}{table}");
                let said = plan(&server, &table, "snowflake_next_id(5)");
                assert_not_sprung(&server, &format!("plan of {table}: {said:?}"));
                if table.ends_with("bigserial_plain") {
                    assert!(
                        said[1].contains("check constraint \"small\" of table"),
                        "{said:?}"
                    );
                }
                if table.ends_with("bigserial") {
                    assert!(
                        said[1].contains("_c is not evaluated for new ids"),
                        "{said:?}"
                    );
                }
                let convert =
                    format!("SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)')");
                each(&server, &convert);
                assert_not_sprung(&server, &format!("conversion of {table}"));
            }
        }
    }
}

/// Indexes and checks with a cast to such a type are planned with each query of the table: none runs.
#[test]
fn casts_to_a_domain_of_another() {
    let server = start("casts to a domain");
    for role in ["alice", "postgres"] {
        let mut owner = server.connect_as(role, "postgres");
        for (kind, cast) in [
            ("bigserial", "(n::e.d) > 0"),
            ("serial", "(n::e.deep) > 0"),
            ("bigint", "(ARRAY[n]::e.d[]) IS NOT NULL"),
        ] {
            let t = format!("{role}_{kind}");
            owner.run(&format!(
                "CREATE TABLE {t}_index (id {kind} PRIMARY KEY, n int); CREATE INDEX ON {t}_index (n) WHERE {cast};
                 CREATE TABLE {t}_keyed (id {kind} PRIMARY KEY, n int); CREATE INDEX ON {t}_keyed (({cast}));
                 CREATE TABLE {t}_check (id {kind} PRIMARY KEY, n int, CHECK ({cast}));
                 CREATE TABLE {t}_root (id {kind} PRIMARY KEY, n int); CREATE TABLE {t}_child (PRIMARY KEY (id), CHECK ({cast})) INHERITS ({t}_root);
                 CREATE TABLE {t}_stats (id {kind} PRIMARY KEY, n int); CREATE STATISTICS {t}_s ON ({cast}), id FROM {t}_stats"
            ));
        }
    }
    set(&server);
    for role in ["alice", "postgres"] {
        for kind in ["bigserial", "serial", "bigint"] {
            for table in ["index", "keyed", "check", "root", "stats"] {
                let table = format!("{role}_{kind}_{table}");
                for new_default in [
                    "snowflake_next_id(5)",
                    "segment_next(to_regclass(current_user))",
                ] {
                    let said = plan(&server, &table, new_default);
                    assert_not_sprung(&server, &format!("plan of {table}: {said:?}"));
                    assert!(
                        said[1].contains("has values of type e.d"),
                        "{table}: {said:?}"
                    );
                    let convert = format!("SELECT mint.convert('{table}', 'id', '{new_default}')");
                    let said = each(&server, &convert);
                    assert_not_sprung(&server, &format!("conversion of {table}"));
                    if kind != "serial" {
                        assert!(
                            said[1].contains("has values of type e.d"),
                            "{table}: {said:?}"
                        );
                    }
                }
            }
        }
    }
}

/// The default of before has a constant of such a type: the statement that sets it again would read it.
#[test]
fn defaults_with_constants_of_another() {
    let server = start("defaults with constants");
    for role in ["alice", "postgres"] {
        let mut owner = server.connect_as(role, "postgres");
        owner.run(&format!(
            "CREATE FUNCTION {role}_mk(anyelement) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()';
             CREATE TABLE {role}_array (id uuid PRIMARY KEY DEFAULT {role}_mk('{{1}}'::e.d[]));
             CREATE TABLE {role}_pair (id uuid PRIMARY KEY DEFAULT {role}_mk('(1)'::e.pair));
             CREATE TABLE {role}_deep (id uuid PRIMARY KEY DEFAULT {role}_mk('1'::e.deep));
             CREATE TABLE {role}_int (id bigint PRIMARY KEY DEFAULT ('{{1}}'::e.d[])[1])"
        ));
    }
    set(&server);
    for role in ["alice", "postgres"] {
        for (name, new_default) in [
            ("array", "uuid_v7()"),
            ("pair", "uuid_v7()"),
            ("deep", "uuid_v7()"),
            ("int", "snowflake_next_id(5)"),
        ] {
            let table = format!("{role}_{name}");
            let convert = format!("SELECT mint.convert('{table}', 'id', '{new_default}')");
            for said in each(&server, &convert) {
                if said.starts_with("ALTER TABLE") {
                    server.connect("postgres").run(&said);
                }
                assert_not_sprung(&server, &format!("way back of {table}"));
                assert!(
                    said.contains("has values of type e.") || said.contains("must be owner"),
                    "{table}: {said}"
                );
            }
            let said = plan(&server, &table, new_default);
            assert!(
                said[1].contains("blocker: default of column"),
                "{table}: {said:?}"
            );
        }
    }
}

/// A table below of another role: no query reads it before it is refused.
#[test]
fn children_of_another() {
    let server = start("children of another");
    for role in ["alice", "postgres"] {
        for kind in ["bigserial", "serial", "bigint"] {
            let t = format!("{role}_{kind}");
            server.connect_as(role, "postgres").run(&format!(
                "CREATE TABLE {t} (id {kind} PRIMARY KEY, n int); CREATE TABLE {t}_below (PRIMARY KEY (id)) INHERITS ({t})"
            ));
            server
                .connect("postgres")
                .run(&format!("ALTER TABLE {t}_below OWNER TO bob"));
            bob(&server).run(&format!(
                "CREATE INDEX ON {t}_below (n) WHERE e.now(); ALTER TABLE {t}_below ADD CHECK (n > 0 OR e.now())"
            ));
        }
    }
    for role in ["alice", "postgres"] {
        for kind in ["bigserial", "serial", "bigint"] {
            let t = format!("{role}_{kind}");
            for new_default in [
                "segment_next(to_regclass(current_user))",
                "snowflake_next_id(5)",
            ] {
                let said = plan(&server, &t, new_default);
                assert_not_sprung(&server, &format!("plan of {t}: {said:?}"));
                assert!(said[1].starts_with("blocker: "), "{said:?}");
                each(
                    &server,
                    &format!("SELECT mint.convert('{t}', 'id', '{new_default}')"),
                );
                assert_not_sprung(&server, &format!("conversion of {t}"));
            }
        }
    }
}

/// A temporary view is one of its session alone, and its name is another one there.
#[test]
fn temporary_views_with_constants_of_another() {
    let server = start("temporary views");
    let sessions = ["alice", "postgres"].map(|role| {
        let mut owner = server.connect_as(role, "postgres");
        owner.run(&format!(
            "CREATE TABLE {role}_t (id bigserial PRIMARY KEY, n int);
             CREATE TEMP VIEW vt AS SELECT id, '{{1}}'::e.d[] AS x FROM {role}_t;
             CREATE TEMP VIEW vc AS SELECT id, n::e.d AS x FROM {role}_t"
        ));
        (role, owner)
    });
    set(&server);
    for (role, mut owner) in sessions {
        let call = format!("('{role}_t', 'id', 'snowflake_next_id(5)')");
        let said: String = owner.one(&format!(
            "SELECT string_agg(note, E'\\n') FROM mint.convert_plan{call}"
        ));
        assert_not_sprung(&server, &said);
        for view in ["vt", "vc"] {
            assert!(said.contains(&format!("{view} is not evaluated")), "{said}");
        }
        owner.run(&format!("SELECT mint.convert{call}"));
        assert_not_sprung(&server, role);
    }
}

/// A domain of the owner, or of a superuser, is evaluated as ever: its check refuses the new ids.
#[test]
fn domains_of_the_owner_and_of_a_superuser() {
    let server = start("domains of the owner");
    let mut alice = server.connect_as("alice", "postgres");
    server.connect("postgres").run(
        "CREATE DOMAIN root AS bigint CHECK (VALUE < 1000); CREATE DOMAIN fine AS bigint CHECK (VALUE > 0); CREATE DOMAIN other AS int CHECK (VALUE > 0)",
    );
    alice.run(
        "CREATE DOMAIN own AS bigint CHECK (VALUE < 1000);
         CREATE TABLE of_root (id root PRIMARY KEY); CREATE TABLE of_own (id own PRIMARY KEY);
         CREATE TABLE of_fine (id fine PRIMARY KEY, c other, CHECK (id > 0 OR c > 0)); CREATE INDEX ON of_fine (c) WHERE c::other > 0;
         CREATE TABLE cast_small (id bigserial PRIMARY KEY, c other, CONSTRAINT small CHECK (id < c::other + 100000 AND id < 100000))",
    );
    for table in ["of_root", "of_own"] {
        let said = plan(&server, table, "snowflake_next_id(5)");
        for said in said {
            assert!(
                said.contains("blocker: check constraint"),
                "{table}: {said}"
            );
        }
    }
    let said = plan(&server, "cast_small", "snowflake_next_id(5)");
    assert!(
        said[0].contains("blocker: check constraint \"small\""),
        "{said:?}"
    );
    let said = plan(&server, "of_fine", "snowflake_next_id(5)");
    assert!(
        !said[0].contains("blocker") && !said[0].contains("not evaluated"),
        "{said:?}"
    );
    let back: Option<String> =
        alice.one("SELECT mint.convert('of_fine', 'id', 'snowflake_next_id(5)')");
    alice.run("INSERT INTO of_fine DEFAULT VALUES");
    alice.run(&back.expect("the way back"));
}
