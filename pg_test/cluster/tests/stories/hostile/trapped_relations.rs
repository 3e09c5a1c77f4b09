//! Relations of every kind whose every object that an ordinary role can make is a trap: a function that notices when it
//! runs as another role than the owner, writes that into the log, and makes the owner a superuser if it can.

use super::planted_objects::MARK;
use mint_cluster::{Server, Session};

/// The schema of the relations, and the role that owns both.
pub const HOME: &str = "prey";
pub const OWNER: &str = "mal";

/// The functions of the traps. An IMMUTABLE one can be in an index, and the server does not look into it.
const TRAPS: &str = "
    CREATE FUNCTION prey.grab(what text) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$ BEGIN
        IF current_user <> 'mal' THEN
            RAISE WARNING '$mark % runs as %', what, current_user;
            BEGIN ALTER ROLE mal SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END;
        END IF; END $$;
    CREATE FUNCTION prey.trap(what text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM prey.grab(what); RETURN true; END $$;
    CREATE FUNCTION prey.number(what text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM prey.grab(what); RETURN 0; END $$;
    CREATE FUNCTION prey.seen(what text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ BEGIN
        IF current_user <> 'mal' THEN RAISE WARNING '$mark % runs as %', what, current_user; END IF; RETURN 0; END $$;
    CREATE FUNCTION prey.fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM prey.grab('trigger'); RETURN NEW; END $$;
    CREATE FUNCTION prey.next() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM prey.grab('default'); RETURN 1; END $$;
    CREATE FUNCTION prey.less(bigint, bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM prey.grab('operator'); RETURN true; END $$;
    CREATE OPERATOR prey.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = prey.less);
    CREATE OPERATOR prey.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = prey.less);
    CREATE OPERATOR prey.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = prey.less);
    CREATE AGGREGATE prey.max(bigint) (SFUNC = pg_catalog.int8larger, STYPE = bigint);
    CREATE FUNCTION prey.max(integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN PERFORM prey.grab('max'); RETURN 1; END $$;
    CREATE FUNCTION prey.nextval(regclass) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM prey.grab('nextval'); RETURN 1; END $$;
    CREATE FUNCTION prey.setval(regclass, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM prey.grab('setval'); RETURN 1; END $$;
    CREATE DOMAIN prey.dom AS bigint CHECK (prey.trap('domain'));
    CREATE DOMAIN prey.uid AS uuid CHECK (prey.trap('domain of uuid'));
    CREATE TYPE prey.pair AS (one prey.dom, two text);
    CREATE TYPE prey.mood AS ENUM ('ok');
    CREATE FUNCTION prey.to_mood(bigint) RETURNS prey.mood LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM prey.grab('cast'); RETURN 'ok'; END $$;
    CREATE CAST (bigint AS prey.mood) WITH FUNCTION prey.to_mood(bigint) AS IMPLICIT;
    CREATE COLLATION prey.plain FROM \"C\";
    CREATE SEQUENCE prey.texts";

/// Columns of every type that ids have, and of types of the owner.
const COLUMNS: &str = "id bigserial, n integer DEFAULT 7, u uuid DEFAULT gen_random_uuid(), v text COLLATE prey.plain DEFAULT nextval('prey.texts')::text,
    d prey.dom DEFAULT prey.next(), du prey.uid, m prey.mood DEFAULT 1::bigint, c prey.pair, a prey.dom[],
    g bigint GENERATED ALWAYS AS (n + prey.number('generated column')) STORED,
    CONSTRAINT of_table CHECK (prey.trap('check')), CONSTRAINT of_column CHECK (id + prey.number('check of the column') > 0)";

/// Lays everything that belongs on a table of these columns.
fn lay(table: &str) -> String {
    format!(
        "CREATE INDEX ON {table} ((id + prey.number('index'))); CREATE INDEX ON {table} (n) WHERE prey.trap('predicate');
         CREATE INDEX ON {table} (n); CREATE INDEX ON {table} (d); CREATE INDEX ON {table} (v);
         CREATE INDEX ON {table} ((n + prey.number('second index')), id) WHERE id > prey.number('second predicate');
         CREATE STATISTICS {table}_st ON (id + prey.number('statistics')), v FROM {table};
         CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION prey.fire();
         CREATE TRIGGER s BEFORE INSERT OR UPDATE OR TRUNCATE ON {table} EXECUTE FUNCTION prey.fire();
         CREATE POLICY p ON {table} USING (prey.trap('policy'));"
    )
}

fn fill(table: &str, rows: u32) -> String {
    format!(
        "INSERT INTO {table} (n, d, c, a) SELECT i, i, '(1,x)', '{{1}}' FROM generate_series(1, {rows}) AS i; ANALYZE {table};"
    )
}

/// A table, alone, with row security, with a rule, and one whose default generates ids.
fn plain_tables(rows: u32) -> String {
    let mut text = String::new();
    #[rustfmt::skip]
    let cases = [
        ("plain", ""),
        ("secured", "ALTER TABLE $t ENABLE ROW LEVEL SECURITY"),
        ("forced", "ALTER TABLE $t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"),
        ("ruled", "CREATE RULE r AS ON UPDATE TO $t WHERE prey.trap('rule') DO ALSO SELECT prey.trap('rule')"),
        ("generated", "ALTER TABLE $t ALTER id SET DEFAULT public.snowflake_next_id(5)"),
        ("identity", "ALTER TABLE $t ALTER id DROP DEFAULT, ALTER id ADD GENERATED ALWAYS AS IDENTITY"),
        ("domain", ""),
    ];
    for (kind, more) in cases {
        if rows > 1_000 && kind != "plain" && kind != "generated" {
            continue;
        }
        let table = format!("prey.{kind}_{rows}");
        let more = more.replace("$t", &table);
        let columns = if kind == "domain" {
            COLUMNS.replace("id bigserial", "id prey.dom DEFAULT nextval('prey.texts')")
        } else {
            COLUMNS.to_owned()
        };
        text += &format!(
            "CREATE TABLE {table} ({columns}, PRIMARY KEY (id)); {more}; {} {}",
            lay(&table),
            fill(&table, rows)
        );
    }
    text
}

/// Partitions of partitions, also by expressions, and an inheritance parent with a child.
fn trees(rows: u32) -> String {
    let table = |name: &str| format!("prey.{name}_{rows}");
    let [root, low, high] = ["parted", "parted_low", "parted_high"].map(table);
    let mut text = format!(
        "CREATE TABLE {root} ({COLUMNS}, PRIMARY KEY (id)) PARTITION BY RANGE (id);
         CREATE TABLE {low} PARTITION OF {root} (CONSTRAINT of_part CHECK (id + prey.number('check of a partition') > 0)) FOR VALUES FROM (MINVALUE) TO (10);
         CREATE TABLE {high} PARTITION OF {root} FOR VALUES FROM (10) TO (MAXVALUE);
         {} {}",
        lay(&root),
        fill(&root, rows)
    );
    if rows > 1_000 {
        return text;
    }
    // The layout of its ids is that of each call.
    text += &format!("ALTER TABLE {root} ALTER id DROP DEFAULT;");
    let [key, middle, leaf] = ["key", "key_middle", "key_leaf"].map(table);
    text += &format!(
        "CREATE TABLE {key} ({COLUMNS}) PARTITION BY RANGE ((id + prey.number('partition key')));
         CREATE TABLE {middle} PARTITION OF {key} FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (id);
         CREATE TABLE {leaf} PARTITION OF {middle} FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
         {} {}",
        lay(&leaf),
        fill(&key, rows)
    );
    let [parent, child] = ["parent", "child"].map(table);
    text += &format!(
        "CREATE TABLE {parent} ({COLUMNS}, PRIMARY KEY (id));
         CREATE TABLE {child} (PRIMARY KEY (id), CONSTRAINT of_child CHECK (id + prey.number('check of a child') > 0)) INHERITS ({parent});
         {} {} {} {}",
        lay(&parent),
        lay(&child),
        fill(&parent, rows),
        fill(&child, rows)
    );
    let [view, stored, far] = ["view", "stored", "far"].map(table);
    let plain = table("plain");
    text + &format!(
        "CREATE VIEW {view} AS SELECT *, prey.number('view') AS seen FROM {plain} WHERE prey.trap('view');
         CREATE TRIGGER i INSTEAD OF INSERT OR UPDATE ON {view} FOR EACH ROW EXECUTE FUNCTION prey.fire();
         CREATE MATERIALIZED VIEW {stored} AS SELECT *, prey.number('view') AS seen FROM {plain} WHERE prey.trap('view');
         CREATE INDEX ON {stored} ((id + prey.number('index of a view')));
         CREATE FOREIGN TABLE {far} ({COLUMNS}) SERVER far;
         CREATE TABLE {far}_root ({COLUMNS}) PARTITION BY RANGE (id);
         CREATE FOREIGN TABLE {far}_part PARTITION OF {far}_root (CHECK (prey.trap('check of a foreign partition'))) FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER far;"
    )
}

/// Sequences to draw from, with traps where a trap goes; and tables that refer to others.
const DRAWN: &str = "
    SELECT public.segment_create('prey.seq'); SELECT public.ticket_create('prey.ticket', 1, 2);
    SELECT public.user_sequence_create('prey.family', 2); ALTER TABLE prey.family ADD CHECK (prey.trap('check of a family'));
    CREATE STATISTICS prey.family_st ON (section_0 + prey.number('statistics of a family')), section_1 FROM prey.family;
    CREATE POLICY p ON prey.family USING (prey.trap('policy of a family'));
    INSERT INTO mint.leaf_alloc (biz_tag, step, description) VALUES ('leaf', 20, 'x');
    CREATE TABLE prey.narrow (id serial PRIMARY KEY, plain integer REFERENCES prey.plain_1000, CHECK (prey.trap('check of a referrer')));
    CREATE INDEX ON prey.narrow ((id + prey.number('index of a referrer')));
    CREATE PUBLICATION of_prey FOR TABLE prey.plain_1, prey.plain_1000 WHERE (n > 0);";

/// Lays the traps in the database of a session of a superuser.
pub fn lay_all(server: &Server, database: &str) {
    let mut root = server.connect(database);
    root.run(&format!(
        "CREATE ROLE {OWNER} LOGIN; CREATE SCHEMA {HOME} AUTHORIZATION {OWNER};
         GRANT CREATE ON DATABASE {database} TO {OWNER}; GRANT CREATE ON SCHEMA public TO {OWNER};
         CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER far FOREIGN DATA WRAPPER nothing; GRANT USAGE ON FOREIGN SERVER far TO {OWNER}"
    ));
    let mut owner = server.connect_as(OWNER, database);
    owner.run(&TRAPS.replace("$mark", MARK));
    for rows in [1, 1_000, 20_000] {
        owner.run(&plain_tables(rows));
        owner.run(&trees(rows));
    }
    owner.run(DRAWN);
}

/// Asserts that the traps spring: on a superuser who plans a query on each kind of relation.
pub fn assert_set(server: &Server, session: &mut Session) {
    let mut count = 0;
    for (statement, words) in [
        ("SELECT * FROM prey.plain_20000 WHERE id = 1", "index"),
        ("SELECT * FROM prey.plain_20000 WHERE id = 1", "predicate"),
        ("SELECT * FROM prey.plain_20000 WHERE id = 1", "statistics"),
        ("SELECT * FROM prey.view_1000 LIMIT 1", "view"),
        (
            "SELECT * FROM prey.parent_1000 WHERE id = 1",
            "check of a child",
        ),
        ("SELECT * FROM prey.key_1000 WHERE id = 1", "partition key"),
        ("SELECT 1::bigint::prey.dom", "domain"),
        ("SELECT (1::bigint)::prey.mood", "cast"),
        ("INSERT INTO prey.plain_1 (n) VALUES (1)", "trigger"),
        ("UPDATE prey.ruled_1 SET n = 1", "rule"),
        ("SELECT 1::bigint OPERATOR(prey.<) 2::bigint", "operator"),
    ] {
        session.run("BEGIN; SET LOCAL constraint_exclusion = on");
        let _ = session.try_run(statement);
        session.run("ROLLBACK");
        let is_sprung = server
            .log()
            .lines()
            .any(|line| line.contains(&format!("{MARK} {words} runs as postgres")));
        assert!(is_sprung, "{statement} sprang no {words}");
        count += 1;
    }
    assert!(count > 10);
}
