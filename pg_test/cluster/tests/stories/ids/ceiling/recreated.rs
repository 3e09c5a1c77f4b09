//! Extensions created again in databases that shared memory has no ceiling for, or another one's: moved and copied
//! databases, and new ones on a server whose lanes are ahead.

use mint_cluster::{Server, Session, assert_ascending};

const RECREATE: &str = "DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint";
/// Almost as many ids as the layout has in the two seconds that they can be ahead of the clock.
const FAR: &str = "SELECT snowflake_next_ids(5, 50000, 'sonyflake')";

/// Starts a server with a database that has issued ids ahead of the clock, and returns these.
fn server_ahead(name: &str) -> (Server, Vec<i64>) {
    let server = Server::start(name);
    server.create_database("shop");
    let ids = server.connect("shop").column(FAR);
    (server, ids)
}

/// Runs a statement that the sessions of a database prevent, which end shortly after their connections.
fn run_without_sessions(server: &Server, sql: &str) {
    let mut session = server.connect("postgres");
    server.until(sql, || session.try_run(sql).is_ok());
}

/// Mints until it is not refused: ids ahead of the clock can have to wait.
fn mint_far(server: &Server, database: &str) -> Vec<i64> {
    let mut session = server.connect(database);
    server.until_minted(|| session.try_column(FAR))
}

/// The files of a moved database look like those of another one. After the restart only the page knows what was issued.
#[test]
fn a_moved_database_remembers() {
    let (server, mut all) = server_ahead("moved");
    let space = server.folder("elsewhere");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLESPACE elsewhere LOCATION '{space}'"));
    run_without_sessions(&server, "ALTER DATABASE shop SET TABLESPACE elsewhere");
    server.connect("shop").run(RECREATE);
    drop(session);
    server.stop_fast();
    server.start_again();
    all.extend(mint_far(&server, "shop"));
    assert_ascending(&all);
}

/// Rows of a copy have ids that only the template's sessions have issued. The clock does not say how far ahead they are.
#[test]
fn a_copied_database_remembers_its_template() {
    let server = Server::start_with_clock("copied, with the clock back");
    server.create_database("shop");
    let mut all: Vec<i64> = server.connect("shop").column(FAR);
    run_without_sessions(&server, "CREATE DATABASE branch TEMPLATE shop");
    server.set_clock("-3");
    server.connect("branch").run(RECREATE);
    server.lose_power();
    all.extend(mint_far(&server, "branch"));
    assert_ascending(&all);
}

/// An event trigger generates ids as soon as there is a ceiling.
#[test]
fn an_event_trigger_does_not_begin_the_ceiling() {
    let (server, mut all) = server_ahead("copied, with an event trigger");
    run_without_sessions(&server, "CREATE DATABASE branch TEMPLATE shop");
    let mut session = server.connect("branch");
    session.run(
        "CREATE TABLE audit (id bigint); CREATE FUNCTION audit() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
             IF to_regclass('mint.time_ceiling') IS NOT NULL THEN INSERT INTO public.audit SELECT public.snowflake_next_id(900); END IF; END $$;
         DROP EXTENSION pg_mint; CREATE EVENT TRIGGER audit ON ddl_command_end EXECUTE FUNCTION audit()",
    );
    session.run("CREATE EXTENSION pg_mint");
    session.run("DROP EVENT TRIGGER audit");
    assert!(session.one::<i64>("SELECT count(*) FROM audit") > 0);
    drop(session);
    server.lose_power();
    all.extend(mint_far(&server, "branch"));
    assert_ascending(&all);
}

/// After a restart only the dropped ceiling knew what was issued, so it is handed on as the guide to upgrades says.
#[test]
fn a_kept_ceiling_covers_ids_from_before_a_restart() {
    let (server, mut all) = server_ahead("kept");
    server.restart();
    let mut session = server.connect("shop");
    let old: i64 = session.one("SELECT last_value FROM mint.time_ceiling");
    session.run(&format!(
        "BEGIN; {RECREATE}; SELECT setval('mint.time_ceiling', {old}); COMMIT"
    ));
    drop(session);
    server.restart();
    all.extend(mint_far(&server, "shop"));
    assert_ascending(&all);
}

/// A lane that was moved to the end of what a superuser may, or by a wrong clock, does not hold back other databases.
#[test]
fn a_new_extension_mints_at_once_whatever_the_lanes() {
    let server = Server::start_with_clock("lanes far ahead");
    let mut session = server.connect("postgres");
    let later = |by: &str| format!("snowflake_encode(now() + interval '{by}', 7, 0)");
    session.run(&format!(
        "SELECT snowflake_start_above({})",
        later("50 min")
    ));
    assert_new_extension_mints(&server, "neighbor");

    server.set_clock("+1y");
    session.run("SELECT mint.accept_clock(); SELECT snowflake_next_id(7)");
    server.set_clock("+0");
    assert_new_extension_mints(&server, "visitor");
}

fn assert_new_extension_mints(server: &Server, database: &str) {
    server.create_database(database);
    let mut session: Session = server.connect(database);
    let ahead: bool = session
        .one("SELECT snowflake_time(snowflake_next_id(8)) > clock_timestamp() + interval '3 s'");
    assert!(!ahead, "{database}");
}
