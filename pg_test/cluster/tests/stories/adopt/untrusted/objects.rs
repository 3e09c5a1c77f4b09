//! Records that somebody else wrote, and objects that a superuser meets who converts: none of them is run.

use super::super::super::hostile::planted_objects;
use mint_cluster::{Server, Session};

/// What the comment of a converted sequence begins with.
const WORDS: &str = "the sequence that a column drew from before mint.convert(): it has no values until mint.convert_revert(), which reads: ";

/// A superuser reverts what a role without rights has forged. That role stays without rights, and its texts are text.
#[test]
fn forged_records_run_nothing() {
    let server = Server::start("forged records");
    let mut root = server.connect("postgres");
    root.run("CREATE ROLE mallory LOGIN; CREATE ROLE victim LOGIN; CREATE SCHEMA shop; GRANT USAGE, CREATE ON SCHEMA shop TO mallory, victim");
    let mut mallory = server.connect_as("mallory", "postgres");
    let mut victim = server.connect_as("victim", "postgres");
    victim.run("CREATE TABLE shop.theirs (id bigserial PRIMARY KEY); SELECT mint.convert('shop.theirs', 'id', 'snowflake_next_id(5)')");
    mallory.run("CREATE TABLE shop.mine (id bigint PRIMARY KEY); CREATE SEQUENCE shop.s");
    let payloads = [
        "1; ALTER ROLE mallory SUPERUSER",
        "'; ALTER ROLE mallory SUPERUSER; --",
        "\"; ALTER ROLE mallory SUPERUSER; --",
        "$mint0$; ALTER ROLE mallory SUPERUSER; $mint0$",
        "\\'; ALTER ROLE mallory SUPERUSER; --",
    ];
    for payload in payloads {
        for field in [
            "kind", "comment", "bare", "last_value", "is_owned", "more", "schema", "table",
            "column",
        ] {
            let quoted = serde_text(payload);
            let value = if field == "bare" {
                format!("[[{quoted},{quoted}]]")
            } else {
                quoted
            };
            let fields = [
                ("schema", "\"shop\""),
                ("table", "\"mine\""),
                ("column", "\"id\""),
                ("kind", "\"serial\""),
                ("is_owned", "true"),
                ("cycle", "false"),
                ("last_value", "1"),
                ("is_called", "true"),
                ("comment", "null"),
                ("bare", "[]"),
            ];
            let mut texts: Vec<String> = fields
                .iter()
                .map(|(name, plain)| {
                    format!(
                        "\"{name}\":{}",
                        if *name == field {
                            value.as_str()
                        } else {
                            plain
                        }
                    )
                })
                .collect();
            if field == "more" {
                texts.push(format!("\"more\":{value}"));
            }
            let record = format!("{WORDS}{{\"pg_mint_conversion\":1,{}}}", texts.join(","));
            mallory.run("SELECT setval('shop.s', 9223372036854775807)");
            mallory.run(&format!(
                "COMMENT ON SEQUENCE shop.s IS {}",
                literal(&record)
            ));
            root.run("SELECT * FROM mint.conversions");
            let _ = root.try_run("SELECT mint.convert_revert('shop.mine', 'id')");
            let _ = root.try_run("SELECT * FROM mint.convert_plan('shop.mine', 'id', NULL)");
            assert_no_power(&mut root);
            mallory.run(
                "ALTER TABLE shop.mine ALTER id DROP DEFAULT; ALTER SEQUENCE shop.s OWNED BY NONE",
            );
        }
    }
    // A record that is well formed is one of the owner's own sequence, and does what the owner can do.
    mallory.run(&format!("SELECT setval('shop.s', 9223372036854775807); COMMENT ON SEQUENCE shop.s IS
        '{WORDS}{{\"pg_mint_conversion\":1,\"schema\":\"shop\",\"table\":\"mine\",\"column\":\"id\",\"kind\":\"identity always\",\"is_owned\":true,\"cycle\":false,\"last_value\":1,\"is_called\":true,\"comment\":\"x\",\"bare\":[]}}';
        ALTER TABLE shop.mine ALTER id SET NOT NULL"));
    root.run("SELECT mint.convert_revert('shop.mine', 'id')");
    let owner: String =
        root.one("SELECT relowner::regrole::text FROM pg_class WHERE relname = 's'");
    assert_eq!(owner, "mallory");

    // The table of somebody else: neither its revert nor what mint.conversions shows of it follows the forgery.
    mallory.run(&format!("CREATE SEQUENCE shop.other; SELECT setval('shop.other', 9223372036854775807); COMMENT ON SEQUENCE shop.other IS
        '{WORDS}{{\"pg_mint_conversion\":1,\"schema\":\"shop\",\"table\":\"theirs\",\"column\":\"id\",\"kind\":\"serial\",\"is_owned\":false,\"cycle\":false,\"last_value\":1,\"is_called\":true,\"comment\":null,\"bare\":[]}}'"));
    let shown: i64 =
        root.one("SELECT count(*) FROM mint.conversions WHERE sequence = 'shop.other'::regclass");
    assert_eq!(shown, 0);
    root.run("SELECT mint.convert_revert('shop.theirs', 'id')");
    let default: String = root
        .one("SELECT column_default FROM information_schema.columns WHERE table_name = 'theirs'");
    assert_eq!(default, "nextval('shop.theirs_id_seq'::regclass)");
    for call in [
        "convert('shop.theirs', 'id', 'snowflake_next_id(5)')",
        "convert_revert('shop.theirs', 'id')",
    ] {
        let refusal = mallory.refusal(&format!("SELECT mint.{call}"));
        assert_eq!(refusal.code, "42501", "{refusal}");
        assert!(refusal.detail.contains("victim"), "{refusal}");
    }
}

fn serde_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn assert_no_power(root: &mut Session) {
    let power: bool = root.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'");
    assert!(!power);
}

/// A superuser converts the tables of a role that has put functions and operators of every name into the search path, and
/// triggers, rules, policies and functions of indexes on the tables. None of them runs with the rights of the superuser.
#[test]
fn a_superuser_runs_nothing_of_the_owner() {
    let server = Server::start("converted traps");
    let mut root = server.connect("postgres");
    root.run("CREATE ROLE mallory LOGIN; CREATE SCHEMA shop AUTHORIZATION mallory; GRANT CREATE ON DATABASE postgres TO mallory");
    for kind in [
        planted_objects::Kind::Operators,
        planted_objects::Kind::Relations,
    ] {
        planted_objects::set(&mut root, kind, "shop", "mallory", &[]);
    }
    let mut mallory = server.connect_as("mallory", "postgres");
    mallory.run("SET search_path = pg_catalog, shop;
        CREATE FUNCTION shop.power() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
            IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN RAISE WARNING 'TRAP %', current_user; END IF; RETURN 'x'; END $$;
        CREATE FUNCTION shop.nextval(regclass) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM shop.power(); RETURN 1; END $$;
        CREATE FUNCTION shop.setval(regclass, bigint, boolean) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM shop.power(); RETURN 1; END $$;
        CREATE FUNCTION shop.max(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN PERFORM shop.power(); RETURN 1; END $$;
        CREATE FUNCTION shop.trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM shop.power(); RETURN NEW; END $$;
        CREATE DOMAIN shop.key AS bigint CHECK (shop.power() IS NOT NULL);
        CREATE TABLE shop.serial (id bigserial PRIMARY KEY, CHECK (shop.power() IS NOT NULL));
        CREATE INDEX ON shop.serial ((shop.power()), id); CREATE INDEX ON shop.serial (id) WHERE shop.power() IS NOT NULL;
        CREATE TRIGGER t BEFORE INSERT OR UPDATE ON shop.serial FOR EACH ROW EXECUTE FUNCTION shop.trigger();
        CREATE POLICY p ON shop.serial USING (shop.power() IS NOT NULL); ALTER TABLE shop.serial ENABLE ROW LEVEL SECURITY;
        CREATE TABLE shop.always (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
        CREATE TABLE shop.domain (id shop.key PRIMARY KEY);
        INSERT INTO shop.serial DEFAULT VALUES; INSERT INTO shop.always DEFAULT VALUES");
    for path in [
        "shop, public",
        "shop, pg_catalog, public",
        "pg_temp, shop, pg_catalog, public",
    ] {
        root.run(&format!("SET search_path = {path}"));
        for table in ["serial", "always"] {
            for call in [
                format!(
                    "SELECT step FROM mint.convert_plan('shop.{table}', 'id', 'public.snowflake_next_id(5)')"
                ),
                format!("SELECT mint.convert('shop.{table}', 'id', 'public.snowflake_next_id(5)')"),
                "SELECT table_name FROM mint.conversions".to_owned(),
                format!("SELECT mint.convert_revert('shop.{table}', 'id')"),
            ] {
                root.run(&call);
            }
        }
        root.run("SELECT mint.convert('shop.domain', 'id', 'public.snowflake_next_id(5)')");
        root.run("ALTER TABLE shop.domain ALTER COLUMN id DROP DEFAULT");
    }
    root.run("RESET search_path");
    let log = server.log();
    let sprung: Vec<&str> = log
        .lines()
        .filter(|line| line.contains(planted_objects::MARK) && line.contains("WARNING"))
        .collect();
    assert!(sprung.is_empty(), "{sprung:?}");
}

/// Comments, functions and defaults of hundreds of megabytes, of a role that may create temporary objects and one schema:
/// what others call reads none of them.
#[test]
fn what_one_role_writes_stops_no_other() {
    let server = Server::start("huge texts");
    let mut root = server.connect("postgres");
    root.run(
        "CREATE ROLE eve LOGIN; CREATE SCHEMA own AUTHORIZATION eve; CREATE SCHEMA shop;
         CREATE TABLE shop.orders (id bigserial PRIMARY KEY); CREATE TABLE shop.items (id bigserial PRIMARY KEY);
         SELECT mint.convert('shop.items', 'id', 'snowflake_next_id(5)')",
    );
    let mut eve = server.connect_as("eve", "postgres");
    eve.run(
        "CREATE TEMP SEQUENCE temporary; CREATE SEQUENCE own.record; CREATE SEQUENCE own.tag; CREATE SEQUENCE own.source MAXVALUE 2;
         CREATE SEQUENCE own.long",
    );
    let record = format!(
        "{WORDS}{}",
        r#"{"pg_mint_conversion":1,"schema":"shop","table":"items","column":"id","#
    );
    for (sequence, start, megabytes) in [
        ("temporary", record.as_str(), 270),
        ("own.record", &record, 270),
        ("own.long", &record, 1),
        ("own.tag", "Leaf tag: ", 270),
        ("own.source", "segments of {", 270),
    ] {
        eve.run(&format!(
            "DO $$ BEGIN EXECUTE 'COMMENT ON SEQUENCE {sequence} IS ' || quote_literal('{start}' || repeat(' ', {megabytes} * 1024 * 1024)); END $$"
        ));
    }
    for function in ["pg_temp.huge", "own.huge"] {
        eve.run(&format!(
            "DO $$ BEGIN EXECUTE 'CREATE FUNCTION {function}(integer) RETURNS integer LANGUAGE plpgsql AS '
                 || quote_literal('BEGIN RETURN nextval(''orders_id_seq''); END' || repeat(' ', 300 * 1024 * 1024)); END $$"
        ));
    }
    eve.run(
        "DO $$ BEGIN EXECUTE 'CREATE TABLE own.wide (id text PRIMARY KEY DEFAULT ' || quote_literal(repeat('x', 20 * 1024 * 1024)) || ')'; END $$",
    );
    root.run("SET statement_timeout = '20 s'");
    let shown: Vec<String> = root.column("SELECT table_name::text FROM mint.conversions");
    assert_eq!(shown, ["shop.items"]);
    for call in [
        "* FROM mint.convert_plan('shop.orders', 'id', 'snowflake_next_id(5)')",
        "mint.convert('shop.orders', 'id', 'snowflake_next_id(5)')",
        "mint.convert_revert('shop.items', 'id')",
        "* FROM mint.audit('shop.items', 'id')",
        "* FROM mint.inventory()",
        "* FROM mint.leaf_alloc",
        "* FROM mint.segments",
        "* FROM mint.health()",
    ] {
        root.run(&format!("SELECT {call}"));
    }
    let default: Option<String> = root
        .one("SELECT default_value FROM mint.inventory() WHERE relation = 'own.wide'::regclass");
    assert_eq!(default, None);
    let tags: i64 = root.one("SELECT count(*) FROM mint.leaf_alloc");
    assert_eq!(tags, 0);
}
