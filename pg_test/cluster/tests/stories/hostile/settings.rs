//! Functions of a table's owner that change the settings of the session that looks at the table.

use mint_cluster::Server;

/// The owner's functions run while the server plans a query on the table: an index has a condition that it computes.
const TRAP: &str = "CREATE SCHEMA x;
    CREATE FUNCTION x.trap(bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
        IF session_user <> 'mal' THEN
            PERFORM set_config('search_path', 'x, pg_catalog', false), set_config('lock_timeout', '7', false),
                set_config('check_function_bodies', 'off', true);
        END IF;
        RETURN true;
    END $$;
    CREATE TABLE x.plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int);
    CREATE TABLE x.parts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int) PARTITION BY RANGE (id);
    CREATE TABLE x.part PARTITION OF x.parts FOR VALUES FROM (0) TO (10000000);
    INSERT INTO x.plain SELECT FROM generate_series(1, 100);
    INSERT INTO x.parts SELECT FROM generate_series(1, 100);
    CREATE INDEX ON x.plain (id) WHERE x.trap(1);
    CREATE INDEX ON x.parts (id) WHERE x.trap(1);
    CREATE TABLE x.serial (id bigserial PRIMARY KEY, v int CHECK (x.trap(2)));
    INSERT INTO x.serial (v) SELECT 1 FROM generate_series(1, 100);
    CREATE INDEX ON x.serial ((id + x.trap(1)::int));";

#[test]
fn a_function_of_an_owner_changes_no_setting_of_the_session() {
    let server = Server::start("settings");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE mal LOGIN; GRANT CREATE ON DATABASE postgres TO mal");
    session.run(&format!(
        "SET SESSION AUTHORIZATION mal; {TRAP}; RESET SESSION AUTHORIZATION"
    ));
    session.run("SELECT snowflake_next_id(5)");
    let settings =
        "SELECT md5(string_agg(name || '=' || setting, ' ' ORDER BY name)) FROM pg_settings";
    for table in ["plain", "parts", "serial"] {
        for call in [
            format!(
                "SELECT count(*) FROM mint.convert_plan('x.{table}', 'id', 'snowflake_next_id(5)')"
            ),
            format!("SELECT count(*) FROM mint.audit('x.{table}', 'id')"),
            format!("SELECT mint.convert('x.{table}', 'id', 'snowflake_next_id(5)')"),
            "SELECT count(*) FROM mint.inventory()".to_owned(),
            format!("SELECT mint.convert_revert('x.{table}', 'id')"),
        ] {
            let before: String = session.one(settings);
            let _ = session.try_run(&call);
            let after: String = session.one(settings);
            assert_eq!(before, after, "{call}");
            assert_eq!(
                session.one::<String>("SHOW search_path"),
                "\"$user\", public",
                "{call}"
            );
        }
    }
}
